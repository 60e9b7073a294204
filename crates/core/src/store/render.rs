//! How a column's value is written as JSON, independent of the engine it comes from.

use crate::schema::{Field, FieldType, Special};

/// The JSON form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Render {
    Integer,
    /// A 64-bit number as text.
    BigInteger,
    Float,
    /// Digits as text, at the column's scale when it is known.
    Decimal(Option<u32>),
    /// Any number as a JSON number.
    Number,
    /// A computed decimal as text: rounded to this many places, trailing zeros dropped.
    Rounded(u32),
    Boolean,
    Text,
    Uuid,
    Date,
    Time,
    DateTime,
    Timestamp,
    Json,
    Csv,
    Binary,
    /// Whether a secret is set; written as a mask or null.
    Masked,
    /// The length of a list; -1 stands for "is no list" and is refused.
    ListLength,
}

/// What clients see of a secret that is set.
pub const MASK: &str = "**********";

impl Render {
    /// The rendering of a field's column.
    pub(crate) fn of(field: &Field) -> Self {
        if field.special.has(Special::Conceal) {
            return Self::Masked;
        }
        if field.special.has(Special::CastBoolean) {
            return Self::Boolean;
        }
        if field.special.has(Special::CastJson) {
            return Self::Json;
        }
        if field.special.has(Special::CastCsv) {
            return Self::Csv;
        }
        let column = field.column.as_ref();
        match field.kind {
            FieldType::Integer => Self::Integer,
            FieldType::BigInteger => Self::BigInteger,
            // Whether a value has single precision is told by the driver, value by value.
            FieldType::Float => Self::Float,
            FieldType::Decimal => Self::Decimal(column.and_then(|column| column.numeric_scale)),
            FieldType::Boolean => Self::Boolean,
            FieldType::Uuid => Self::Uuid,
            FieldType::Date => Self::Date,
            FieldType::Time => Self::Time,
            FieldType::DateTime => Self::DateTime,
            FieldType::Timestamp => Self::Timestamp,
            FieldType::Json | FieldType::Geometry => Self::Json,
            FieldType::Binary => Self::Binary,
            FieldType::String
            | FieldType::Text
            | FieldType::Csv
            | FieldType::Hash
            | FieldType::Alias
            | FieldType::Unknown => Self::Text,
        }
    }
}
