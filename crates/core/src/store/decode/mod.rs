//! Driver rows → JSON bytes and keys. One file per engine; the JSON forms are in `format`.

mod format;
mod mysql;
mod postgres;
mod sqlite;

use sea_orm::QueryResult;
use sqlx::{mysql::MySqlRow, postgres::PgRow, sqlite::SqliteRow};

use super::render::{MASK, Render};
use crate::{
    error::{Error, Result},
    ident::Key,
    schema::FieldType,
};

/// A row of whichever engine.
#[derive(Clone, Copy)]
pub(crate) enum RowRef<'r> {
    Postgres(&'r PgRow),
    Mysql(&'r MySqlRow),
    Sqlite(&'r SqliteRow),
}

impl<'r> RowRef<'r> {
    pub(crate) fn of(row: &'r QueryResult) -> Result<Self> {
        if let Some(row) = row.try_as_pg_row() {
            Ok(Self::Postgres(row))
        } else if let Some(row) = row.try_as_mysql_row() {
            Ok(Self::Mysql(row))
        } else if let Some(row) = row.try_as_sqlite_row() {
            Ok(Self::Sqlite(row))
        } else {
            Err(Error::internal("a row of an unknown driver"))
        }
    }

    /// Writes a column as JSON.
    pub(crate) fn write(self, index: usize, render: Render, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Postgres(row) => postgres::write(row, index, render, out),
            Self::Mysql(row) => mysql::write(row, index, render, out),
            Self::Sqlite(row) => sqlite::write(row, index, render, out),
        }
    }

    /// Reads a column as a key of a field of this type; `None` for null.
    pub(crate) fn key(self, index: usize, kind: FieldType) -> Result<Option<Key>> {
        match self {
            Self::Postgres(row) => postgres::key(row, index),
            Self::Mysql(row) => mysql::key(row, index, kind),
            Self::Sqlite(row) => sqlite::key(row, index, kind),
        }
    }

    /// Reads a number that is never null (counts).
    pub(crate) fn count(self, index: usize) -> Result<u64> {
        match self.key(index, FieldType::BigInteger)? {
            Some(Key::Int(number)) => Ok(u64::try_from(number).unwrap_or(0)),
            _ => Err(Error::internal("a count that is no number")),
        }
    }
}

/// A driver's complaint about a value.
fn undecodable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::internal(error)
}

fn null(out: &mut Vec<u8>) {
    out.extend_from_slice(b"null");
}

fn boolean(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

fn mask(out: &mut Vec<u8>, set: bool) {
    if set {
        out.push(b'"');
        out.extend_from_slice(MASK.as_bytes());
        out.push(b'"');
    } else {
        null(out);
    }
}

fn list_length(out: &mut Vec<u8>, number: i64) -> Result<()> {
    if number < 0 {
        return Err(Error::invalid_query("\"count\" of a JSON field works on lists only."));
    }
    format::integer(out, number);
    Ok(())
}

/// An integer in one of the integer forms.
fn whole(out: &mut Vec<u8>, number: i64, render: Render) -> Result<()> {
    match render {
        Render::BigInteger | Render::Decimal(_) | Render::Rounded(_) => {
            out.push(b'"');
            match render {
                Render::Decimal(Some(scale)) => {
                    out.extend_from_slice(format::at_scale(&number.to_string(), scale).as_bytes());
                }
                _ => format::integer(out, number),
            }
            out.push(b'"');
        }
        Render::Boolean => boolean(out, number != 0),
        Render::Masked => mask(out, number != 0),
        Render::ListLength => list_length(out, number)?,
        Render::Text | Render::Csv | Render::Uuid => {
            out.push(b'"');
            format::integer(out, number);
            out.push(b'"');
        }
        _ => format::integer(out, number),
    }
    Ok(())
}

/// Decimal digits (no exponent) in one of the numeric forms.
fn decimal(out: &mut Vec<u8>, digits: &str, render: Render) {
    match render {
        Render::Decimal(scale) => {
            out.push(b'"');
            match scale {
                Some(scale) => out.extend_from_slice(format::at_scale(digits, scale).as_bytes()),
                None => out.extend_from_slice(digits.as_bytes()),
            }
            out.push(b'"');
        }
        Render::Rounded(places) => {
            out.push(b'"');
            out.extend_from_slice(format::trimmed(&format::at_scale(digits, places)).as_bytes());
            out.push(b'"');
        }
        Render::BigInteger | Render::Text => {
            out.push(b'"');
            out.extend_from_slice(digits.as_bytes());
            out.push(b'"');
        }
        _ => out.extend_from_slice(format::trimmed(digits).as_bytes()),
    }
}

/// A text in one of the forms that are stored as text.
fn stored_text(out: &mut Vec<u8>, text: &str, render: Render) {
    match render {
        Render::Json => json(out, text),
        Render::Csv => csv(out, text),
        Render::Boolean => match text {
            "1" | "true" | "t" => boolean(out, true),
            "0" | "false" | "f" => boolean(out, false),
            _ => null(out),
        },
        Render::Masked => mask(out, !text.is_empty() && text != "0"),
        Render::Integer | Render::Float | Render::Number if is_number(text) => out.extend_from_slice(text.as_bytes()),
        Render::Decimal(_) | Render::Rounded(_) | Render::BigInteger if is_number(text) => decimal(out, text, render),
        Render::Uuid => format::text(out, &text.to_ascii_lowercase()),
        _ => format::text(out, text),
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.starts_with(|first: char| first.is_ascii_digit())
        && !(digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0."))
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().filter(|byte| *byte == b'.').count() <= 1
        && !digits.ends_with('.')
}

/// Stored JSON is passed on as it is when it is JSON, else as a text.
fn json(out: &mut Vec<u8>, text: &str) {
    match serde_json::from_str::<&serde_json::value::RawValue>(text) {
        Ok(raw) => out.extend_from_slice(raw.get().as_bytes()),
        Err(_) => format::text(out, text),
    }
}

fn csv(out: &mut Vec<u8>, text: &str) {
    out.push(b'[');
    if !text.is_empty() {
        for (position, item) in text.split(',').enumerate() {
            if position > 0 {
                out.push(b',');
            }
            format::text(out, item);
        }
    }
    out.push(b']');
}

/// Bytes as the interface shows them.
fn binary(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(b"{\"type\":\"Buffer\",\"data\":[");
    for (position, byte) in bytes.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        format::integer(out, i64::from(*byte));
    }
    out.extend_from_slice(b"]}");
}
