//! Creating items.

use std::{pin::Pin, sync::Arc};

use serde_json::{Map, Value};

use super::{
    Written, collection,
    events::{Change, ItemEvent},
    history, hooks, nested,
};
use crate::{access, context::Ctx, error::Result, ident::Key, payload::special, plan, schema::Collection, system};

/// Creates items in one transaction; gives their keys in the order of the payloads.
///
/// # Errors
/// `FORBIDDEN`, `FAILED_VALIDATION`, `INVALID_PAYLOAD` and the constraint codes; nothing is written then.
pub async fn create(ctx: &Ctx<'_>, name: &str, payloads: Vec<Map<String, Value>>) -> Result<Vec<Key>> {
    let collection = collection(ctx, name)?;
    nested::bound(ctx, &collection, payloads.iter().map(|payload| (1, payload)))?;
    let work = ctx.begin().await?;
    let inner = work.ctx(ctx);
    let written = create_rows(&inner, &collection, payloads).await?;
    work.commit(ctx.engine).await?;
    Ok(written.keys)
}

/// A boxed future: nested rows lead back here.
pub(super) type Writing<'a> = Pin<Box<dyn Future<Output = Result<Written>> + Send + 'a>>;

/// Creates rows within the running transaction.
pub(super) fn create_rows<'a>(
    ctx: &'a Ctx<'_>,
    collection: &'a Arc<Collection>,
    payloads: Vec<Map<String, Value>>,
) -> Writing<'a> {
    Box::pin(async move {
        nested::charge(ctx, payloads.len())?;
        let payloads = hooks::create(ctx, &collection.name, payloads).await?;
        let mut write = access::write::create(ctx, collection, payloads).await?;
        if write.rows().is_empty() {
            return Ok(Written::default());
        }
        system::before_create(ctx, collection, write.rows_mut()).await?;
        let mut entries: Vec<history::Entry> = write.rows().iter().map(history::Entry::created).collect();
        let lists: Vec<_> = write.rows_mut().iter_mut().map(|row| nested::take_lists(collection, row)).collect();
        let mut children = vec![Vec::new(); entries.len()];
        nested::link_objects(ctx, collection, write.rows_mut().iter_mut().collect(), &mut children).await?;
        special::on_create(ctx, collection, write.rows_mut()).await?;
        let keys = plan::write::insert(ctx.conn, &write).await?;
        system::after_create(ctx, collection, &keys, write.rows()).await?;
        let parents = keys.iter().zip(&lists).map(|(key, lists)| nested::Parent { key, lists }).collect();
        nested::write_lists(ctx, collection, parents, nested::Stage::New, &mut children).await?;
        for (((key, row), children), entry) in keys.iter().zip(write.rows()).zip(children).zip(&mut entries) {
            entry.is_row(key, row);
            entry.children = children;
        }
        let revisions = history::record(ctx, collection, Change::Create, entries).await?;
        let event = ItemEvent { collection: Arc::clone(&collection.name), change: Change::Create, keys: keys.clone() };
        ctx.emit_with(event, hooks::payloads(ctx, &collection.name, write.rows().iter()));
        Ok(Written { keys, revisions: revisions.into_iter().map(|key| key.into_iter().collect()).collect() })
    })
}
