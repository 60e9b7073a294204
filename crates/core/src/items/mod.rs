//! The one road: every door reads and writes items here. One verb per file, same spine: resolve
//! the collection, authorise, plan, run, shape.

pub mod create;
pub mod delete;
pub mod events;
pub mod export;
mod history;
pub mod hooks;
mod json;
mod nested;
pub mod read;
#[cfg(test)]
mod road_tests;
mod singleton;
pub mod update;
#[cfg(test)]
mod write_tests;

use std::sync::Arc;

pub use create::create;
pub use delete::delete;
pub use export::export;
pub use json::Json;
pub use read::{read, read_keys, read_one, read_written};
pub use singleton::upsert_singleton;
pub use update::{update, update_each};

use crate::{
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    schema::Collection,
};

/// What one write did.
#[derive(Debug, Default)]
struct Written {
    /// In the order of the payloads.
    keys: Vec<Key>,
    /// For each payload the keys of the revisions of its rows, of those that got one.
    revisions: Vec<Vec<Key>>,
}

/// A collection by name; an unknown one is as forbidden as one without rights.
fn collection(ctx: &Ctx<'_>, name: &str) -> Result<Arc<Collection>> {
    ctx.schema.collection(name).cloned().ok_or_else(Error::forbidden)
}
