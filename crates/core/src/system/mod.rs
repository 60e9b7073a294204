//! The system collections that have rules of their own, one file each. Called by `items`, so the
//! rules hold on every door. They run after the permission check and the validation, inside the
//! transaction, and before special fields are filled in.

pub mod collections;
pub mod fields;
mod metadata;
pub mod relations;

use serde_json::{Map, Value};

use crate::{context::Ctx, error::Result, ident::Key, schema::Collection};

/// May refuse or complete rows that are about to be created.
///
/// # Errors
/// What the rule of the collection says.
pub async fn before_create(ctx: &Ctx<'_>, collection: &Collection, payloads: &mut [Map<String, Value>]) -> Result<()> {
    let _ = (ctx, payloads);
    match &*collection.name {
        _ => Ok(()),
    }
}

/// Runs when the rows stand in the database; `payloads` as they were written, in the order of `keys`.
///
/// # Errors
/// What the rule of the collection says.
pub async fn after_create(
    ctx: &Ctx<'_>,
    collection: &Collection,
    keys: &[Key],
    payloads: &[Map<String, Value>],
) -> Result<()> {
    let _ = (ctx, keys, payloads);
    match &*collection.name {
        _ => Ok(()),
    }
}

/// May refuse or complete a change that is about to be written to these rows.
///
/// # Errors
/// What the rule of the collection says.
pub async fn before_update(
    ctx: &Ctx<'_>,
    collection: &Collection,
    keys: &[Key],
    payload: &mut Map<String, Value>,
) -> Result<()> {
    let _ = (ctx, keys, payload);
    match &*collection.name {
        _ => Ok(()),
    }
}

/// Runs when the change stands in the database.
///
/// # Errors
/// What the rule of the collection says.
pub async fn after_update(
    ctx: &Ctx<'_>,
    collection: &Collection,
    keys: &[Key],
    payload: &Map<String, Value>,
) -> Result<()> {
    let _ = (ctx, keys, payload);
    match &*collection.name {
        _ => Ok(()),
    }
}

/// May refuse a deletion, or delete what hangs on the rows.
///
/// # Errors
/// What the rule of the collection says.
pub async fn before_delete(ctx: &Ctx<'_>, collection: &Collection, keys: &[Key]) -> Result<()> {
    let _ = (ctx, keys);
    match &*collection.name {
        _ => Ok(()),
    }
}

/// Runs when the rows are gone.
///
/// # Errors
/// What the rule of the collection says.
pub async fn after_delete(ctx: &Ctx<'_>, collection: &Collection, keys: &[Key]) -> Result<()> {
    let _ = (ctx, keys);
    match &*collection.name {
        _ => Ok(()),
    }
}
