//! Rows written along with others: objects where a key belongs (here), lists where a relation has
//! many (`nested::list`). Always for all rows of one write at once, so that the statements grow with
//! the levels and not with the rows. The caller's rights on the other collection hold, and rows that
//! the caller can't see act as missing (`nested::sight`).

mod bound;
mod form;
mod linked;
mod list;
mod order;
mod sight;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use serde_json::{Map, Value};

pub(super) use bound::{bound, bound_rows, charge};
pub(super) use form::take_lists;
pub(super) use list::{Parent, Stage, write_lists};

use super::{
    create::create_rows,
    update::{Edit, update_rows},
};
use crate::{
    access::Action,
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    schema::{Collection, Link, Side},
};

/// An object and the row and field it was taken from.
struct Object {
    row: usize,
    field: String,
    members: Map<String, Value>,
}

/// Writes the objects that stand where a key belongs, and puts their keys in their place. The
/// revisions go to `children`, which has a list for each row.
pub(super) async fn link_objects(
    ctx: &Ctx<'_>,
    collection: &Collection,
    mut rows: Vec<&mut Map<String, Value>>,
    children: &mut [Vec<Key>],
) -> Result<()> {
    let mut targets: Vec<(Arc<Collection>, Vec<Object>)> = Vec::new();
    for (index, row) in rows.iter_mut().enumerate() {
        let links: Vec<(String, Link)> = row
            .iter()
            .filter(|(_, value)| value.is_object())
            .filter_map(|(name, _)| collection.link(name).map(|link| (name.clone(), link.clone())))
            .filter(|(_, link)| link.side != Side::OneToMany)
            .collect();
        for (field, link) in links {
            let target = target(ctx, &field, &link, row)?;
            let Some(Value::Object(members)) = row.get_mut(&field).map(Value::take) else { continue };
            let object = Object { row: index, field, members };
            match targets.iter_mut().find(|(known, _)| known.name == target.name) {
                Some((_, objects)) => objects.push(object),
                None => targets.push((target, vec![object])),
            }
        }
    }
    for (target, objects) in targets {
        for (row, field, key) in write_objects(ctx, &target, objects, children).await? {
            if let Some(row) = rows.get_mut(row) {
                row.insert(field, key.to_json(target.primary_field()));
            }
        }
    }
    Ok(())
}

/// The collection an object belongs to; for many-to-any the sibling field says.
fn target(ctx: &Ctx<'_>, field: &str, link: &Link, row: &Map<String, Value>) -> Result<Arc<Collection>> {
    let relation = &link.relation;
    let name = match &relation.one_collection {
        Some(name) => name,
        None => {
            let sibling = relation.one_collection_field.as_deref().unwrap_or_default();
            let named = row.get(sibling).and_then(Value::as_str);
            named.and_then(|named| relation.one_allowed_collections.iter().find(|name| &***name == named)).ok_or_else(
                || Error::invalid_payload(format!("\"{field}\" needs an allowed collection in \"{sibling}\".")),
            )?
        }
    };
    super::collection(ctx, name)
}

/// Creates the rows of objects, or updates those that objects name; gives the key for each place.
///
/// An object that names a row which the caller can neither read nor update acts as one whose row is
/// missing: it asks for a new row with that key, needs the right to create it, and is then answered
/// by the unique constraint as a plain creation is.
async fn write_objects(
    ctx: &Ctx<'_>,
    collection: &Arc<Collection>,
    objects: Vec<Object>,
    children: &mut [Vec<Key>],
) -> Result<Vec<(usize, String, Key)>> {
    let named = objects.iter().map(|object| object_key(collection, &object.members)).collect::<Result<Vec<_>>>()?;
    let asked: Vec<Key> = named.iter().flatten().cloned().collect();
    let visible = sight::visible(ctx, collection, &asked, &[Action::Update, Action::Read]).await?;

    let mut linked = Vec::with_capacity(objects.len());
    let (mut places, mut rows) = (Vec::new(), Vec::new());
    let (mut editors, mut edits): (Vec<usize>, Vec<Edit>) = (Vec::new(), Vec::new());
    let mut new = HashSet::new();
    let mut latest: HashMap<Key, Map<String, Value>> = HashMap::new();
    for (Object { row, field, mut members }, key) in objects.into_iter().zip(named) {
        match key {
            Some(key) if visible.contains(&key) || new.contains(&key) => {
                members.shift_remove(&*collection.primary);
                // Rows that share what they link to say the same of it.
                if !members.is_empty() && latest.get(&key) != Some(&members) {
                    latest.insert(key.clone(), members.clone());
                    editors.push(row);
                    edits.push((vec![key.clone()], members));
                }
                linked.push((row, field, key));
            }
            key => {
                new.extend(key);
                places.push((row, field));
                rows.push(members);
            }
        }
    }
    if !rows.is_empty() {
        let written = create_rows(ctx, collection, rows).await?;
        adopt(children, places.iter().map(|(row, _)| *row), written.revisions);
        linked.extend(places.into_iter().zip(written.keys).map(|((row, field), key)| (row, field, key)));
    }
    if !edits.is_empty() {
        let written = update_rows(ctx, collection, edits).await?;
        adopt(children, editors.into_iter(), written.revisions);
    }
    Ok(linked)
}

/// Gives revisions to the rows that caused them.
fn adopt(children: &mut [Vec<Key>], owners: impl Iterator<Item = usize>, revisions: Vec<Vec<Key>>) {
    for (owner, mut revisions) in owners.zip(revisions) {
        if let Some(children) = children.get_mut(owner) {
            children.append(&mut revisions);
        }
    }
}

/// The key an object names, if it names one.
fn object_key(collection: &Collection, object: &Map<String, Value>) -> Result<Option<Key>> {
    match object.get(&*collection.primary) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match Key::parse(collection.primary_field(), value) {
            Some(key) => Ok(Some(key)),
            None => Err(Error::invalid_payload(format!(
                "\"{}\" of \"{}\" can't be read.",
                collection.primary, collection.name
            ))),
        },
    }
}
