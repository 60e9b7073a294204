//! What happens to every request and answer: log span, headers, conditional answers, CORS.

pub mod cors;
pub mod edge;
