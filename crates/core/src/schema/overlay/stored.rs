//! Reading the three metadata tables whole, rendered alike on all engines: booleans are booleans,
//! JSON is parsed, comma-separated lists are arrays. Columns that this server doesn't know come as texts.

use std::collections::HashMap;

use indexmap::IndexMap;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, Order, Query};
use serde_json::{Map, Value};

use super::super::{
    FieldType, Special, SpecialSet,
    inspect::{RawColumn, RawTable},
    system::{self, SystemCollection},
};
use crate::{
    error::{Result, database},
    store::{Dialect, Executor},
};

/// The rows of the metadata tables.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// Rows of `directus_collections` by collection, folders included.
    pub collections: HashMap<String, Map<String, Value>>,
    /// Rows of `directus_fields` by collection, by `id`.
    pub fields: HashMap<String, Vec<Map<String, Value>>>,
    /// Rows of `directus_relations`, by `id`.
    pub relations: Vec<Map<String, Value>>,
}

impl Stored {
    /// Collection and field of each alias that a stored relation names.
    pub(super) fn alias_names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.relations
            .iter()
            .filter_map(|row| Some((row.get("one_collection")?.as_str()?, row.get("one_field")?.as_str()?)))
    }
}

/// Reads the metadata tables as the catalogue describes them; one that isn't there is empty.
///
/// # Errors
/// As [`Executor::query`].
pub(crate) async fn read(connection: Executor<'_>, tables: &IndexMap<String, RawTable>) -> Result<Stored> {
    let mut stored = Stored::default();
    for row in rows(connection, tables, "directus_collections").await? {
        if let Some(name) = row.get("collection").and_then(Value::as_str) {
            stored.collections.insert(name.to_owned(), row);
        }
    }
    for row in rows(connection, tables, "directus_fields").await? {
        if let Some(name) = row.get("collection").and_then(Value::as_str) {
            stored.fields.entry(name.to_owned()).or_default().push(row);
        }
    }
    stored.relations = rows(connection, tables, "directus_relations").await?;
    Ok(stored)
}

async fn rows(
    connection: Executor<'_>,
    tables: &IndexMap<String, RawTable>,
    name: &str,
) -> Result<Vec<Map<String, Value>>> {
    let Some((table, primary)) = tables.get(name).and_then(|table| Some((table, table.primary()?))) else {
        return Ok(Vec::new());
    };
    let text = if connection.dialect() == Dialect::Mysql { "char" } else { "text" };
    let mut select = Query::select();
    select.from(Alias::new(name)).order_by(Alias::new(primary), Order::Asc);
    for column in table.columns.keys() {
        select.expr(Expr::col(Alias::new(column)).cast_as(text));
    }
    let own = system::collections().find(|known| known.name == name);
    let kinds: Vec<(&String, FieldType)> =
        table.columns.iter().map(|(column, raw)| (column, kind(own, column, raw))).collect();
    let mut rows = Vec::new();
    for row in connection.query(connection.build(&select)).await? {
        let mut map = Map::with_capacity(kinds.len());
        for (index, (column, kind)) in kinds.iter().enumerate() {
            let text: Option<String> = row.try_get_by_index(index).map_err(database::from_driver)?;
            map.insert((*column).clone(), text.map_or(Value::Null, |text| render(*kind, text)));
        }
        rows.push(map);
    }
    Ok(rows)
}

fn kind(own: Option<&SystemCollection>, column: &str, raw: &RawColumn) -> FieldType {
    let specials = own.and_then(|own| own.specials_of(column)).unwrap_or_default();
    let specials = SpecialSet::from_names(specials.split(','));
    if specials.has(Special::CastBoolean) {
        FieldType::Boolean
    } else if specials.has(Special::CastJson) {
        FieldType::Json
    } else if specials.has(Special::CastCsv) {
        FieldType::Csv
    } else {
        raw.kind
    }
}

fn render(kind: FieldType, text: String) -> Value {
    match kind {
        FieldType::Integer | FieldType::BigInteger => {
            text.parse::<i64>().map_or(Value::String(text), |number| Value::Number(number.into()))
        }
        FieldType::Boolean => Value::Bool(matches!(text.as_str(), "1" | "true" | "t")),
        FieldType::Json => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        FieldType::Csv => {
            text.split(',').filter(|name| !name.is_empty()).map(|name| Value::String(name.to_owned())).collect()
        }
        _ => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_rendered_by_type() {
        let render = |kind, text: &str| render(kind, text.to_owned());
        assert_eq!(render(FieldType::Boolean, "1"), json!(true));
        assert_eq!(render(FieldType::Boolean, "false"), json!(false));
        assert_eq!(render(FieldType::Csv, "m2o,uuid"), json!(["m2o", "uuid"]));
        assert_eq!(render(FieldType::Csv, ""), json!([]));
        assert_eq!(render(FieldType::Json, "{\"a\":[1]}"), json!({"a": [1]}));
        assert_eq!(render(FieldType::Json, "{broken"), json!("{broken"));
        assert_eq!(render(FieldType::Integer, "7"), json!(7));
    }
}
