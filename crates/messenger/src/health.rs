//! Whether messages flow, and the two log lines that say so: one when an episode begins, one when
//! it ends, however many reconnects lie between.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use chrono::{DateTime, Utc};
use tokio::sync::watch;

use crate::counters::Counters;

/// The text of the warn line that begins an episode.
pub const UNAVAILABLE: &str =
    "The messenger connection is unavailable, messages between replicas are lost until it recovers.";
/// The text of the info line that ends it.
pub const RECOVERED: &str = "The messenger connection recovered.";

/// Whether messages flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Every wanted subscription is acknowledged and a publish has succeeded on this connection.
    Available,
    /// Messages are lost, or the connection has not held long enough yet.
    Unavailable {
        /// Since when.
        since: DateTime<Utc>,
        /// The last reason.
        reason: Reason,
    },
}

impl Status {
    /// Whether messages flow.
    #[must_use]
    pub fn is_available(&self) -> bool {
        matches!(self, Self::Available)
    }
}

/// Why a store is unavailable. Fixed words, no addresses and no secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The first connection is being made.
    Connecting,
    /// Nobody listens there, or the name leads nowhere.
    Refused,
    /// No answer within the deadline.
    TimedOut,
    /// The connection ended.
    Disconnected,
    /// User, password or token are wrong.
    Authentication,
    /// The user may not publish or subscribe in this namespace.
    NotPermitted,
    /// The server lacks what is needed (Redis older than 6).
    Unsupported,
    /// The secure connection could not be made.
    Tls,
    /// The server answered with another error.
    Failed,
    /// The messenger was stopped.
    Stopped,
}

impl Reason {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Refused => "refused",
            Self::TimedOut => "timed out",
            Self::Disconnected => "disconnected",
            Self::Authentication => "authentication failed",
            Self::NotPermitted => "not permitted",
            Self::Unsupported => "unsupported server",
            Self::Tls => "no secure connection",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The state machine behind [`Status`].
#[derive(Debug)]
pub(crate) struct Health {
    store: &'static str,
    status: watch::Sender<Status>,
    /// How many connections have been confirmed.
    links: watch::Sender<u64>,
    episode: Mutex<Episode>,
    counters: Arc<Counters>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Episode {
    /// Nothing has failed yet.
    None,
    /// The warn line has been written.
    Open { dropped_before: u64 },
}

impl Health {
    pub(crate) fn new(store: &'static str, status: Status, counters: Arc<Counters>) -> Self {
        Self {
            store,
            status: watch::Sender::new(status),
            links: watch::Sender::new(0),
            episode: Mutex::new(Episode::None),
            counters,
        }
    }

    pub(crate) fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Status> {
        self.status.subscribe()
    }

    pub(crate) fn links(&self) -> watch::Receiver<u64> {
        self.links.subscribe()
    }

    /// A connection could not be made, or ended.
    pub(crate) fn lost(&self, reason: Reason) {
        let mut episode = self.episode.lock().unwrap_or_else(PoisonError::into_inner);
        if *episode == Episode::None {
            *episode = Episode::Open { dropped_before: self.counters.read().dropped_unavailable };
            self.counters.episodes.increase();
            tracing::warn!(store = self.store, reason = reason.as_str(), "{UNAVAILABLE}");
        }
        self.status.send_modify(|status| match status {
            Status::Available => *status = Status::Unavailable { since: Utc::now(), reason },
            Status::Unavailable { reason: last, .. } => *last = reason,
        });
    }

    /// A connection is confirmed. Returns whether it has to hold for a while before
    /// [`settled`](Self::settled) is called.
    pub(crate) fn linked(&self) -> bool {
        let open = *self.episode.lock().unwrap_or_else(PoisonError::into_inner) != Episode::None;
        if *self.links.borrow() > 0 {
            self.counters.reconnects.increase();
        }
        self.links.send_modify(|links| *links += 1);
        if !open {
            self.status.send_replace(Status::Available);
        }
        open
    }

    /// The connection has held: the episode is over.
    pub(crate) fn settled(&self) {
        let mut episode = self.episode.lock().unwrap_or_else(PoisonError::into_inner);
        if let Episode::Open { dropped_before } = *episode {
            *episode = Episode::None;
            let dropped = self.counters.read().dropped_unavailable.saturating_sub(dropped_before);
            tracing::info!(store = self.store, dropped, "{RECOVERED}");
        }
        self.status.send_replace(Status::Available);
    }

    /// Stopping is no failure: no line.
    pub(crate) fn stopped(&self) {
        self.status.send_replace(Status::Unavailable { since: Utc::now(), reason: Reason::Stopped });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health() -> (Health, Arc<Counters>) {
        let counters = Arc::new(Counters::default());
        let connecting = Status::Unavailable { since: Utc::now(), reason: Reason::Connecting };
        (Health::new("test", connecting, counters.clone()), counters)
    }

    #[test]
    fn the_first_connection_is_available_at_once() {
        let (health, counters) = health();
        assert!(!health.linked());
        assert!(health.status().is_available());
        assert_eq!((counters.read().episodes, counters.read().reconnects), (0, 0));
    }

    #[test]
    fn an_episode_lasts_until_a_connection_has_held() {
        let (health, counters) = health();
        health.linked();
        for _ in 0..3 {
            health.lost(Reason::Disconnected);
            assert!(health.linked());
            assert!(!health.status().is_available());
        }
        health.settled();
        assert!(health.status().is_available());
        assert_eq!((counters.read().episodes, counters.read().reconnects), (1, 3));
        health.lost(Reason::TimedOut);
        assert_eq!(counters.read().episodes, 2);
    }

    #[test]
    fn the_status_keeps_its_beginning_and_tells_the_last_reason() {
        let (health, _) = health();
        health.linked();
        health.lost(Reason::Disconnected);
        let Status::Unavailable { since: first, .. } = health.status() else { panic!("available") };
        health.lost(Reason::Refused);
        assert_eq!(health.status(), Status::Unavailable { since: first, reason: Reason::Refused });
    }
}
