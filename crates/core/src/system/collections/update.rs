//! Changing the metadata of collections and folders. Tables stay as they are.

use serde_json::{Map, Value};

use super::create::check_group;
use crate::{
    context::Ctx,
    error::{Error, Result},
    schema::alter::Change,
    store::Executor,
    system::{
        fields::input::{object, text},
        metadata::{self, COLLECTIONS},
    },
};

/// Changes one collection's `meta`; without `meta` nothing happens. Gives it as [`super::one`] does.
///
/// # Errors
/// `FORBIDDEN` for all but admins and for what isn't there; `INVALID_PAYLOAD`.
pub async fn update(ctx: &Ctx<'_>, name: &str, body: &Map<String, Value>) -> Result<Value> {
    metadata::require_admin(ctx)?;
    // Tells whether it is there.
    super::one(ctx, name).await?;
    let fresh = apply(ctx, &[(name, body)]).await?;
    super::one(&fresh, name).await
}

/// Changes several at once, all or none; each names itself in `collection`.
///
/// # Errors
/// As [`update`].
pub async fn update_many(ctx: &Ctx<'_>, bodies: &[Value]) -> Result<Vec<Value>> {
    metadata::require_admin(ctx)?;
    let mut changes = Vec::new();
    for body in bodies {
        let body = body.as_object().ok_or_else(|| Error::invalid_payload("A collection has to be an object."))?;
        let name = text(body, "collection")?.ok_or_else(|| Error::invalid_payload("\"collection\" is required."))?;
        super::one(ctx, name).await?;
        changes.push((name, body));
    }
    let fresh = apply(ctx, &changes).await?;
    let mut shown = Vec::new();
    for (name, _) in changes {
        shown.push(super::one(&fresh, name).await?);
    }
    Ok(shown)
}

async fn apply<'a>(ctx: &Ctx<'a>, changes: &[(&str, &Map<String, Value>)]) -> Result<Ctx<'a>> {
    let change = Change::begin(&ctx.engine.db).await?;
    let outcome = write(change.rows(), changes).await;
    change.finish(outcome).await?;
    metadata::refreshed(ctx).await
}

async fn write(rows: Executor<'_>, changes: &[(&str, &Map<String, Value>)]) -> Result<()> {
    for (name, body) in changes {
        let Some(meta) = object(body, "meta")? else { continue };
        check_group(rows, name, meta).await?;
        let assignments = COLLECTIONS.assignments(rows.dialect(), meta)?;
        metadata::upsert(rows, &COLLECTIONS, &[("collection", name)], assignments).await?;
    }
    Ok(())
}
