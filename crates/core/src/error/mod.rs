//! [`Error`]: what went wrong, for the client (code, message, extensions) and, apart from that and
//! never shown, for the log (cause and call site). Not here: HTTP statuses.

mod code;
pub mod database;

use std::{error::Error as StdError, fmt, panic::Location};

use serde_json::{Map, Value};

pub use code::Code;

/// The result of everything in the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One entry of an error answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub code: Code,
    /// Shown to the client: names fields and parameters, never values of others or internals.
    pub message: String,
    /// Further members of `extensions`, beside `code`.
    pub extensions: Map<String, Value>,
}

/// A failure: at least one [`Problem`], and what the log should know.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    first: Problem,
    more: Vec<Problem>,
    cause: Option<Box<dyn StdError + Send + Sync>>,
    at: &'static Location<'static>,
}

impl Error {
    /// An error with the code's own message.
    #[track_caller]
    #[must_use]
    pub fn new(code: Code) -> Self {
        Self::with_message(code, code.message())
    }

    /// An error with a message for the client.
    #[track_caller]
    #[must_use]
    pub fn with_message(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            first: Problem { code, message: message.into(), extensions: Map::new() },
            more: Vec::new(),
            cause: None,
            at: Location::caller(),
        }))
    }

    /// No permission, or no such thing: the two are told apart by nobody.
    #[track_caller]
    #[must_use]
    pub fn forbidden() -> Self {
        Self::new(Code::Forbidden)
    }

    /// A query parameter is malformed.
    #[track_caller]
    #[must_use]
    pub fn invalid_query(message: impl Into<String>) -> Self {
        Self::with_message(Code::InvalidQuery, message)
    }

    /// A request body is malformed.
    #[track_caller]
    #[must_use]
    pub fn invalid_payload(message: impl Into<String>) -> Self {
        Self::with_message(Code::InvalidPayload, message)
    }

    /// Something that is our fault or the surroundings'; the cause goes to the log only.
    #[track_caller]
    #[must_use]
    pub fn internal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let mut error = Self::new(Code::Internal);
        error.0.cause = Some(cause.into());
        error
    }

    /// Adds what the log should know; not shown to clients.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// The same error under another code, with that code's own message.
    #[must_use]
    pub fn recoded(mut self, code: Code) -> Self {
        self.0.first.code = code;
        code.message().clone_into(&mut self.0.first.message);
        self
    }

    /// Adds a member to the (first problem's) `extensions`.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.first.extensions.insert(name.to_owned(), value.into());
        self
    }

    /// One error of several problems; `None` when there are none.
    #[track_caller]
    #[must_use]
    pub fn from_problems(problems: Vec<Problem>) -> Option<Self> {
        let mut problems = problems.into_iter();
        let first = problems.next()?;
        Some(Self(Box::new(Inner { first, more: problems.collect(), cause: None, at: Location::caller() })))
    }

    /// The code of the first problem; it decides the kind of answer.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.first.code
    }

    /// All problems, at least one.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        std::iter::once(&self.0.first).chain(&self.0.more)
    }

    /// Where the error was made.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.0.at
    }

    /// The cause, for the log.
    #[must_use]
    pub fn cause(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.0.cause.as_deref()
    }
}

impl Problem {
    /// A broken validation rule; `kind` is the `type` extension (`required`, `nnull`, `gte` …).
    #[must_use]
    pub fn failed_validation(field: &str, kind: Option<&str>, message: impl Into<String>) -> Self {
        let mut extensions = Map::new();
        extensions.insert("field".to_owned(), field.into());
        if let Some(kind) = kind {
            extensions.insert("type".to_owned(), kind.into());
        }
        Self { code: Code::FailedValidation, message: message.into(), extensions }
    }
}

impl From<Problem> for Error {
    #[track_caller]
    fn from(problem: Problem) -> Self {
        Self(Box::new(Inner { first: problem, more: Vec::new(), cause: None, at: Location::caller() }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.first.code.name(), self.0.first.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.cause.as_deref().map(|cause| cause as &(dyn StdError + 'static))
    }
}
