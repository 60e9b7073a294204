//! Updating items.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Map, Value};

use super::{
    Written, collection,
    create::Writing,
    events::{Change, ItemEvent},
    history, hooks, nested,
};
use crate::{
    access::{
        self,
        write::{AuthorizedUpdate, distinct},
    },
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    payload::special,
    plan,
    schema::Collection,
    system,
};

/// One payload and the rows it goes to.
pub(super) type Edit = (Vec<Key>, Map<String, Value>);

/// Writes one payload to many items in one transaction; gives the distinct keys in their order.
///
/// # Errors
/// As `create`; `FORBIDDEN` when any key is missing or not permitted.
pub async fn update(ctx: &Ctx<'_>, name: &str, keys: &[Key], payload: Map<String, Value>) -> Result<Vec<Key>> {
    let collection = collection(ctx, name)?;
    write(ctx, &collection, vec![(keys.to_vec(), payload)]).await
}

/// Writes to each item its own payload (each holds its primary key) in one transaction.
///
/// # Errors
/// As [`update`]; `INVALID_PAYLOAD` when a payload lacks its key.
pub async fn update_each(ctx: &Ctx<'_>, name: &str, payloads: Vec<Map<String, Value>>) -> Result<Vec<Key>> {
    let collection = collection(ctx, name)?;
    let primary = collection.primary_field();
    let edit = |payload: Map<String, Value>| match payload.get(&*collection.primary) {
        None | Some(Value::Null) => {
            Err(Error::invalid_payload(format!("Every element needs its \"{}\".", collection.primary)))
        }
        // No row can have such a key.
        Some(value) => Key::parse(primary, value).map(|key| (vec![key], payload)).ok_or_else(Error::forbidden),
    };
    let edits = payloads.into_iter().map(edit).collect::<Result<Vec<_>>>()?;
    write(ctx, &collection, edits).await
}

async fn write(ctx: &Ctx<'_>, collection: &Arc<Collection>, edits: Vec<Edit>) -> Result<Vec<Key>> {
    nested::bound(ctx, collection, edits.iter().map(|(keys, payload)| (keys.len(), payload)))?;
    let work = ctx.begin().await?;
    let inner = work.ctx(ctx);
    let written = update_rows(&inner, collection, edits).await?;
    work.commit(ctx.engine).await?;
    Ok(written.keys)
}

/// Updates rows within the running transaction. The revisions come per edit.
pub(super) fn update_rows<'a>(ctx: &'a Ctx<'_>, collection: &'a Arc<Collection>, edits: Vec<Edit>) -> Writing<'a> {
    Box::pin(async move {
        nested::charge(ctx, edits.iter().map(|(keys, _)| keys.len()).sum())?;
        let edits = hooks::update(ctx, &collection.name, edits).await?;
        let mut writes = access::write::update(ctx, collection, edits).await?;
        let step = if system::is_sequential(collection) { 1 } else { writes.len() };
        let mut entries = Vec::with_capacity(writes.len());
        for writes in writes.chunks_mut(step.max(1)) {
            write_changes(ctx, collection, writes, &mut entries).await?;
        }
        let keys = distinct(entries.iter().filter_map(|entry: &history::Entry| entry.key.clone()).collect());
        // A row that two edits name has what the last one wrote.
        let last: HashMap<&Key, &Map<String, Value>> =
            entries.iter().filter_map(|entry| Some((entry.key.as_ref()?, entry.delta()))).collect();
        let payloads = hooks::payloads(ctx, &collection.name, keys.iter().filter_map(|key| last.get(key).copied()));
        let mut recorded = history::record(ctx, collection, Change::Update, entries).await?.into_iter();
        let revisions =
            writes.iter().map(|write| recorded.by_ref().take(write.keys().len()).flatten().collect()).collect();
        if !keys.is_empty() {
            let name = Arc::clone(&collection.name);
            ctx.emit_with(ItemEvent { collection: name, change: Change::Update, keys: keys.clone() }, payloads);
        }
        Ok(Written { keys, revisions })
    })
}

/// Writes changes and what is nested in them; adds an entry for each row.
async fn write_changes(
    ctx: &Ctx<'_>,
    collection: &Arc<Collection>,
    writes: &mut [AuthorizedUpdate],
    entries: &mut Vec<history::Entry>,
) -> Result<()> {
    let mut lists = Vec::with_capacity(writes.len());
    for write in writes.iter_mut() {
        let keys = write.keys().to_vec();
        if keys.is_empty() {
            // No row, so nothing nested either.
            write.payload_mut().clear();
        } else {
            system::before_update(ctx, collection, &keys, write.payload_mut()).await?;
        }
        lists.push(nested::take_lists(collection, write.payload_mut()));
    }
    let mut of_objects = vec![Vec::new(); writes.len()];
    let rows = writes.iter_mut().map(AuthorizedUpdate::payload_mut).collect();
    nested::link_objects(ctx, collection, rows, &mut of_objects).await?;
    special::on_update(ctx, collection, writes.iter_mut().map(AuthorizedUpdate::payload_mut)).await?;
    plan::write::update(ctx.conn, writes).await?;

    let parents: Vec<_> = writes
        .iter()
        .zip(&lists)
        .flat_map(|(write, lists)| write.keys().iter().map(move |key| nested::Parent { key, lists }))
        .collect();
    let mut of_lists = vec![Vec::new(); parents.len()];
    nested::write_lists(ctx, collection, parents, nested::Stage::Existing, &mut of_lists).await?;
    system::after_update(ctx, collection, writes).await?;
    let mut of_lists = of_lists.into_iter();
    for (write, mut of_objects) in writes.iter().zip(of_objects) {
        if write.keys().is_empty() {
            continue;
        }
        // Rows of one payload share its objects; their revisions belong to the first.
        for (key, mut children) in write.keys().iter().zip(of_lists.by_ref()) {
            children.append(&mut of_objects);
            entries.push(history::Entry::updated(key, write.payload(), children));
        }
    }
    Ok(())
}
