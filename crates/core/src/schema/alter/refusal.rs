//! What the database refuses while it changes tables: the client asked for something impossible, so
//! that is a 4xx; failures of the connection or the machine stay internal.

use std::error::Error as _;

use sea_orm::{DbErr, RuntimeErr};

use crate::error::{Code, Error};

/// Turns an untranslated answer of the database into `INVALID_PAYLOAD`; the answer goes to the log.
#[track_caller]
pub fn refused(error: Error) -> Error {
    if error.code() != Code::Internal {
        return error;
    }
    let answered = error.source().and_then(|cause| cause.downcast_ref::<DbErr>()).is_some_and(is_answer);
    if !answered {
        return error;
    }
    Error::invalid_payload("The database can't make this change.").because(error)
}

/// Whether the database understood and said no (and isn't shutting down, out of space, or broken).
fn is_answer(error: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(driver)) | DbErr::Query(RuntimeErr::SqlxError(driver))) = error else {
        return false;
    };
    let sqlx::Error::Database(answer) = driver.as_ref() else { return false };
    let code = answer.code().unwrap_or_default();
    if code.len() == 5 {
        return !["08", "53", "57", "58", "XX", "40", "55"].iter().any(|class| code.starts_with(class));
    }
    // SQLite: the primary result code is the low byte; 1 is "the statement is wrong", 19 a constraint.
    code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 1 | 19 | 20))
}
