//! The system collections that have rules of their own, one file each. Called by `items`, so the
//! rules hold on every door. They run after the permission check and the validation, inside the
//! transaction, and before special fields are filled in.

mod admins;
pub mod collections;
pub mod fields;
pub mod flows;
mod metadata;
mod minimum;
mod operations;
mod permissions;
pub mod relations;
mod role_key;
mod roles;
mod users;

pub use users::track_page;

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{
    access::write::AuthorizedUpdate, context::Ctx, error::Result, ident::Key, query::Query, schema::Collection,
};

/// Completes a payload before validation asks for required values; needs no database.
pub fn complete(collection: &Collection, payload: &mut Map<String, Value>) {
    if &*collection.name == "directus_permissions" {
        permissions::complete(payload);
    }
}

/// Whether a required field is derived by the collection's own rule when it is absent.
#[must_use]
pub fn derives(collection: &Collection, field: &str) -> bool {
    &*collection.name == "directus_roles" && field == "key"
}

/// Whether changes of this collection have to be written one after the other, since its rules compare
/// each with what is stored.
#[must_use]
pub fn is_sequential(collection: &Collection) -> bool {
    matches!(&*collection.name, "directus_users" | "directus_roles")
}

/// Rows that a list of a collection has beside those of its table.
///
/// # Errors
/// What the rule of the collection says.
pub async fn further_rows(ctx: &Ctx<'_>, collection: &Collection, query: &Query) -> Result<Vec<Value>> {
    match &*collection.name {
        "directus_permissions" => minimum::rows(ctx, query).await,
        _ => Ok(Vec::new()),
    }
}

/// May refuse or complete rows that are about to be created.
///
/// # Errors
/// What the rule of the collection says.
pub async fn before_create(ctx: &Ctx<'_>, collection: &Collection, payloads: &mut [Map<String, Value>]) -> Result<()> {
    match &*collection.name {
        "directus_users" => users::before_create(ctx, payloads).await,
        "directus_roles" => roles::before_create(ctx, payloads).await,
        "directus_permissions" => {
            payloads.iter_mut().try_for_each(|payload| permissions::check(payload, &ctx.engine.settings.limits))
        }
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
    match &*collection.name {
        "directus_users" => users::before_update(ctx, keys, payload).await,
        "directus_roles" => roles::before_update(ctx, keys, payload).await,
        "directus_permissions" => permissions::check(payload, &ctx.engine.settings.limits),
        _ => Ok(()),
    }
}

/// Runs when new rows stand in the database.
///
/// # Errors
/// What the rule of the collection says.
pub async fn after_create(
    ctx: &Ctx<'_>,
    collection: &Collection,
    keys: &[Key],
    rows: &[Map<String, Value>],
) -> Result<()> {
    match &*collection.name {
        "directus_flows" => flows::after_create(ctx, keys, rows).await,
        _ => Ok(()),
    }
}

/// Runs when the changes stand in the database.
///
/// # Errors
/// What the rule of the collection says.
pub async fn after_update(ctx: &Ctx<'_>, collection: &Collection, writes: &[AuthorizedUpdate]) -> Result<()> {
    match &*collection.name {
        "directus_users" => {
            for write in writes {
                users::after_update(ctx, write.payload()).await?;
            }
            Ok(())
        }
        "directus_roles" => {
            for write in writes {
                roles::after_update(ctx, write.payload()).await?;
            }
            Ok(())
        }
        "directus_flows" => flows::after_update(ctx, writes).await,
        _ => Ok(()),
    }
}

/// May refuse a deletion, or delete what hangs on the rows.
///
/// # Errors
/// What the rule of the collection says.
pub async fn before_delete(ctx: &Ctx<'_>, collection: &Collection, keys: &[Key]) -> Result<()> {
    match &*collection.name {
        "directus_users" => users::before_delete(ctx, keys).await,
        "directus_roles" => roles::before_delete(ctx, keys).await,
        "directus_flows" => flows::before_delete(ctx, keys).await,
        "directus_operations" => operations::before_delete(ctx, keys).await,
        _ => Ok(()),
    }
}

/// The uuid of a key of users, roles, flows and operations.
fn uuid_key(key: &Key) -> Option<Uuid> {
    match key {
        Key::Uuid(id) => Some(*id),
        Key::Int(_) | Key::Text(_) => None,
    }
}
