//! `$NOW`, `$CURRENT_USER`, `$CURRENT_ROLE` and their paths, resolved once per request.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

/// What variables stand for in one request.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    pub now: DateTime<Utc>,
    /// The user's id as text; `None` when nobody is logged in.
    pub user: Option<String>,
    pub role: Option<String>,
    /// The fetched fields of the user (nested objects), for `$CURRENT_USER.<path>`.
    pub user_row: Map<String, Value>,
    pub role_row: Map<String, Value>,
}
