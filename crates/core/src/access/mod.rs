//! What a caller may do. Only this room makes `Authorized*` values, and only from a [`Policy`].

mod aggregate;
mod app_access;
mod condition;
mod operators;
mod order;
pub mod policy;
pub mod read;
mod related;
pub(crate) mod resolved;
mod resolver;
pub mod rows;
mod search;
mod selection;
mod share;
pub mod variables;
pub mod write;

pub(crate) use app_access::minimum;
pub use policy::{Action, FieldSet, Grant, Policy, Rule};
pub use resolved::AuthorizedQuery;
pub use rows::StoredRule;
pub use variables::Variables;
