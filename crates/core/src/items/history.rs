//! Activity and revisions of writes. The server's own writes leave none; a collection may keep
//! activity only, or nothing. Concealed values are kept as their mask.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Map, Value};

use super::events::Change;
use crate::{
    access,
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    payload::{MASK, special},
    plan,
    query::Query,
    schema::{Accountability, Collection, FieldType, Schema, Side, Special},
};

/// One row's part in a write.
#[derive(Debug)]
pub(super) struct Entry {
    /// Known once the row is written.
    pub key: Option<Key>,
    /// What was written: on create the payload, on update the columns.
    delta: Map<String, Value>,
    /// Revisions of rows written along with this one.
    pub children: Vec<Key>,
}

impl Entry {
    /// A row that is about to be created from this payload.
    pub fn created(payload: &Map<String, Value>) -> Self {
        Self { key: None, delta: payload.clone(), children: Vec::new() }
    }

    /// The row stands: what was asked for is shown as it was written (links as keys, secrets hashed).
    pub fn is_row(&mut self, key: &Key, row: &Map<String, Value>) {
        self.key = Some(key.clone());
        for (name, value) in &mut self.delta {
            if let Some(written) = row.get(name) {
                value.clone_from(written);
            }
        }
    }

    pub fn updated(key: &Key, payload: &Map<String, Value>, children: Vec<Key>) -> Self {
        Self { key: Some(key.clone()), delta: payload.clone(), children }
    }

    /// What was written.
    pub fn delta(&self) -> &Map<String, Value> {
        &self.delta
    }

    pub fn deleted(key: &Key) -> Self {
        Self { key: Some(key.clone()), delta: Map::new(), children: Vec::new() }
    }
}

/// Writes activity and revisions; gives for each entry the key of its revision, if it got one.
///
/// # Errors
/// When they can't be written; the whole write fails then.
pub(super) async fn record(
    ctx: &Ctx<'_>,
    collection: &Collection,
    change: Change,
    entries: Vec<Entry>,
) -> Result<Vec<Option<Key>>> {
    let none = vec![None; entries.len()];
    if entries.is_empty() || ctx.actor.is_system() || collection.accountability == Accountability::None {
        return Ok(none);
    }
    let recorder = ctx.elevated();
    let activity = activities(ctx, &recorder, collection, change, &entries).await?;
    if change == Change::Delete || collection.accountability != Accountability::All {
        return Ok(none);
    }
    let rows = match change {
        Change::Update => stored(&recorder, collection, &entries).await?,
        _ => HashMap::new(),
    };
    let mut revisions = Vec::with_capacity(entries.len());
    let mut children = Vec::new();
    let mut recorded = none;
    let mut places = Vec::with_capacity(entries.len());
    for ((entry, activity), place) in entries.into_iter().zip(activity).zip(&mut recorded) {
        if change == Change::Update && entry.delta.is_empty() {
            continue;
        }
        places.push(place);
        let delta = presentable(&ctx.schema, collection, entry.delta, Depth::Row);
        let key = entry.key.as_ref();
        let data = key.and_then(|key| rows.get(key)).unwrap_or(&delta).clone();
        revisions.push(Map::from_iter([
            ("activity".to_owned(), activity),
            ("collection".to_owned(), (*collection.name).into()),
            ("item".to_owned(), key.map_or(Value::Null, |key| key.to_string().into())),
            ("data".to_owned(), Value::Object(data)),
            ("delta".to_owned(), Value::Object(delta)),
        ]));
        children.push(entry.children);
    }
    let keys = insert(&recorder, "directus_revisions", revisions).await?;
    adopt(&recorder, &keys, children).await?;
    for (place, key) in places.into_iter().zip(keys) {
        *place = Some(key);
    }
    Ok(recorded)
}

/// One activity row per entry; gives their keys as JSON.
async fn activities(
    ctx: &Ctx<'_>,
    recorder: &Ctx<'_>,
    collection: &Collection,
    change: Change,
    entries: &[Entry],
) -> Result<Vec<Value>> {
    let action = match change {
        Change::Create => "create",
        Change::Update => "update",
        Change::Delete => "delete",
    };
    let text = |text: Option<String>| text.map_or(Value::Null, Value::String);
    let origin = &ctx.actor.origin;
    let common = Map::from_iter([
        ("action".to_owned(), action.into()),
        ("user".to_owned(), text(ctx.actor.user_id().map(|id| id.to_string()))),
        ("ip".to_owned(), text(origin.ip.map(|ip| ip.to_string()))),
        ("user_agent".to_owned(), text(origin.user_agent.as_deref().map(short))),
        ("origin".to_owned(), text(origin.origin.as_deref().map(short))),
        ("collection".to_owned(), (*collection.name).into()),
    ]);
    let row = |entry: &Entry| {
        let mut row = common.clone();
        row.insert("item".to_owned(), entry.key.as_ref().map_or(Value::Null, |key| key.to_string().into()));
        row
    };
    let keys = insert(recorder, "directus_activity", entries.iter().map(row).collect()).await?;
    Ok(keys
        .iter()
        .map(|key| match key {
            Key::Int(number) => (*number).into(),
            other => other.to_string().into(),
        })
        .collect())
}

