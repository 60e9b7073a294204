//! Whether a store can be used: one state, one log line per transition.

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Utc};
use tokio::sync::watch;

/// Logged as an error when coordination becomes unavailable.
pub const UNAVAILABLE: &str =
    "Schedule coordination is unavailable, coordinated schedules do not run until the connection recovers.";
/// Logged when it can be used again.
pub const RECOVERED: &str = "Schedule coordination recovered.";

/// Whether the coordination store can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// The last probe or command went well.
    Available,
    /// Coordinated schedules don't run.
    Unavailable {
        /// Since when, by the machine's clock.
        since: DateTime<Utc>,
        /// Why: one line without secrets.
        reason: String,
    },
}

impl Status {
    /// Whether it is [`Status::Available`].
    pub fn is_available(&self) -> bool {
        *self == Self::Available
    }
}

/// The state of one store, and whether its being away has been told.
#[derive(Debug)]
pub(crate) struct Health {
    store: &'static str,
    status: watch::Sender<Status>,
    told: Mutex<bool>,
}

impl Health {
    /// Not connected yet, which nobody is told before [`Health::tell`].
    pub(crate) fn new(store: &'static str) -> Self {
        let status = Status::Unavailable { since: Utc::now(), reason: "not connected yet".to_owned() };
        Self { store, status: watch::Sender::new(status), told: Mutex::new(false) }
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Status> {
        self.status.subscribe()
    }

    pub(crate) fn is_available(&self) -> bool {
        self.status.borrow().is_available()
    }

    /// A probe went well.
    pub(crate) fn available(&self) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_available() {
            return;
        }
        self.status.send_replace(Status::Available);
        if std::mem::take(&mut *told) {
            tracing::info!(store = self.store, "{RECOVERED}");
        }
    }

    /// A command or the connection failed. Told at once when the store was available before.
    pub(crate) fn unavailable(&self, reason: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let was_available = self.is_available();
        self.status.send_modify(|status| match status {
            Status::Available => *status = Status::Unavailable { since: Utc::now(), reason: reason.to_owned() },
            Status::Unavailable { reason: known, .. } => reason.clone_into(known),
        });
        if was_available && !*told {
            *told = true;
            tracing::error!(store = self.store, reason, "{UNAVAILABLE}");
        }
    }

    /// The time for the first connection is over: says so unless it has come.
    pub(crate) fn tell(&self) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let status = self.status.borrow().clone();
        if let (Status::Unavailable { reason, .. }, false) = (status, *told) {
            *told = true;
            tracing::error!(store = self.store, reason, "{UNAVAILABLE}");
        }
    }
}
