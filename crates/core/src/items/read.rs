//! Reading items.

use serde_json::value::RawValue;

use crate::{
    access::Action,
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    query::Query,
};

/// The answer to a list query.
#[derive(Debug)]
pub struct Page {
    /// A JSON array of items (an object for singletons).
    pub data: Box<RawValue>,
    pub total_count: Option<u64>,
    pub filter_count: Option<u64>,
}

/// Reads a list (a singleton's object for singletons). `keys` restricts to these rows.
///
/// # Errors
/// `FORBIDDEN` for unknown collections and missing rights, `INVALID_QUERY`.
pub async fn read(_ctx: &Ctx<'_>, _collection: &str, _query: &Query, _keys: Option<&[Key]>) -> Result<Page> {
    Err(Error::internal("not built yet"))
}

/// Reads one item.
///
/// # Errors
/// `FORBIDDEN` when it is missing or not visible, else as [`read`].
pub async fn read_one(_ctx: &Ctx<'_>, _collection: &str, _key: &Key, _query: &Query) -> Result<Box<RawValue>> {
    Err(Error::internal("not built yet"))
}

/// The keys of the rows that a query selects and that the caller may `action`, in the query's order.
/// Without a `limit` in the query: all of them.
///
/// # Errors
/// As [`read`].
pub async fn read_keys(_ctx: &Ctx<'_>, _collection: &str, _action: Action, _query: &Query) -> Result<Vec<Key>> {
    Err(Error::internal("not built yet"))
}

/// Of these keys those that exist and that the caller may `action`, in any order.
///
/// # Errors
/// As [`read`].
pub async fn permitted_keys(_ctx: &Ctx<'_>, _collection: &str, _action: Action, _keys: &[Key]) -> Result<Vec<Key>> {
    Err(Error::internal("not built yet"))
}
