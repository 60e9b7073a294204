//! From authorised values to SQL. Accepts nothing else.

mod aggregate;
mod condition;
pub(crate) mod dialect;
mod per_parent;
pub(crate) mod select;
pub(crate) mod write;
