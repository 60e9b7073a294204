//! What a caller may do. Only this room makes `Authorized*` values, and only from a [`Policy`].

pub mod policy;
pub mod variables;

pub use policy::{Action, FieldSet, Grant, Policy, Rule};
pub use variables::Variables;
