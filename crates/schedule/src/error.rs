//! What can be refused or go wrong, with the field named where a value was given. No store's own error type leaves here.

/// The error of a tick: whatever the handler returns.
pub type TickError = Box<dyn std::error::Error + Send + Sync>;

/// A value that was refused where it was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid {field}: {message}")]
pub struct InvalidSetting {
    /// The field at fault: `cron`, `timezone`, `every`, `name`, `bucket`, `url`, `namespace`, `catch_up`, …
    pub field: &'static str,
    /// What is wrong with it, fit for an operator.
    pub message: String,
}

impl InvalidSetting {
    /// A refusal of `field`.
    pub fn new(field: &'static str, message: impl Into<String>) -> Self {
        Self { field, message: message.into() }
    }
}

/// Why a schedule was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The spec is at fault.
    #[error(transparent)]
    Invalid(#[from] InvalidSetting),
    /// The scheduler is stopping.
    #[error("the scheduler is stopped")]
    Stopped,
}

/// Why a manual run brought no result, or which error the tick ended with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TriggerError {
    /// The tick ran and failed (or panicked).
    #[error("the tick failed: {0}")]
    Failed(String),
    /// No claim could be made: the store is away, refuses, or did not answer in time.
    #[error("the coordination store is unavailable: {0}")]
    Unavailable(String),
    /// The dedup key can't be used (empty, too long).
    #[error(transparent)]
    Invalid(#[from] InvalidSetting),
    /// The schedule or the scheduler is stopped or replaced.
    #[error("the schedule is stopped")]
    Stopped,
}
