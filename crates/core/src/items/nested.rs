//! Rows written along with others: objects where a key belongs, lists where a relation has many.
//! The caller's rights on the other collection hold. Not here: the forms of lists (`nested::list`).

mod bound;
mod list;

use std::sync::Arc;

use serde_json::{Map, Value};

pub(super) use bound::{bound, bound_rows};
pub(super) use list::{Parent, take_lists};

use super::{create::create_rows, update::update_rows};
use crate::{
    access::Action,
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    items::read,
    schema::{Collection, Link, Side},
};

/// Writes the objects that stand where a key belongs, and puts their keys in their place.
pub(super) async fn link_objects(
    ctx: &Ctx<'_>,
    collection: &Collection,
    row: &mut Map<String, Value>,
    revisions: &mut Vec<Key>,
) -> Result<()> {
    let objects: Vec<(String, Link)> = row
        .iter()
        .filter(|(_, value)| value.is_object())
        .filter_map(|(name, _)| collection.link(name).map(|link| (name.clone(), link.clone())))
        .filter(|(_, link)| link.side != Side::OneToMany)
        .collect();
    for (name, link) in objects {
        let target = target(ctx, &name, &link, row)?;
        let Some(Value::Object(object)) = row.get_mut(&name).map(Value::take) else { continue };
        let key = write_object(ctx, &target, object, revisions).await?;
        row.insert(name, key.to_json(target.primary_field()));
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

/// Creates a row or updates the one the object names; gives its key.
async fn write_object(
    ctx: &Ctx<'_>,
    collection: &Arc<Collection>,
    mut object: Map<String, Value>,
    revisions: &mut Vec<Key>,
) -> Result<Key> {
    if let Some(key) = object_key(collection, &object)?
        && !existing(ctx, collection, std::slice::from_ref(&key)).await?.is_empty()
    {
        object.shift_remove(&*collection.primary);
        if !object.is_empty() {
            let mut written = update_rows(ctx, collection, vec![(vec![key.clone()], object)]).await?;
            revisions.append(&mut written.revisions);
        }
        return Ok(key);
    }
    let mut written = create_rows(ctx, collection, vec![object]).await?;
    revisions.append(&mut written.revisions);
    written.keys.pop().ok_or_else(|| Error::internal("nothing was created"))
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

/// Which of these keys exist, whoever may see them: it decides between creating and updating, and
/// the rights of either are checked there.
async fn existing(ctx: &Ctx<'_>, collection: &Collection, keys: &[Key]) -> Result<Vec<Key>> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    read::permitted_keys(&ctx.elevated(), &collection.name, Action::Read, keys).await
}
