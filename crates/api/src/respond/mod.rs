//! Answers: statuses, error bodies, envelopes. Not here: headers common to all answers (`middleware`).

pub mod envelope;
pub mod error;
pub mod export;
pub mod status;

pub use envelope::{data, empty, page, value};
pub use error::{Answer, Failure};
