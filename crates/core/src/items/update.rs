//! Updating items.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    Written, collection,
    create::Writing,
    events::{Change, ItemEvent},
    history, hooks, nested,
};
use crate::{
    access::{self, write::distinct},
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

/// Updates rows within the running transaction.
pub(super) fn update_rows<'a>(ctx: &'a Ctx<'_>, collection: &'a Arc<Collection>, edits: Vec<Edit>) -> Writing<'a> {
    Box::pin(async move {
        let edits = hooks::update(ctx, &collection.name, edits).await?;
        let mut entries = Vec::new();
        for mut write in access::write::update(ctx, collection, edits).await? {
            if write.keys().is_empty() {
                continue;
            }
            let keys = write.keys().to_vec();
            system::before_update(ctx, collection, &keys, write.payload_mut()).await?;
            let lists = nested::take_lists(collection, write.payload_mut());
            let mut children = Vec::new();
            nested::link_objects(ctx, collection, write.payload_mut(), &mut children).await?;
            special::on_update(ctx, collection, write.payload_mut()).await?;
            plan::write::update(ctx.conn, &write).await?;
            for key in &keys {
                for list in &lists {
                    list.write(ctx, key, nested::Parent::Existing, &mut children).await?;
                }
            }
            system::after_update(ctx, collection, &keys, write.payload()).await?;
            // Rows of one payload share its nested rows; their revisions belong to the first.
            for key in &keys {
                entries.push(history::Entry::updated(key, write.payload(), std::mem::take(&mut children)));
            }
        }
        let keys = distinct(entries.iter().filter_map(|entry: &history::Entry| entry.key.clone()).collect());
        // A row that two edits name has what the last one wrote.
        let last = |key: &Key| entries.iter().rfind(|entry| entry.key.as_ref() == Some(key)).map(history::Entry::delta);
        let payloads = hooks::payloads(ctx, &collection.name, keys.iter().filter_map(last));
        let revisions = history::record(ctx, collection, Change::Update, entries).await?;
        if !keys.is_empty() {
            let name = Arc::clone(&collection.name);
            ctx.emit_with(ItemEvent { collection: name, change: Change::Update, keys: keys.clone() }, payloads);
        }
        Ok(Written { keys, revisions })
    })
}
