//! What happens to every request and answer: log span, headers, conditional answers, CORS, exports of
//! envelopes.

pub mod cors;
pub mod edge;
pub mod export;
