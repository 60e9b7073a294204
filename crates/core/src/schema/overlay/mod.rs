//! Catalogue + stored metadata + what the server knows of its own tables → [`Schema`]. Which tables
//! are served is decided here. No statements but the reading of the three metadata tables (`stored`).

mod fields;
mod relations;
mod stored;
mod system_meta;
#[cfg(test)]
mod tests;

use std::{collections::HashSet, sync::Arc};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{
    Accountability, Collection, CollectionMeta, Schema,
    inspect::RawTable,
    system::{self, SYSTEM_PREFIX, SystemCollection},
};

pub(crate) use stored::{Stored, read};

/// A schema and the tables that it can't serve, with the reason.
pub(crate) struct Built {
    pub schema: Schema,
    pub left_out: Vec<(String, &'static str)>,
}

/// Puts the metadata onto the tables.
pub(crate) fn build(version: u64, tables: IndexMap<String, RawTable>, stored: &Stored, exclude: &[String]) -> Built {
    let mut left_out = Vec::new();
    let mut collections: IndexMap<Arc<str>, Collection> = IndexMap::with_capacity(tables.len());
    let named: HashSet<(&str, &str)> = stored.alias_names().collect();
    for (name, table) in tables {
        if system::HIDDEN.contains(&name.as_str()) || exclude.contains(&name) {
            continue;
        }
        let Some(primary) = table.primary().map(Arc::<str>::from) else {
            left_out.push((name, "it has not exactly one primary-key column"));
            continue;
        };
        if name.contains(char::is_whitespace) {
            left_out.push((name, "its name contains a space"));
            continue;
        }
        let own = system::collections().find(|known| known.name == name);
        let collection = collection(Arc::from(name), primary, table, own, stored, &named);
        collections.insert(Arc::clone(&collection.name), collection);
    }
    let relations = relations::build(&mut collections, stored);
    relations::type_keys(&mut collections, &relations);
    relations::link(&mut collections, &relations);
    let collections = collections.into_iter().map(|(name, collection)| (name, Arc::new(collection))).collect();
    Built { schema: Schema { version, collections, relations }, left_out }
}

fn collection(
    name: Arc<str>,
    primary: Arc<str>,
    table: RawTable,
    own: Option<&SystemCollection>,
    stored: &Stored,
    named: &HashSet<(&str, &str)>,
) -> Collection {
    let row = stored.collections.get(&*name);
    let meta = match own {
        Some(own) => Some(system_meta::collection(own, row)),
        None => row.cloned(),
    };
    let fields = fields::build(&name, table.columns, own, stored, named);
    let text = |key: &str| meta.as_ref().and_then(|meta| meta.get(key)).and_then(Value::as_str);
    let sort_field = text("sort_field")
        .and_then(|field| fields.get_key_value(field))
        .filter(|(_, field)| field.column.is_some())
        .map(|(field, _)| Arc::clone(field));
    Collection {
        singleton: flag(meta.as_ref(), "singleton"),
        accountability: match own {
            Some(own) => own.accountability,
            None => accountability(meta.as_ref()),
        },
        sort_field,
        system: own.is_some() || name.starts_with(SYSTEM_PREFIX),
        primary,
        fields,
        meta: meta.map(CollectionMeta),
        table: table.info,
        links: IndexMap::new(),
        name,
    }
}

fn flag(meta: Option<&Map<String, Value>>, key: &str) -> bool {
    meta.and_then(|meta| meta.get(key)).and_then(Value::as_bool).unwrap_or(false)
}

/// Tables without metadata are recorded like those with `all`.
fn accountability(meta: Option<&Map<String, Value>>) -> Accountability {
    match meta.map(|meta| meta.get("accountability").and_then(Value::as_str)) {
        None | Some(Some("all")) => Accountability::All,
        Some(Some("activity")) => Accountability::Activity,
        Some(_) => Accountability::None,
    }
}
