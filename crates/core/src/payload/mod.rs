//! What is written: values checked against field types, special fields, validation rules.
//!
//! Order on a write: rights → presets → validation → rules of system collections → nested rows →
//! special fields → types → statement.

pub mod special;
pub mod typed;
pub mod validate;

/// What a concealed value is shown as; never written as a value.
pub const MASK: &str = "**********";
