//! `/relations`: foreign keys and the metadata that makes fields relational.

mod read;
mod write;

pub use read::{list, list_of, one};
pub use write::{create, delete, update};
