//! A column that holds one of many keys.

use sea_orm::sea_query::{Expr, ExprTrait};

use super::bind::bind;
use crate::{
    access::read::typed_key,
    ident::Key,
    schema::{Field, FieldType},
    store::Dialect,
};

/// The test that a column of this field holds one of the keys.
///
/// PostgreSQL takes integers and UUIDs as the rows of one array: the statement has the same text for any
/// number of keys, so that it is prepared once; it goes through an index where there is one, and by a
/// hash where there is none (`= ANY` would read the array anew for each row).
pub(crate) fn among(dialect: Dialect, column: Expr, field: &Field, keys: &[Key]) -> Expr {
    if let [key] = keys {
        return column.eq(bind(dialect, field, typed_key(field, key)));
    }
    if dialect == Dialect::Postgres
        && let Some((array, keys)) = array(field, keys)
    {
        let test = format!("$1 IN (SELECT UNNEST(CAST($2 AS {array})))");
        return Expr::cust_with_exprs(test, [column, Expr::val(keys)]);
    }
    column.is_in(keys.iter().map(|key| bind(dialect, field, typed_key(field, key))))
}

/// Keys as the text of an array, and its type: PostgreSQL.
pub(crate) fn array(field: &Field, keys: &[Key]) -> Option<(&'static str, String)> {
    let data_type = field.column.as_ref()?.data_type.as_str();
    let array = match field.kind {
        FieldType::Integer | FieldType::BigInteger
            if matches!(data_type, "smallint" | "integer" | "bigint" | "int2" | "int4" | "int8") =>
        {
            "bigint[]"
        }
        FieldType::Uuid if data_type == "uuid" => "uuid[]",
        _ => return None,
    };
    let mut text = String::with_capacity(keys.len() * 8 + 2);
    text.push('{');
    for (position, key) in keys.iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        match (key, array) {
            (Key::Int(number), "bigint[]") => text.push_str(&number.to_string()),
            (Key::Uuid(id), "uuid[]") => text.push_str(&id.hyphenated().to_string()),
            _ => return None,
        }
    }
    text.push('}');
    Some((array, text))
}

#[cfg(test)]
mod tests {
    use sea_query::{Alias, Expr, PostgresQueryBuilder, Query, SqliteQueryBuilder};
    use uuid::Uuid;

    use super::{Dialect, Key, among};
    use crate::schema::{Column, Field, FieldType, SpecialSet};

    fn sql(dialect: Dialect, kind: FieldType, data_type: &str, keys: &[Key]) -> String {
        let field = Field {
            name: "f".into(),
            kind,
            special: SpecialSet::default(),
            column: Some(Column { data_type: data_type.to_owned(), ..Column::default() }),
            validation: None,
            validation_message: None,
            meta: None,
        };
        let test = among(dialect, Expr::col(Alias::new("f")), &field, keys);
        let query = Query::select().expr(test).to_owned();
        let text = match dialect {
            Dialect::Postgres => query.to_string(PostgresQueryBuilder),
            _ => query.to_string(SqliteQueryBuilder),
        };
        text.trim_start_matches("SELECT ").to_owned()
    }

    #[test]
    fn postgres_takes_integers_and_uuids_as_one_array() {
        let postgres = |kind, data_type, keys: &[Key]| sql(Dialect::Postgres, kind, data_type, keys);
        let numbers = [Key::Int(1), Key::Int(-2), Key::Int(3)];
        assert_eq!(
            postgres(FieldType::Integer, "integer", &numbers),
            "\"f\" IN (SELECT UNNEST(CAST('{1,-2,3}' AS bigint[])))"
        );
        assert_eq!(postgres(FieldType::Integer, "integer", &[Key::Int(1)]), "\"f\" = 1");
        let ids = [Key::Uuid(Uuid::from_u128(1)), Key::Uuid(Uuid::from_u128(2))];
        assert!(postgres(FieldType::Uuid, "uuid", &ids).ends_with("' AS uuid[])))"));
    }

    #[test]
    fn other_keys_and_engines_take_a_list() {
        let texts = [Key::Text("a".into()), Key::Text("b,}".into())];
        assert_eq!(sql(Dialect::Postgres, FieldType::String, "varchar", &texts), "\"f\" IN ('a', 'b,}')");
        let mixed = [Key::Int(1), Key::Text("x".into())];
        assert!(sql(Dialect::Postgres, FieldType::Integer, "integer", &mixed).contains(" IN ("));
        assert!(sql(Dialect::Postgres, FieldType::Uuid, "char", &mixed).contains(" IN ("));
        let numbers = [Key::Int(1), Key::Int(2)];
        assert_eq!(sql(Dialect::Sqlite, FieldType::Integer, "integer", &numbers), "\"f\" IN (1, 2)");
    }
}
