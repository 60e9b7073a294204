//! Texts, comma-separated lists and bytes.

use serde_json::Value;

use super::{Mismatch, Purpose, Typed};
use crate::{error::Code, schema::Field};

pub(super) fn nul() -> Mismatch {
    Mismatch::type_of("text without NUL characters")
}

/// Numbers and booleans are taken by their text, objects and lists by their JSON text.
pub(super) fn text(field: &Field, value: &Value, purpose: Purpose) -> Result<Typed, Mismatch> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    checked(field, text, purpose)
}

/// A list of scalars, or the text as it is stored.
pub(super) fn csv(field: &Field, value: &Value, purpose: Purpose) -> Result<Typed, Mismatch> {
    let scalar = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    };
    let text = match value {
        Value::Array(items) => items.iter().map(scalar).collect::<Option<Vec<_>>>().map(|items| items.join(",")),
        Value::Object(_) => None,
        other => scalar(other),
    };
    checked(field, text.ok_or_else(|| Mismatch::type_of("a list of texts"))?, purpose)
}

fn checked(field: &Field, text: String, purpose: Purpose) -> Result<Typed, Mismatch> {
    if text.contains('\0') {
        return Err(nul());
    }
    if purpose == Purpose::Storage
        && let Some(most) = field.column.as_ref().and_then(|column| column.max_length)
        && text.len() > most as usize
        && text.chars().count() > most as usize
    {
        return Err(Mismatch { code: Code::ValueTooLong, expected: format!("text of at most {most} characters") });
    }
    Ok(Typed::Text(text))
}

/// A text's bytes, or the `{"type":"Buffer","data":[…]}` form in which bytes are shown.
pub(super) fn bytes(value: &Value) -> Result<Typed, Mismatch> {
    let bytes = match value {
        Value::String(text) => Some(text.clone().into_bytes()),
        Value::Object(members) if members.get("type").and_then(Value::as_str) == Some("Buffer") => {
            members.get("data").and_then(Value::as_array).and_then(|items| {
                items.iter().map(|item| item.as_u64().and_then(|byte| u8::try_from(byte).ok())).collect()
            })
        }
        _ => None,
    };
    bytes.map(Typed::Bytes).ok_or_else(|| Mismatch::type_of("bytes"))
}
