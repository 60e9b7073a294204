//! Creating items.

use serde_json::{Map, Value};

use crate::{
    context::Ctx,
    error::{Error, Result},
    ident::Key,
};

/// Creates items in one transaction; gives their keys in the order of the payloads.
///
/// # Errors
/// `FORBIDDEN`, `FAILED_VALIDATION`, `INVALID_PAYLOAD` and the constraint codes; nothing is written then.
pub async fn create(_ctx: &Ctx<'_>, _collection: &str, _payloads: Vec<Map<String, Value>>) -> Result<Vec<Key>> {
    Err(Error::internal("not built yet"))
}
