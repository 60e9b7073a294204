//! Database types → field types, without specials (http-system §7.1, where `bigint` and `numeric`
//! keep their exactness).

use super::super::FieldType;
use crate::store::Dialect;

/// A declared type taken apart: `Decimal (10, 5) Unsigned` is `decimal unsigned` with `[10, 5]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) arguments: Vec<u32>,
}

pub(super) fn declared(text: &str) -> Declared {
    let text = text.trim().to_lowercase();
    let Some((before, rest)) = text.split_once('(') else {
        return Declared { name: words(&text), arguments: Vec::new() };
    };
    let (inside, after) = rest.split_once(')').unwrap_or((rest, ""));
    let arguments = inside.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    Declared { name: words(&format!("{before} {after}")), arguments }
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The field type of a database type. `name` is lower case without length.
pub(super) fn field_type(dialect: Dialect, name: &str, arguments: &[u32]) -> FieldType {
    let name = name.strip_suffix(" zerofill").unwrap_or(name);
    let name = name.strip_suffix(" unsigned").unwrap_or(name);
    match name {
        "tinyint" if dialect == Dialect::Mysql && arguments == [1] => FieldType::Boolean,
        // How uuids are stored where there is no type for them.
        "char" | "character" if dialect != Dialect::Postgres && arguments == [36] => FieldType::Uuid,
        "bit" if dialect == Dialect::Postgres => FieldType::Unknown,
        "boolean" | "bool" | "bit" => FieldType::Boolean,
        "tinyint" | "smallint" | "mediumint" | "int" | "integer" | "int2" | "int4" | "smallserial" | "serial"
        | "serial2" | "serial4" | "year" => FieldType::Integer,
        "bigint" | "int8" | "bigserial" | "serial8" => FieldType::BigInteger,
        "decimal" | "numeric" | "number" | "dec" => FieldType::Decimal,
        "float" | "double" | "double precision" | "real" | "float4" | "float8" | "money" => FieldType::Float,
        "varchar" | "character varying" | "char" | "character" | "bpchar" | "nvarchar" | "nchar varying"
        | "interval" => FieldType::String,
        "text" | "tinytext" | "mediumtext" | "longtext" | "clob" | "citext" | "nchar" | "ntext" | "string" => {
            FieldType::Text
        }
        "date" => FieldType::Date,
        "time" | "timetz" | "time with time zone" | "time without time zone" => FieldType::Time,
        "datetime" | "datetime2" | "smalldatetime" | "timestamp without time zone" => FieldType::DateTime,
        "timestamp" | "timestamptz" | "timestamp with time zone" | "datetimeoffset" => FieldType::Timestamp,
        "json" | "jsonb" => FieldType::Json,
        "uuid" | "uniqueidentifier" => FieldType::Uuid,
        "blob" | "tinyblob" | "mediumblob" | "longblob" | "binary" | "varbinary" | "image" | "bytea" => {
            FieldType::Binary
        }
        "geometry" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring" | "multipolygon"
        | "geometrycollection"
            if dialect != Dialect::Postgres || name == "geometry" =>
        {
            FieldType::Geometry
        }
        _ if dialect == Dialect::Sqlite => by_affinity(name),
        _ => FieldType::Unknown,
    }
}

/// SQLite takes any words as a type and reads them by these rules (its documentation, "Determination
/// Of Column Affinity").
fn by_affinity(name: &str) -> FieldType {
    let has = |part: &str| name.contains(part);
    if has("int") {
        if has("big") { FieldType::BigInteger } else { FieldType::Integer }
    } else if has("char") {
        FieldType::String
    } else if has("clob") || has("text") {
        FieldType::Text
    } else if has("blob") {
        FieldType::Binary
    } else if has("real") || has("floa") || has("doub") {
        FieldType::Float
    } else {
        FieldType::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_come_apart() {
        assert_eq!(declared("VARCHAR(255)"), Declared { name: "varchar".into(), arguments: vec![255] });
        assert_eq!(declared("Decimal ( 10 , 5 )"), Declared { name: "decimal".into(), arguments: vec![10, 5] });
        assert_eq!(declared("int(11)  unsigned"), Declared { name: "int unsigned".into(), arguments: vec![11] });
        assert_eq!(declared(""), Declared { name: String::new(), arguments: vec![] });
        assert_eq!(declared("varchar(").name, "varchar");
    }

    #[test]
    fn types_by_engine() {
        let of = |dialect, text: &str| {
            let declared = declared(text);
            field_type(dialect, &declared.name, &declared.arguments)
        };
        assert_eq!(of(Dialect::Mysql, "tinyint(1)"), FieldType::Boolean);
        assert_eq!(of(Dialect::Mysql, "tinyint(4)"), FieldType::Integer);
        assert_eq!(of(Dialect::Mysql, "bigint(20) unsigned"), FieldType::BigInteger);
        assert_eq!(of(Dialect::Mysql, "timestamp"), FieldType::Timestamp);
        assert_eq!(of(Dialect::Mysql, "enum"), FieldType::Unknown);
        assert_eq!(of(Dialect::Postgres, "timestamp without time zone"), FieldType::DateTime);
        assert_eq!(of(Dialect::Postgres, "numeric"), FieldType::Decimal);
        assert_eq!(of(Dialect::Postgres, "text[]"), FieldType::Unknown);
        assert_eq!(of(Dialect::Postgres, "point"), FieldType::Unknown);
        assert_eq!(of(Dialect::Sqlite, "NUMERIC(10,2)"), FieldType::Decimal);
        assert_eq!(of(Dialect::Sqlite, "UNSIGNED BIG INT"), FieldType::BigInteger);
        assert_eq!(of(Dialect::Sqlite, "NATIVE CHARACTER(70)"), FieldType::String);
        assert_eq!(of(Dialect::Sqlite, ""), FieldType::Unknown);
    }
}
