//! Updating items.

use serde_json::{Map, Value};

use crate::{
    context::Ctx,
    error::{Error, Result},
    ident::Key,
};

/// Writes one payload to many items in one transaction; gives the distinct keys in their order.
///
/// # Errors
/// As `create`; `FORBIDDEN` when any key is missing or not permitted.
pub async fn update(
    _ctx: &Ctx<'_>,
    _collection: &str,
    _keys: &[Key],
    _payload: Map<String, Value>,
) -> Result<Vec<Key>> {
    Err(Error::internal("not built yet"))
}

/// Writes to each item its own payload (each holds its primary key) in one transaction.
///
/// # Errors
/// As [`update`]; `INVALID_PAYLOAD` when a payload lacks its key.
pub async fn update_each(_ctx: &Ctx<'_>, _collection: &str, _payloads: Vec<Map<String, Value>>) -> Result<Vec<Key>> {
    Err(Error::internal("not built yet"))
}
