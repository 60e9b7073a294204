//! Deleting items.

use std::sync::Arc;

use super::{
    collection,
    events::{Change, ItemEvent},
    history, hooks, nested,
};
use crate::{access, context::Ctx, error::Result, ident::Key, plan, schema::Collection, system};

/// Deletes items in one transaction.
///
/// # Errors
/// `FORBIDDEN` when any key is not permitted (for admins missing keys are no error),
/// `RECORD_STILL_REFERENCED`; nothing is deleted then.
pub async fn delete(ctx: &Ctx<'_>, name: &str, keys: &[Key]) -> Result<()> {
    let collection = collection(ctx, name)?;
    nested::bound_rows(ctx, keys.len())?;
    let work = ctx.begin().await?;
    let inner = work.ctx(ctx);
    delete_rows(&inner, &collection, keys.to_vec()).await?;
    work.commit(ctx.engine).await
}

/// Deletes rows within the running transaction.
pub(super) async fn delete_rows(ctx: &Ctx<'_>, collection: &Arc<Collection>, keys: Vec<Key>) -> Result<()> {
    let write = access::write::delete(ctx, collection, keys).await?;
    let keys = write.keys();
    if keys.is_empty() {
        return Ok(());
    }
    nested::charge(ctx, keys.len())?;
    hooks::delete(ctx, &collection.name, keys).await?;
    system::before_delete(ctx, collection, keys).await?;
    plan::write::delete(ctx.conn, &write).await?;
    let entries = keys.iter().map(history::Entry::deleted).collect();
    history::record(ctx, collection, Change::Delete, entries).await?;
    ctx.emit(ItemEvent { collection: Arc::clone(&collection.name), change: Change::Delete, keys: keys.to_vec() });
    Ok(())
}
