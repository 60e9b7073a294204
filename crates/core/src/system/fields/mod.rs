//! `/fields`: columns and alias fields with their metadata. Columns are made by `schema::alter`.

mod create;
mod delete;
pub(super) mod input;
mod read;
mod update;

pub use create::create;
pub(super) use create::write_meta;
pub use delete::delete;
pub(super) use delete::drop_from;
pub use read::{list, list_of, one};
pub use update::{update, update_many};