/// What a client says of itself, at most as long as its column and without NUL characters.
fn short(text: &str) -> String {
    text.chars().filter(|character| *character != '\0').take(255).collect()
}

/// Writes rows of a bookkeeping collection; they are no event of their own.
async fn insert(recorder: &Ctx<'_>, name: &str, rows: Vec<Map<String, Value>>) -> Result<Vec<Key>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let collection = recorder.schema.collection(name).ok_or_else(|| Error::internal(format!("{name} is missing")))?;
    let mut write = access::write::create(recorder, collection, rows).await?;
    special::on_create(recorder, collection, write.rows_mut()).await?;
    plan::write::insert(recorder.conn, &write).await
}

/// Hangs the revisions of nested rows below that of their parent.
async fn adopt(recorder: &Ctx<'_>, parents: &[Key], children: Vec<Vec<Key>>) -> Result<()> {
    let edits: Vec<_> = parents
        .iter()
        .zip(children)
        .filter(|(_, children)| !children.is_empty())
        .map(|(parent, children)| (children, Map::from_iter([("parent".to_owned(), parent.to_string().into())])))
        .collect();
    if edits.is_empty() {
        return Ok(());
    }
    let name = "directus_revisions";
    let collection = recorder.schema.collection(name).ok_or_else(|| Error::internal(format!("{name} is missing")))?;
    let writes = access::write::update_known(recorder, collection, edits)?;
    plan::write::update(recorder.conn, &writes).await
}

/// The rows after the change, by key.
async fn stored(
    recorder: &Ctx<'_>,
    collection: &Collection,
    entries: &[Entry],
) -> Result<HashMap<Key, Map<String, Value>>> {
    let changed = entries.iter().filter(|entry| !entry.delta.is_empty());
    let keys: Vec<Key> = changed.filter_map(|entry| entry.key.clone()).collect();
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let data = super::read_written(recorder, &collection.name, &Query::default(), &keys).await?;
    let rows = match serde_json::from_str(data.get()).map_err(Error::internal)? {
        Value::Array(rows) => rows,
        row => vec![row],
    };
    let mut by_key = HashMap::with_capacity(rows.len());
    for row in rows {
        let Value::Object(row) = row else { continue };
        let key = row.get(&*collection.primary).and_then(|key| Key::parse(collection.primary_field(), key));
        if let Some(key) = key {
            by_key.insert(key, presentable(&recorder.schema, collection, row, Depth::Row));
        }
    }
    Ok(by_key)
}

/// Whether values stand in the row itself or came along for rows below it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Row,
    /// Secrets are not hashed yet here.
    Nested,
}

/// Masks concealed values, in nested rows hashed ones too.
fn presentable(schema: &Schema, collection: &Collection, row: Map<String, Value>, depth: Depth) -> Map<String, Value> {
    let present = |(name, value): (String, Value)| {
        let secret = collection.field(&name).is_some_and(|field| {
            field.special.has(Special::Conceal)
                || (depth == Depth::Nested && (field.special.has(Special::Hash) || field.kind == FieldType::Hash))
        });
        let value = match collection.link(&name) {
            _ if secret && special::is_falsy(&value) => Value::Null,
            _ if secret => MASK.into(),
            Some(link) => {
                let far = match link.side {
                    Side::OneToMany => Some(&link.relation.many_collection),
                    Side::ManyToOne => link.relation.one_collection.as_ref(),
                    Side::ManyToAny => None,
                };
                match far.and_then(|far| schema.collection(far)) {
                    Some(far) => nested(schema, far, value),
                    // Which collection a nested object belongs to is not known here.
                    None if value.is_object() || value.is_array() => Value::Null,
                    None => value,
                }
            }
            None => value,
        };
        (name, value)
    };
    row.into_iter().map(present).collect()
}

/// The same for the rows below: lists, `{create, update, delete}`, objects.
fn nested(schema: &Schema, collection: &Arc<Collection>, value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| nested(schema, collection, item)).collect(),
        Value::Object(members) if is_detailed(collection, &members) => {
            members.into_iter().map(|(name, value)| (name, nested(schema, collection, value))).collect()
        }
        Value::Object(members) => Value::Object(presentable(schema, collection, members, Depth::Nested)),
        other => other,
    }
}

fn is_detailed(collection: &Collection, members: &Map<String, Value>) -> bool {
    members.iter().all(|(name, value)| {
        matches!(name.as_str(), "create" | "update" | "delete") && value.is_array() && collection.field(name).is_none()
    })
}
