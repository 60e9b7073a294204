//! [`Json`]: an answer as JSON text. The engine writes it, so nobody needs to check it again.

use serde_json::Value;

use crate::error::{Error, Result};

/// JSON that the engine has written itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// Only for bytes that `store::shape` or `serde_json` wrote.
    ///
    /// # Errors
    /// `INTERNAL_SERVER_ERROR` when they are no UTF-8.
    pub(super) fn written(bytes: Vec<u8>) -> Result<Self> {
        String::from_utf8(bytes).map(Self).map_err(Error::internal)
    }

    /// The text of a value.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        Self(value.to_string())
    }

    /// Two lists as one.
    pub(super) fn joined(&self, other: &Self) -> Self {
        let inner =
            |list: &Self| list.0.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or("").to_owned();
        let (mut left, right) = (inner(self), inner(other));
        if !left.is_empty() && !right.is_empty() {
            left.push(',');
        }
        Self(format!("[{left}{right}]"))
    }

    /// The text.
    #[must_use]
    pub fn get(&self) -> &str {
        &self.0
    }
}
