//! The forms of a list in a payload: a full list, or `{create, update, delete}`. Elements are rows of
//! the collection that holds the key: for m2m, files, translations and m2a those of the junction.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::object_key;
use crate::{
    error::{Error, Result},
    ident::Key,
    payload::special::is_falsy,
    schema::{Collection, Relation, Side},
};

type Row = Map<String, Value>;

/// A list that was part of a payload.
#[derive(Debug)]
pub(in crate::items) struct List {
    pub field: String,
    pub relation: Arc<Relation>,
    pub value: Value,
}

/// Takes the lists out of a payload: they are written after the row itself.
pub(in crate::items) fn take_lists(collection: &Collection, row: &mut Row) -> Vec<List> {
    let names: Vec<String> = row
        .keys()
        .filter(|name| collection.link(name).is_some_and(|link| link.side == Side::OneToMany))
        .cloned()
        .collect();
    let take = |name: String| {
        let relation = Arc::clone(&collection.link(&name)?.relation);
        Some(List { value: row.shift_remove(&name)?, field: name, relation })
    };
    names.into_iter().filter_map(take).collect()
}

/// What a list asks for.
#[derive(Debug)]
pub(super) enum Form {
    /// These rows and no others; objects may name an existing row.
    Full { links: Vec<Key>, objects: Vec<(Option<Key>, Row)> },
    /// A partial change.
    Part { create: Vec<Row>, update: Vec<(Key, Row)>, delete: Vec<Key> },
}

impl Form {
    /// Reads a list of rows of `children`.
    ///
    /// # Errors
    /// `INVALID_PAYLOAD` for a malformed list, `FORBIDDEN` for keys no row can have.
    pub fn read(field: &str, children: &Collection, value: &Value) -> Result<Self> {
        match value {
            Value::Array(items) => full(field, children, items),
            Value::Object(parts) => part(field, children, parts),
            value if is_falsy(value) => full(field, children, &[]),
            _ => Err(malformed(field)),
        }
    }

    /// Keys of rows that have to exist or decide between creating and updating.
    pub fn named(&self) -> Vec<Key> {
        match self {
            Form::Full { links, objects } => {
                links.iter().chain(objects.iter().filter_map(|(key, _)| key.as_ref())).cloned().collect()
            }
            Form::Part { update, delete, .. } => update.iter().map(|(key, _)| key).chain(delete).cloned().collect(),
        }
    }
}

fn malformed(field: &str) -> Error {
    Error::invalid_payload(format!("\"{field}\" takes a list, or \"create\", \"update\" and \"delete\"."))
}

fn full(field: &str, children: &Collection, items: &[Value]) -> Result<Form> {
    let (mut links, mut objects) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Value::String(_) | Value::Number(_) => {
                links.push(Key::parse(children.primary_field(), item).ok_or_else(Error::forbidden)?);
            }
            Value::Object(object) => objects.push((object_key(children, object)?, object.clone())),
            _ => return Err(malformed(field)),
        }
    }
    Ok(Form::Full { links, objects })
}

fn part(field: &str, children: &Collection, parts: &Row) -> Result<Form> {
    if parts.keys().any(|name| !matches!(name.as_str(), "create" | "update" | "delete")) {
        return Err(malformed(field));
    }
    let part = |name: &str| match parts.get(name) {
        None | Some(Value::Null) => Ok(&[][..]),
        Some(Value::Array(items)) => Ok(items.as_slice()),
        Some(_) => Err(malformed(field)),
    };
    let object = |item: &Value| item.as_object().cloned().ok_or_else(|| malformed(field));
    let primary = children.primary_field();
    let gone = |item: &Value| Key::parse(primary, item).ok_or_else(Error::forbidden);
    let change = |item: &Value| {
        let object = object(item)?;
        let key = object_key(children, &object)?
            .ok_or_else(|| Error::invalid_payload(format!("\"update\" of \"{field}\" needs \"{}\".", primary.name)))?;
        Ok((key, object))
    };
    Ok(Form::Part {
        create: part("create")?.iter().map(object).collect::<Result<_>>()?,
        update: part("update")?.iter().map(change).collect::<Result<_>>()?,
        delete: part("delete")?.iter().map(gone).collect::<Result<_>>()?,
    })
}
