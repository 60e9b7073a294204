//! The query of the URL and of bodies. The language itself is the engine's (`waymark_core::query`).

use serde_json::Value;
use waymark_core::{
    Result,
    query::{Query, QueryLimits, parse},
};

/// Parses a raw query string.
///
/// # Errors
/// `INVALID_QUERY`.
pub fn from_url(raw: &str, limits: &QueryLimits) -> Result<Query> {
    if raw.is_empty() { Ok(Query::default()) } else { parse::from_url(raw, limits) }
}

/// Parses the `query` member of a body.
///
/// # Errors
/// `INVALID_QUERY`.
pub fn from_body(query: &Value, limits: &QueryLimits) -> Result<Query> {
    parse::from_json(query, limits)
}
