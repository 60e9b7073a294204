//! A JSON value checked against a field's type: the only form in which values reach a statement.
//! Not here: how a value is bound in a dialect (`plan::dialect::bind`), special fields, rules.

mod number;
mod temporal;
mod text;

#[cfg(test)]
mod tests;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    error::{Code, Error},
    schema::{Field, FieldType, Special},
};

/// A value of a field's type.
#[derive(Clone, Debug, PartialEq)]
pub enum Typed {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Digits with optional sign and point, no exponent.
    Decimal(String),
    Text(String),
    Uuid(Uuid),
    Date(NaiveDate),
    Time(NaiveTime),
    /// Wall clock without zone.
    DateTime(NaiveDateTime),
    Timestamp(DateTime<Utc>),
    Json(Value),
    Bytes(Vec<u8>),
}

/// Why a value does not fit; the caller adds collection and field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// `INVALID_PAYLOAD`, `VALUE_OUT_OF_RANGE` or `VALUE_TOO_LONG` (a query turns the first into `INVALID_QUERY`).
    pub code: Code,
    /// What is expected: "a whole number", "a date (YYYY-MM-DD)" …
    pub expected: String,
}

impl Mismatch {
    fn type_of(expected: &str) -> Self {
        Self { code: Code::InvalidPayload, expected: expected.to_owned() }
    }

    fn range(expected: impl Into<String>) -> Self {
        Self { code: Code::ValueOutOfRange, expected: expected.into() }
    }

    /// The error of a write: names the field, never the value.
    #[track_caller]
    #[must_use]
    pub fn into_error(self, collection: &str, field: &str) -> Error {
        let error = Error::with_message(self.code, format!("The field \"{field}\" takes {}.", self.expected));
        match self.code {
            Code::ValueTooLong => error.with("collection", collection).with("field", Value::Null),
            Code::ValueOutOfRange => error.with("collection", collection).with("field", field),
            _ => error,
        }
    }
}

/// What the value is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Storage,
    Comparison,
}

/// Checks and converts a value for storing in a field. Numeric texts are numbers, `0`/`1` and
/// `"true"`/`"false"` are booleans, dates are read from ISO date and date-time texts.
///
/// # Errors
/// A [`Mismatch`].
pub fn for_storage(field: &Field, value: &Value) -> Result<Typed, Mismatch> {
    convert(field, value, Purpose::Storage)
}

/// Checks and converts an operand for comparing with a field: as [`for_storage`], but neither
/// length nor column range is checked (an integer beyond 64 bits is still a mismatch).
///
/// # Errors
/// A [`Mismatch`].
pub fn for_comparison(field: &Field, value: &Value) -> Result<Typed, Mismatch> {
    convert(field, value, Purpose::Comparison).map_err(|mismatch| match mismatch.code {
        Code::ValueOutOfRange => Mismatch { code: Code::InvalidPayload, ..mismatch },
        _ => mismatch,
    })
}

/// The wall clock (UTC where a zone is given) that a value names, if it names one.
pub(crate) fn moment_of(value: &Value) -> Option<NaiveDateTime> {
    temporal::wall_clock(value)
}

fn convert(field: &Field, value: &Value, purpose: Purpose) -> Result<Typed, Mismatch> {
    if value.is_null() {
        return Ok(Typed::Null);
    }
    match field.kind {
        FieldType::Integer | FieldType::BigInteger => number::integer(field, value, purpose),
        FieldType::Float => number::float(value),
        FieldType::Decimal => number::decimal(field, value, purpose),
        FieldType::Boolean => boolean(value),
        FieldType::Date => temporal::date(value),
        FieldType::Time => temporal::time(value),
        FieldType::DateTime => temporal::date_time(value, purpose),
        FieldType::Timestamp => temporal::timestamp(value, purpose),
        FieldType::Uuid => uuid(value),
        FieldType::Json => json(value, purpose),
        FieldType::Csv => text::csv(field, value, purpose),
        FieldType::Binary => text::bytes(value),
        FieldType::String
        | FieldType::Text
        | FieldType::Hash
        | FieldType::Geometry
        | FieldType::Alias
        | FieldType::Unknown => match purpose {
            Purpose::Storage if field.special.has(Special::CastJson) => json(value, purpose),
            Purpose::Storage if field.special.has(Special::CastCsv) => text::csv(field, value, purpose),
            _ => text::text(field, value, purpose),
        },
    }
}

fn boolean(value: &Value) -> Result<Typed, Mismatch> {
    let flag = match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => match number::Digits::parse(&number.to_string()).and_then(|digits| digits.to_i64()) {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
        Value::String(text) => match text.as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    };
    flag.map(Typed::Bool).ok_or_else(|| Mismatch::type_of("true or false"))
}

fn uuid(value: &Value) -> Result<Typed, Mismatch> {
    value
        .as_str()
        .filter(|text| text.len() == 36)
        .and_then(|text| Uuid::try_parse(text).ok())
        .map(Typed::Uuid)
        .ok_or_else(|| Mismatch::type_of("a UUID"))
}

fn json(value: &Value, purpose: Purpose) -> Result<Typed, Mismatch> {
    // A client may send an object or a list as its text; any other text is a JSON string.
    let parsed = match value {
        Value::String(text) if purpose == Purpose::Storage && text.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str::<Value>(text).ok()
        }
        _ => None,
    };
    let value = parsed.unwrap_or_else(|| value.clone());
    if holds_nul(&value) {
        return Err(text::nul());
    }
    Ok(Typed::Json(value))
}

fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(holds_nul),
        Value::Object(members) => members.iter().any(|(name, value)| name.contains('\0') || holds_nul(value)),
        _ => false,
    }
}
