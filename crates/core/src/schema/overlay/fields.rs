//! The fields of one collection: columns typed by their specials first, then aliases.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{
    super::{
        Field, FieldMeta, FieldType, Special, SpecialSet,
        inspect::{self, RawColumn},
        system::SystemCollection,
    },
    stored::Stored,
    system_meta,
};

type Row = Map<String, Value>;

/// Specials that make a field of a row without column.
const ALIASES: [Special; 8] = [
    Special::Alias,
    Special::OneToMany,
    Special::ManyToMany,
    Special::ManyToAny,
    Special::Files,
    Special::Translations,
    Special::NoData,
    Special::Group,
];

pub(super) fn build(
    collection: &str,
    columns: IndexMap<String, RawColumn>,
    own: Option<&SystemCollection>,
    stored: &Stored,
    named: &HashSet<(&str, &str)>,
) -> IndexMap<Arc<str>, Field> {
    let none = Vec::new();
    let stored = stored.fields.get(collection).unwrap_or(&none);
    let mut rows: HashMap<&str, &Row> = HashMap::new();
    for row in stored {
        if let Some(name) = row.get("field").and_then(Value::as_str) {
            rows.entry(name).or_insert(row);
        }
    }
    let mut fields = IndexMap::with_capacity(columns.len());
    for (position, (name, raw)) in columns.into_iter().enumerate() {
        let row = rows.get(name.as_str()).copied();
        let own = own.filter(|own| own.owns(&name));
        let meta = match own {
            Some(own) => Some(system_meta::field(own, &name, own.specials_of(&name), position + 1, row)),
            None => row.cloned(),
        };
        let special = specials(meta.as_ref());
        let mut kind = kind(raw.kind, special);
        if let Some(own) = own {
            kind = own_kind(own, &name, kind);
        }
        let mut column = raw.column;
        if kind != raw.kind {
            column.default = column.default.map(|default| inspect::retyped(kind, &default));
        }
        let name: Arc<str> = name.into();
        fields.insert(Arc::clone(&name), field(name, kind, special, Some(column), meta));
    }
    for (own, (name, specials)) in own.into_iter().flat_map(|own| own.aliases.iter().map(move |alias| (own, *alias))) {
        if !fields.contains_key(name) {
            let meta = system_meta::field(own, name, Some(specials), fields.len() + 1, rows.get(name).copied());
            let special = SpecialSet::from_names(specials.split(','));
            fields.insert(name.into(), field(name.into(), FieldType::Alias, special, None, Some(meta)));
        }
    }
    let mut aliases: Vec<(&str, &Row)> = rows.into_iter().filter(|(name, _)| !fields.contains_key(*name)).collect();
    aliases.sort_by_key(|(_, row)| (number(row, "sort"), number(row, "id")));
    for (name, row) in aliases {
        let mut special = specials(Some(row));
        if !ALIASES.iter().any(|alias| special.has(*alias)) {
            if !named.contains(&(collection, name)) {
                // Metadata of a column that is gone.
                continue;
            }
            special = special.with(Special::Alias);
        }
        fields.insert(name.into(), field(name.into(), FieldType::Alias, special, None, Some(row.clone())));
    }
    // A relation may name a list that has no metadata of its own: it can be asked for, but is no
    // part of `*` and not shown to data modellers.
    for (_, name) in named.iter().filter(|(one, _)| *one == collection) {
        if !fields.contains_key(*name) {
            let special = SpecialSet::default().with(Special::Alias);
            fields.insert((*name).into(), field((*name).into(), FieldType::Alias, special, None, None));
        }
    }
    fields
}

fn field(
    name: Arc<str>,
    kind: FieldType,
    special: SpecialSet,
    column: Option<super::super::Column>,
    meta: Option<Row>,
) -> Field {
    let get = |key: &str| meta.as_ref().and_then(|meta| meta.get(key)).filter(|value| !value.is_null());
    Field {
        validation: get("validation").filter(|rule| rule.as_object().is_some_and(|rule| !rule.is_empty())).cloned(),
        validation_message: get("validation_message").and_then(Value::as_str).map(str::to_owned),
        meta: meta.map(FieldMeta),
        name,
        kind,
        special,
        column,
    }
}

fn specials(meta: Option<&Row>) -> SpecialSet {
    let names = meta.and_then(|meta| meta.get("special")).and_then(Value::as_array);
    SpecialSet::from_names(names.into_iter().flatten().filter_map(Value::as_str))
}

fn number(row: &Row, key: &str) -> i64 {
    row.get(key).and_then(Value::as_i64).unwrap_or(i64::MAX)
}

/// Specials come first (http-system §7.1), where the column can hold what they say.
fn kind(kind: FieldType, special: SpecialSet) -> FieldType {
    let texts = matches!(kind, FieldType::String | FieldType::Text | FieldType::Unknown);
    let times = matches!(kind, FieldType::DateTime | FieldType::Timestamp);
    if special.has(Special::CastJson) && (texts || kind == FieldType::Json) {
        FieldType::Json
    } else if special.has(Special::Hash) && texts {
        FieldType::Hash
    } else if special.has(Special::CastCsv) && texts {
        FieldType::Csv
    } else if (special.has(Special::Uuid) || special.has(Special::File)) && texts {
        FieldType::Uuid
    } else if special.has(Special::CastTimestamp) && times {
        FieldType::Timestamp
    } else if special.has(Special::CastDateTime) && times {
        FieldType::DateTime
    } else {
        kind
    }
}

fn own_kind(own: &SystemCollection, column: &str, kind: FieldType) -> FieldType {
    if kind == FieldType::String && own.uuids.contains(&column) {
        FieldType::Uuid
    } else if kind == FieldType::DateTime && own.timestamps.contains(&column) {
        FieldType::Timestamp
    } else {
        kind
    }
}
