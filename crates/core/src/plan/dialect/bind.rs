//! A typed value as a bound parameter that the column's database type accepts, for writing as well
//! as for comparing.

use chrono::{NaiveDateTime, Timelike};
use sea_query::{Expr, Func, Keyword, Value};

use crate::{payload::typed::Typed, schema::Field, store::Dialect};

/// The parameter (with a cast where the driver's type is not the column's). NULL is the keyword, so
/// that the database takes its type from the column.
#[must_use]
pub fn bind(dialect: Dialect, field: &Field, value: Typed) -> Expr {
    let data_type = field.column.as_ref().map_or("", |column| column.data_type.as_str());
    match value {
        Typed::Null => Expr::Keyword(Keyword::Null),
        Typed::Float(number) => Expr::val(single_precision(dialect, data_type, number)),
        Typed::Int(number) => Expr::val(number),
        Typed::Bytes(bytes) => Expr::val(bytes),
        value => match dialect {
            Dialect::Sqlite => sqlite(value),
            Dialect::Postgres => postgres(data_type, value),
            Dialect::Mysql => mysql(value),
        },
    }
}

/// What a single-precision column would make of the number, so that it equals what is stored.
/// SQLite has no such columns, whatever their declared type.
fn single_precision(dialect: Dialect, data_type: &str, number: f64) -> f64 {
    let single = match dialect {
        Dialect::Sqlite => false,
        Dialect::Postgres => matches!(data_type, "real" | "float4"),
        Dialect::Mysql => data_type.split([' ', '(']).next() == Some("float"),
    };
    if !single {
        return number;
    }
    #[expect(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
    let rounded = number as f32;
    // Beyond the range of the column: the database says so itself.
    if rounded.is_finite() { f64::from(rounded) } else { number }
}

fn sqlite(value: Typed) -> Expr {
    match value {
        Typed::Bool(flag) => Expr::val(i64::from(flag)),
        Typed::Uuid(id) => Expr::val(id.hyphenated().to_string()),
        Typed::Date(date) => Expr::val(date.format("%Y-%m-%d").to_string()),
        Typed::Time(time) if time.nanosecond() == 0 => Expr::val(time.format("%H:%M:%S").to_string()),
        Typed::Time(time) => Expr::val(time.format("%H:%M:%S%.3f").to_string()),
        Typed::DateTime(moment) => Expr::val(iso_wall_clock(moment)),
        Typed::Timestamp(moment) => Expr::val(moment.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()),
        other => plain(other),
    }
}

fn iso_wall_clock(moment: NaiveDateTime) -> String {
    let format =
        if moment.and_utc().timestamp_subsec_millis() == 0 { "%Y-%m-%dT%H:%M:%S" } else { "%Y-%m-%dT%H:%M:%S%.3f" };
    moment.format(format).to_string()
}

fn mysql(value: Typed) -> Expr {
    match value {
        Typed::Bool(flag) => Expr::val(i64::from(flag)),
        Typed::Uuid(id) => Expr::val(id.hyphenated().to_string()),
        // A text compared with a decimal column would be compared as a float.
        Typed::Decimal(digits) => {
            let places = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len()).min(30);
            Func::cast_as(Expr::val(digits), format!("DECIMAL(65,{places})")).into()
        }
        Typed::Date(date) => Expr::val(date),
        Typed::Time(time) => Expr::val(time),
        Typed::DateTime(moment) => Expr::val(moment),
        // As a wall clock of the session, which is UTC's: the type for moments ends in 2038.
        Typed::Timestamp(moment) => Expr::val(moment.naive_utc()),
        other => plain(other),
    }
}

fn postgres(data_type: &str, value: Typed) -> Expr {
    match value {
        Typed::Bool(flag) => match data_type {
            "smallint" | "integer" | "bigint" | "int2" | "int4" | "int8" => Expr::val(i64::from(flag)),
            _ => Expr::val(flag),
        },
        Typed::Uuid(id) if data_type == "uuid" => Expr::val(id),
        Typed::Uuid(id) => Expr::val(id.hyphenated().to_string()),
        Typed::Decimal(digits) => Func::cast_as(Expr::val(digits), "numeric").into(),
        Typed::Date(date) => Expr::val(date),
        Typed::Time(time) => match data_type {
            "timetz" | "time with time zone" => Func::cast_as(Expr::val(format!("{time}Z")), "timetz").into(),
            _ => Expr::val(time),
        },
        // The session's zone must not come into it: bind what the column is.
        Typed::DateTime(moment) if has_zone(data_type) => Expr::val(moment.and_utc()),
        Typed::DateTime(moment) => Expr::val(moment),
        Typed::Timestamp(moment) if !has_zone(data_type) => Expr::val(moment.naive_utc()),
        Typed::Timestamp(moment) => Expr::val(moment),
        Typed::Json(value) => match data_type {
            "json" | "jsonb" => Func::cast_as(Expr::val(value.to_string()), data_type.to_owned()).into(),
            _ => Expr::val(value.to_string()),
        },
        Typed::Text(text) => postgres_text(data_type, text),
        other => plain(other),
    }
}

