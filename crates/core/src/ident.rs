//! Keys of rows. Names of collections and fields need no type of their own: they are only ever
//! taken from a [`crate::schema::Schema`].

use std::fmt;

use serde_json::Value;
use uuid::Uuid;

use crate::schema::{Field, FieldType};

/// The value of a primary or foreign key, comparable across engines.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    Int(i64),
    Uuid(Uuid),
    /// Strings, decimals and everything else by their text.
    Text(String),
}

impl Key {
    /// Reads a key as it stands in a path, a body or a list of keys. `None` when it can't be a key
    /// of this field: no row can have it.
    #[must_use]
    pub fn parse(field: &Field, value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse_text(field, text),
            Value::Number(number) => Self::parse_text(field, &number.to_string()),
            _ => None,
        }
    }

    /// See [`Key::parse`].
    #[must_use]
    pub fn parse_text(field: &Field, text: &str) -> Option<Self> {
        match field.kind {
            FieldType::Integer | FieldType::BigInteger => {
                let digits = text.strip_prefix('-').unwrap_or(text);
                if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return None;
                }
                text.parse().ok().map(Key::Int)
            }
            FieldType::Uuid => (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten().map(Key::Uuid),
            _ => (!text.contains('\0')).then(|| Key::Text(text.to_owned())),
        }
    }

    /// The key as JSON: a number for 32-bit integers, a string otherwise.
    #[must_use]
    pub fn to_json(&self, field: &Field) -> Value {
        match self {
            Key::Int(number) if field.kind == FieldType::BigInteger => number.to_string().into(),
            Key::Int(number) => (*number).into(),
            Key::Uuid(id) => id.to_string().into(),
            Key::Text(text) => text.clone().into(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Int(number) => number.fmt(f),
            Key::Uuid(id) => id.fmt(f),
            Key::Text(text) => text.fmt(f),
        }
    }
}
