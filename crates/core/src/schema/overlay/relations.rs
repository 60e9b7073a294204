//! Relations: the server's own, the stored ones, and foreign keys nobody described; and what they
//! mean for the fields on both ends.

use std::{collections::HashSet, sync::Arc};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{
    super::{Collection, Deselect, Field, FieldType, Link, Relation, RelationMeta, Side, system::RELATIONS},
    stored::Stored,
    system_meta,
};

type Collections = IndexMap<Arc<str>, Collection>;

/// All relations whose ends exist; at most one per many-side field.
pub(super) fn build(collections: &mut Collections, stored: &Stored) -> Vec<Arc<Relation>> {
    let mut relations = Vec::new();
    let mut seen = HashSet::new();
    for (index, known) in RELATIONS.iter().enumerate() {
        let Some((many_collection, many_field)) = end(collections, known.many_collection, known.many_field) else {
            continue;
        };
        let Some((one_collection, _)) = collections.get_key_value(known.one_collection) else { continue };
        seen.insert((Arc::clone(&many_collection), Arc::clone(&many_field.name)));
        relations.push(Arc::new(Relation {
            many_field: Arc::clone(&many_field.name),
            one_collection: Some(Arc::clone(one_collection)),
            one_field: known.one_field.map(Arc::from),
            one_collection_field: None,
            one_allowed_collections: Vec::new(),
            junction_field: None,
            sort_field: None,
            deselect: known.deselect,
            foreign_key: many_field.column.as_ref().and_then(|column| column.foreign_key.clone()),
            meta: Some(RelationMeta(system_meta::relation(index))),
            system: true,
            many_collection,
        }));
    }
    for row in &stored.relations {
        if let Some(relation) = from_row(collections, row)
            && seen.insert((Arc::clone(&relation.many_collection), Arc::clone(&relation.many_field)))
        {
            relations.push(Arc::new(relation));
        }
    }
    for collection in collections.values() {
        for field in collection.fields.values() {
            if let Some(relation) = from_foreign_key(collections, collection, field)
                && seen.insert((Arc::clone(&relation.many_collection), Arc::clone(&relation.many_field)))
            {
                relations.push(Arc::new(relation));
            }
        }
    }
    relations
}

/// A field with a column, and its collection's name.
fn end<'a>(collections: &'a Collections, collection: &str, field: &str) -> Option<(Arc<str>, &'a Field)> {
    let (name, collection) = collections.get_key_value(collection)?;
    let field = collection.fields.get(field).filter(|field| field.column.is_some())?;
    Some((Arc::clone(name), field))
}

fn from_row(collections: &Collections, row: &Map<String, Value>) -> Option<Relation> {
    let text = |key: &str| row.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (many_collection, many_field) = end(collections, text("many_collection")?, text("many_field")?)?;
    let one_collection = match text("one_collection") {
        Some(name) => Some(Arc::clone(collections.get_key_value(name)?.0)),
        // Without a name for the collection of each row, the other end can't be found.
        None => {
            text("one_collection_field")?;
            None
        }
    };
    let allowed = row.get("one_allowed_collections").and_then(Value::as_array);
    Some(Relation {
        many_field: Arc::clone(&many_field.name),
        one_collection,
        one_field: text("one_field").map(Arc::from),
        one_collection_field: text("one_collection_field").map(Arc::from),
        one_allowed_collections: allowed.into_iter().flatten().filter_map(Value::as_str).map(Arc::from).collect(),
        junction_field: text("junction_field").map(Arc::from),
        sort_field: text("sort_field").map(Arc::from),
        deselect: if text("one_deselect_action") == Some("delete") { Deselect::Delete } else { Deselect::Nullify },
        foreign_key: many_field.column.as_ref().and_then(|column| column.foreign_key.clone()),
        meta: Some(RelationMeta(row.clone())),
        system: false,
        many_collection,
    })
}

/// A relation that only the database knows. It must point to a primary key: rows are found by nothing else.
fn from_foreign_key(collections: &Collections, collection: &Collection, field: &Field) -> Option<Relation> {
    let key = field.column.as_ref()?.foreign_key.as_ref()?;
    let (one_collection, one) = collections.get_key_value(key.table.as_str())?;
    (*one.primary == *key.column).then(|| Relation {
        many_collection: Arc::clone(&collection.name),
        many_field: Arc::clone(&field.name),
        one_collection: Some(Arc::clone(one_collection)),
        one_field: None,
        one_collection_field: None,
        one_allowed_collections: Vec::new(),
        junction_field: None,
        sort_field: None,
        deselect: Deselect::Nullify,
        foreign_key: Some(key.clone()),
        meta: None,
        system: false,
    })
}

/// A text of 36 characters that points to a uuid is one. Runs until nothing changes, because a
/// primary key may itself point somewhere.
pub(super) fn type_keys(collections: &mut Collections, relations: &[Arc<Relation>]) {
    for _ in 0..8 {
        let mut changed = false;
        for relation in relations {
            let target = relation.one_collection.as_ref().and_then(|name| collections.get(name));
            if target.and_then(|one| one.fields.get(&one.primary)).map(|field| field.kind) != Some(FieldType::Uuid) {
                continue;
            }
            let many = collections.get_mut(&relation.many_collection);
            let Some(field) = many.and_then(|many| many.fields.get_mut(&relation.many_field)) else { continue };
            let fits = field.column.as_ref().is_some_and(|column| {
                matches!(column.data_type.as_str(), "char" | "character") && column.max_length == Some(36)
            });
            if field.kind == FieldType::String && fits {
                field.kind = FieldType::Uuid;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// Tells the fields on both ends what they stand for.
pub(super) fn link(collections: &mut Collections, relations: &[Arc<Relation>]) {
    for relation in relations {
        if let Some(side) = many_side(collections, relation)
            && let Some(many) = collections.get_mut(&relation.many_collection)
        {
            let link = Link { relation: Arc::clone(relation), side };
            many.links.insert(Arc::clone(&relation.many_field), link);
        }
        let (Some(one), Some(alias)) = (&relation.one_collection, &relation.one_field) else { continue };
        let Some(one) = collections.get_mut(one) else { continue };
        if one.fields.get(alias).is_some_and(|field| field.column.is_none()) {
            let link = Link { relation: Arc::clone(relation), side: Side::OneToMany };
            one.links.entry(Arc::clone(alias)).or_insert(link);
        }
    }
}

/// What the many-side field stands for; nothing when its values can't be keys of the other side.
fn many_side(collections: &Collections, relation: &Relation) -> Option<Side> {
    let many = collections.get(&relation.many_collection)?;
    let Some(one) = &relation.one_collection else {
        let naming = relation.one_collection_field.as_ref()?;
        return many.fields.contains_key(naming).then_some(Side::ManyToAny);
    };
    let one = collections.get(one)?;
    let whole = |field: &Field| matches!(field.kind, FieldType::Integer | FieldType::BigInteger);
    let (from, to) = (many.fields.get(&relation.many_field)?, one.fields.get(&one.primary)?);
    (whole(from) == whole(to)).then_some(Side::ManyToOne)
}