fn has_zone(data_type: &str) -> bool {
    matches!(data_type, "timestamptz" | "timestamp with time zone")
}

/// Texts for everything that is no text column are cast to the column's type, by its quoted name:
/// enums, addresses, intervals, arrays (in their literal form).
fn postgres_text(data_type: &str, text: String) -> Expr {
    let value = Expr::val(text);
    match data_type {
        "" | "text" | "varchar" | "character varying" | "char" | "bpchar" | "character" | "name" => value,
        name => match name.strip_suffix("[]") {
            Some(element) => Func::cast_as_quoted(value, format!("_{element}")).into(),
            None => Func::cast_as_quoted(value, name.to_owned()).into(),
        },
    }
}

/// Texts, and what is stored as its text.
fn plain(value: Typed) -> Expr {
    match value {
        Typed::Text(text) | Typed::Decimal(text) => Expr::val(text),
        Typed::Json(value) => Expr::val(value.to_string()),
        Typed::Bool(flag) => Expr::val(flag),
        Typed::Int(number) => Expr::val(number),
        Typed::Float(number) => Expr::val(number),
        Typed::Uuid(id) => Expr::val(id),
        Typed::Date(date) => Expr::val(date),
        Typed::Time(time) => Expr::val(time),
        Typed::DateTime(moment) => Expr::val(moment),
        Typed::Timestamp(moment) => Expr::val(moment),
        Typed::Bytes(bytes) => Expr::val(bytes),
        Typed::Null => Expr::val(Value::String(None)),
    }
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;
    use sea_query::{MysqlQueryBuilder, PostgresQueryBuilder, Query, SqliteQueryBuilder};
    use serde_json::json;
    use uuid::Uuid;

    use super::{Dialect, Typed, bind};
    use crate::schema::{Column, Field, FieldType, SpecialSet};

    /// The SQL of `SELECT <value>` with the values written out.
    fn sql(dialect: Dialect, data_type: &str, value: Typed) -> String {
        let field = Field {
            name: "f".into(),
            kind: FieldType::Unknown,
            special: SpecialSet::default(),
            column: Some(Column { data_type: data_type.to_owned(), ..Column::default() }),
            validation: None,
            validation_message: None,
            meta: None,
        };
        let query = Query::select().expr(bind(dialect, &field, value)).to_owned();
        let text = match dialect {
            Dialect::Sqlite => query.to_string(SqliteQueryBuilder),
            Dialect::Postgres => query.to_string(PostgresQueryBuilder),
            Dialect::Mysql => query.to_string(MysqlQueryBuilder),
        };
        text.trim_start_matches("SELECT ").to_owned()
    }

    #[test]
    fn null_has_no_type() {
        for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql] {
            assert_eq!(sql(dialect, "uuid", Typed::Null), "NULL");
        }
    }

    #[test]
    fn postgres_gets_the_type_of_the_column() {
        let text = |data_type| sql(Dialect::Postgres, data_type, Typed::Text("x".into()));
        assert_eq!(text("varchar"), "'x'");
        assert_eq!(text("mood"), "CAST('x' AS \"mood\")");
        assert_eq!(text("int4[]"), "CAST('x' AS \"_int4\")");
        assert_eq!(sql(Dialect::Postgres, "numeric", Typed::Decimal("1.5".into())), "CAST('1.5' AS numeric)");
        assert_eq!(sql(Dialect::Postgres, "jsonb", Typed::Json(json!({"a": 1}))), "CAST('{\"a\":1}' AS jsonb)");
        assert_eq!(sql(Dialect::Postgres, "real", Typed::Float(0.1)), "0.10000000149011612");
        assert_eq!(sql(Dialect::Sqlite, "real", Typed::Float(0.1)), "0.1");
    }

    #[test]
    fn mysql_decimals_keep_their_places() {
        assert_eq!(sql(Dialect::Mysql, "decimal", Typed::Decimal("-1.50".into())), "CAST('-1.50' AS DECIMAL(65,2))");
    }

    #[test]
    fn sqlite_gets_iso_texts() {
        let sqlite = |value| sql(Dialect::Sqlite, "", value);
        let day = NaiveDate::from_ymd_opt(2024, 2, 29).unwrap();
        let moment = day.and_hms_milli_opt(1, 2, 3, 0).unwrap();
        assert_eq!(sqlite(Typed::Date(day)), "'2024-02-29'");
        assert_eq!(sqlite(Typed::Time(moment.time())), "'01:02:03'");
        assert_eq!(sqlite(Typed::DateTime(moment)), "'2024-02-29T01:02:03'");
        assert_eq!(sqlite(Typed::DateTime(day.and_hms_milli_opt(1, 2, 3, 40).unwrap())), "'2024-02-29T01:02:03.040'");
        assert_eq!(sqlite(Typed::Timestamp(moment.and_utc())), "'2024-02-29T01:02:03.000Z'");
        assert_eq!(sqlite(Typed::Bool(true)), "1");
        assert_eq!(sqlite(Typed::Uuid(Uuid::nil())), "'00000000-0000-0000-0000-000000000000'");
    }
}
