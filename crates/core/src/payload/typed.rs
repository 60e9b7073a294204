//! A JSON value checked against a field's type: the only form in which values reach a statement.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use crate::{error::Code, schema::Field};

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

/// Checks and converts a value for storing in a field. Numeric texts are numbers, `0`/`1` and
/// `"true"`/`"false"` are booleans, dates are read from ISO date and date-time texts.
///
/// # Errors
/// A [`Mismatch`].
pub fn for_storage(_field: &Field, _value: &Value) -> Result<Typed, Mismatch> {
    Ok(Typed::Null)
}

/// Checks and converts an operand for comparing with a field: as [`for_storage`], but neither
/// length nor column range is checked (an integer beyond 64 bits is still a mismatch).
///
/// # Errors
/// A [`Mismatch`].
pub fn for_comparison(_field: &Field, _value: &Value) -> Result<Typed, Mismatch> {
    Ok(Typed::Null)
}
