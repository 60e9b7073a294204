//! `/collections`: tables and folders with their metadata. Tables are made by `schema::alter`.

mod create;
mod delete;
mod read;
mod update;

pub use create::create;
pub use delete::delete;
pub use read::{list, one, some};
pub use update::{update, update_many};
