//! Bounds of a query, from the settings.

use super::ast::Limit;

/// How much one request may ask.
#[derive(Clone, Debug)]
pub struct QueryLimits {
    /// Dots in a path, levels of a filter or `deep` (`MAX_RELATIONAL_DEPTH`).
    pub relational_depth: usize,
    /// Rows without a `limit` (`QUERY_LIMIT_DEFAULT`).
    pub default_limit: Limit,
    /// Largest `limit` (`QUERY_LIMIT_MAX`); `None` = no ceiling.
    pub max_limit: Option<u64>,
    /// Rows one request may write (`MAX_BATCH_MUTATION`); `None` = no bound.
    pub batch_mutation: Option<u64>,
    /// Depth of brackets in a query string (`QUERYSTRING_PARSE_DEPTH`).
    pub parse_depth: usize,
    /// Entries of an indexed array in a query string (`QUERYSTRING_ARRAY_LIMIT`).
    pub array_limit: usize,
}

impl Default for QueryLimits {
    fn default() -> Self {
        Self {
            relational_depth: 10,
            default_limit: Limit::Rows(100),
            max_limit: None,
            batch_mutation: None,
            parse_depth: 10,
            array_limit: 500,
        }
    }
}
