//! [`Failure`]: an engine error on its way out. The client gets codes and public messages; cause
//! and call site go to the log, for admins too.

use std::{error::Error as StdError, fmt};

use actix_web::{HttpResponse, ResponseError, http::StatusCode};
use serde_json::{Map, Value, json};
use waymark_core::{Code, Error, error::database};

use super::{envelope, status};

/// What every handler gives.
pub type Answer = Result<HttpResponse, Failure>;

/// An engine error as an HTTP answer.
#[derive(Debug)]
pub struct Failure(Error);

impl Failure {
    /// The engine's error.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.0
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Failure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

impl ResponseError for Failure {
    fn status_code(&self) -> StatusCode {
        status::of(self.0.code())
    }

    fn error_response(&self) -> HttpResponse {
        note(&self.0);
        envelope::json(self.status_code(), serde_json::to_vec(&body(&self.0)).unwrap_or_default())
    }
}

/// `{"errors":[{"message":…,"extensions":{"code":…}}]}`.
#[must_use]
pub fn body(error: &Error) -> Value {
    let errors: Vec<Value> = error
        .problems()
        .map(|problem| {
            let mut extensions = Map::new();
            extensions.insert("code".to_owned(), problem.code.name().into());
            extensions.extend(problem.extensions.iter().map(|(name, value)| (name.clone(), value.clone())));
            json!({ "message": problem.message, "extensions": extensions })
        })
        .collect();
    json!({ "errors": errors })
}

/// Writes to the log what the client isn't told.
fn note(error: &Error) {
    let at = error.location();
    let causes = error.cause().map(|cause| database::for_log(cause)).unwrap_or_default();
    if matches!(error.code(), Code::Internal | Code::ServiceUnavailable) {
        tracing::error!(code = error.code().name(), %at, cause = %causes, "request failed");
    } else {
        tracing::debug!(code = error.code().name(), %at, cause = %causes, "request refused");
    }
}
