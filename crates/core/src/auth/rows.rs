//! Values of the system tables in statements of this room: as each engine stores them. The road of
//! items does the same by the schema's field types; here there is no schema to ask.

use chrono::{DateTime, NaiveDateTime, Utc};
use sea_orm::QueryResult;
use sea_query::{Expr, Value};
use uuid::Uuid;

use crate::{
    error::{Error, Result},
    store::Dialect,
};

/// A uuid as a parameter: PostgreSQL has the type, the others hold its lower-case text.
pub(crate) fn uuid(dialect: Dialect, id: Uuid) -> Expr {
    match dialect {
        Dialect::Postgres => Expr::val(id),
        Dialect::Sqlite | Dialect::Mysql => Expr::val(id.hyphenated().to_string()),
    }
}

/// Uuids as parameters of a list.
pub(crate) fn uuids(dialect: Dialect, ids: impl IntoIterator<Item = Uuid>) -> Vec<Expr> {
    ids.into_iter().map(|id| uuid(dialect, id)).collect()
}

/// A moment as a parameter; SQLite holds ISO texts with milliseconds.
pub(crate) fn moment(dialect: Dialect, at: DateTime<Utc>) -> Expr {
    match dialect {
        Dialect::Postgres | Dialect::Mysql => Expr::val(at),
        Dialect::Sqlite => Expr::val(at.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()),
    }
}

/// A text that may be too long for its column (headers of clients), cut at 255 characters.
pub(crate) fn short_text(text: Option<&str>) -> Expr {
    Expr::val(Value::String(text.map(|text| text.chars().filter(|c| *c != '\0').take(255).collect())))
}

pub(crate) fn read_uuid(dialect: Dialect, row: &QueryResult, column: &str) -> Result<Option<Uuid>> {
    if dialect == Dialect::Postgres {
        return row.try_get("", column).map_err(Error::internal);
    }
    match read_text(row, column)? {
        Some(text) => Uuid::try_parse(&text).map(Some).map_err(Error::internal),
        None => Ok(None),
    }
}

pub(crate) fn read_text(row: &QueryResult, column: &str) -> Result<Option<String>> {
    row.try_get("", column).map_err(Error::internal)
}

/// A flag; null (an absent joined row) is false.
pub(crate) fn read_bool(row: &QueryResult, column: &str) -> Result<bool> {
    row.try_get::<Option<bool>>("", column).map(|flag| flag.unwrap_or(false)).map_err(Error::internal)
}

pub(crate) fn read_moment(dialect: Dialect, row: &QueryResult, column: &str) -> Result<Option<DateTime<Utc>>> {
    if dialect != Dialect::Sqlite {
        return row.try_get("", column).map_err(Error::internal);
    }
    if let Ok(text) = row.try_get::<Option<String>>("", column) {
        return Ok(text.as_deref().and_then(parse_moment));
    }
    let milliseconds: Option<i64> = row.try_get("", column).map_err(Error::internal)?;
    Ok(milliseconds.and_then(DateTime::from_timestamp_millis))
}

fn parse_moment(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
        return Some(moment.to_utc());
    }
    ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
        .map(|moment| moment.and_utc())
}
