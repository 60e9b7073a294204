//! The one road: every door reads and writes items here. One verb per file, same spine: resolve
//! the collection, authorise, plan, run, shape.

pub mod create;
pub mod delete;
pub mod events;
pub mod read;
pub mod update;

pub use create::create;
pub use delete::delete;
pub use read::{read, read_keys, read_one};
pub use update::{update, update_each};
