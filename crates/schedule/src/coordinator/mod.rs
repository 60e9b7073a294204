//! Who may run an occurrence: the port, and what all stores share. The rules of each store are in its own file.

mod health;
mod local;
mod nats;
mod redis;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use health::Health;
pub use health::{RECOVERED, Status, UNAVAILABLE};

use crate::error::InvalidSetting;
use crate::history::{Origin, Outcome, RunRecord};
use crate::settings::{Settings, StoreSettings};

/// What is claimed.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The schedule.
    pub name: Arc<str>,
    /// The occurrence in ms since the epoch; of a manual run the moment of the trigger.
    pub occurrence: i64,
    /// Dedup key of a manual run.
    pub manual: Option<String>,
    /// What makes it run.
    pub origin: Origin,
    /// Now, by the replica's clock.
    pub now: DateTime<Utc>,
    /// Whether the schedule makes up for missed occurrences: then one whose claim is in doubt is not given up.
    pub makes_up: bool,
}

/// The answer to a claim.
pub enum Answer {
    /// Run it.
    Won(Box<dyn Hold>),
    /// Another replica has or had it.
    Lost,
}

/// The right to run one occurrence.
#[async_trait]
pub trait Hold: Send + Sync {
    /// 1, or more after a takeover.
    fn attempt(&self) -> u32 {
        1
    }

    /// Cancelled when the right is lost while the run goes on; `None` when it can't be.
    fn lost(&self) -> Option<CancellationToken> {
        None
    }

    /// Reports the end of the run.
    ///
    /// # Errors
    /// [`Unavailable`] when the end could not be recorded.
    async fn finish(self: Box<Self>, outcome: &Outcome, at: DateTime<Utc>) -> Result<(), Unavailable>;
}

/// A run whose holder stopped renewing; to be taken over by [`Coordinator::take_over`].
#[derive(Debug, Clone)]
pub struct Orphan {
    /// What was claimed.
    pub claim: Claim,
    /// The attempt that a takeover begins.
    pub attempt: u32,
    /// The store's key.
    pub key: String,
    /// The revision that was seen last.
    pub revision: u64,
}

/// A claim that could not be made: the store is away, refuses, or did not answer in time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// The store that decides which replica runs an occurrence.
#[async_trait]
pub trait Coordinator: Send + Sync + 'static {
    /// Asks for the right to run. A `Won` that came too late is an error, never a right.
    ///
    /// # Errors
    /// [`Unavailable`]: the occurrence must not run here.
    async fn claim(&self, claim: Claim) -> Result<Answer, Unavailable>;

    /// How long a claim may take before it has failed.
    fn claim_deadline(&self) -> std::time::Duration {
        std::time::Duration::from_secs(5)
    }

    /// The right to a manual run without a dedup key: no claim, but a store that keeps history records it.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn unkeyed(&self, _claim: Claim) -> Result<Answer, Unavailable> {
        Ok(Answer::Won(Box::new(local::Once)))
    }

    /// Whether the store can be used, to be watched.
    fn status(&self) -> watch::Receiver<Status>;

    /// Whether missed occurrences can be known.
    fn catches_up(&self) -> bool {
        false
    }

    /// The newest completed occurrence of a schedule in ms since the epoch.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn last_completed(&self, _name: &str) -> Result<Option<i64>, Unavailable> {
        Ok(None)
    }

    /// The newest occurrence of a schedule that the store knows of, completed or claimed, in ms since the epoch.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn last_known(&self, name: &str) -> Result<Option<i64>, Unavailable> {
        self.last_completed(name).await
    }

    /// What an operator should know of the store although it can be used.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Waits until a claimed occurrence has ended wherever it runs.
    async fn settled(&self, _claim: &Claim) {}

    /// The next run whose holder died. Pending for ever where there is no such thing.
    async fn next_orphan(&self) -> Orphan {
        std::future::pending().await
    }

    /// Takes an orphan over, if it still is one.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn take_over(&self, _orphan: Orphan) -> Result<Answer, Unavailable> {
        Ok(Answer::Lost)
    }

    /// Recent runs of a schedule on all replicas, the newest first; `None` when the store keeps none.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn history(&self, _name: &str, _most: usize) -> Result<Option<Vec<RunRecord>>, Unavailable> {
        Ok(None)
    }

    /// Forgets schedules that are not among `registered` and were last claimed more than 30 days ago by the store's own
    /// clock. Returns how many.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn trim_retired(&self, _registered: &[Arc<str>]) -> Result<u64, Unavailable> {
        Ok(0)
    }
}

/// Opens the store of the settings; what it needs in the background runs in `tasks` until `stop`.
pub(crate) fn open(
    settings: &Settings,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) -> Result<Arc<dyn Coordinator>, InvalidSetting> {
    match &settings.store {
        StoreSettings::Local => Ok(Arc::new(local::Local::new())),
        StoreSettings::Redis(redis) => Ok(redis::Redis::open(redis, &settings.replica, tasks, stop)?),
        StoreSettings::Nats(nats) => {
            let nats = nats::Nats::open(nats, &settings.host, &settings.replica, tasks, stop)?;
            Ok(Arc::new(nats::Leases(nats)))
        }
    }
}
