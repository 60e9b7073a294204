//! SQLite changes tables by building them anew.

mod clause;
mod definition;
mod rebuild;
mod token;

pub(super) use definition::Edit;
pub(super) use rebuild::{indexes, rebuild};

#[cfg(test)]
pub(super) use definition::Definition;
