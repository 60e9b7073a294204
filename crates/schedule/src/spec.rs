//! What a schedule is: its spec, what a tick is told, and what runs it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use tokio_util::sync::CancellationToken;

use crate::cron::CronSchedule;
use crate::error::{InvalidSetting, TickError};
use crate::history::RunRecord;

/// Longest name and dedup key in bytes.
pub(crate) const LONGEST_NAME: usize = 200;
/// Longest period of `every` in milliseconds (366 days).
const LONGEST_PERIOD_MS: u64 = 366 * 24 * 60 * 60 * 1_000;

/// When a schedule occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cadence {
    /// A cron expression of five or six fields (see [`parse_cron`](crate::parse_cron)).
    Cron(String),
    /// Every so many milliseconds (> 0). Occurrences are the multiples of the period since 1970-01-01T00:00:00Z, so
    /// they are the same on every replica, whenever it started.
    Every(u64),
}

/// What happens when an occurrence comes while one runs on this replica.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Overlap {
    /// They run side by side.
    #[default]
    Allow,
    /// The new one is dropped here (before it is claimed: another replica may have it).
    Skip,
    /// The new one waits for its turn; the queue is bounded.
    Queue,
}

/// What happens with occurrences that nobody could run. Other than `Skip` needs the `nats` store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CatchUp {
    /// They are gone.
    #[default]
    Skip,
    /// The most recent one runs.
    Last,
    /// All of them run, in order, up to a bound.
    All,
}

/// Is told of every failed run.
pub type OnError = Arc<dyn Fn(&RunRecord) + Send + Sync>;

/// A schedule to be registered.
#[derive(Clone)]
pub struct Spec {
    /// Identity across replicas and restarts; never the cron text. At most 200 bytes, no control characters, not
    /// beginning with `__`.
    pub name: String,
    /// When it occurs.
    pub cadence: Cadence,
    /// What happens when a tick meets another of its schedule on the same replica.
    pub overlap: Overlap,
    /// What happens with missed occurrences.
    pub catch_up: CatchUp,
    /// IANA zone of the cron expression; the scheduler's when `None`. Every replica must use the same.
    pub timezone: Option<String>,
    /// Is told of every failed run, after it was logged and counted.
    pub on_error: Option<OnError>,
}

impl Spec {
    /// A schedule by cron expression, overlapping allowed, nothing caught up.
    pub fn cron(name: impl Into<String>, expression: impl Into<String>) -> Self {
        Self::new(name, Cadence::Cron(expression.into()))
    }

    /// A schedule every `period_ms` milliseconds.
    pub fn every(name: impl Into<String>, period_ms: u64) -> Self {
        Self::new(name, Cadence::Every(period_ms))
    }

    /// A schedule with the defaults: [`Overlap::Allow`], [`CatchUp::Skip`], the scheduler's zone.
    pub fn new(name: impl Into<String>, cadence: Cadence) -> Self {
        Self {
            name: name.into(),
            cadence,
            overlap: Overlap::default(),
            catch_up: CatchUp::default(),
            timezone: None,
            on_error: None,
        }
    }

    /// Sets the overlap rule.
    #[must_use]
    pub fn overlap(mut self, overlap: Overlap) -> Self {
        self.overlap = overlap;
        self
    }

    /// Sets the catch-up rule.
    #[must_use]
    pub fn catch_up(mut self, catch_up: CatchUp) -> Self {
        self.catch_up = catch_up;
        self
    }

    /// Sets the zone.
    #[must_use]
    pub fn timezone(mut self, zone: impl Into<String>) -> Self {
        self.timezone = Some(zone.into());
        self
    }

    /// Sets who is told of failed runs.
    #[must_use]
    pub fn on_error(mut self, on_error: impl Fn(&RunRecord) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Arc::new(on_error));
        self
    }

    pub(crate) fn compile(&self, zone: Tz) -> Result<Occurrences, InvalidSetting> {
        check_name("name", &self.name)?;
        if self.name.starts_with("__") {
            return Err(InvalidSetting::new("name", "names that begin with \"__\" are reserved"));
        }
        match &self.cadence {
            Cadence::Every(0) => Err(InvalidSetting::new("every", "must be more than 0 ms")),
            Cadence::Every(ms) if *ms > LONGEST_PERIOD_MS => {
                Err(InvalidSetting::new("every", format!("must be at most {LONGEST_PERIOD_MS} ms (366 days)")))
            }
            Cadence::Every(ms) => {
                // a zone that nobody needs is still checked: it would fail when the cadence changes
                self.timezone.as_deref().map(crate::cron::parse_timezone).transpose()?;
                Ok(Occurrences::Every(i64::try_from(*ms).unwrap_or(i64::MAX)))
            }
            Cadence::Cron(expression) => {
                let zone = self.timezone.as_deref().map(crate::cron::parse_timezone).transpose()?.unwrap_or(zone);
                Ok(Occurrences::Cron(Box::new(CronSchedule::parse(expression, zone)?)))
            }
        }
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spec")
            .field("name", &self.name)
            .field("cadence", &self.cadence)
            .field("overlap", &self.overlap)
            .field("catch_up", &self.catch_up)
            .field("timezone", &self.timezone)
            .finish_non_exhaustive()
    }
}

/// Refuses names and keys that are empty, long or hold control characters.
pub(crate) fn check_name(field: &'static str, name: &str) -> Result<(), InvalidSetting> {
    if name.is_empty() {
        return Err(InvalidSetting::new(field, "must not be empty"));
    }
    if name.len() > LONGEST_NAME {
        return Err(InvalidSetting::new(field, format!("must be at most {LONGEST_NAME} bytes")));
    }
    if name.chars().any(char::is_control) {
        return Err(InvalidSetting::new(field, "must not hold control characters"));
    }
    Ok(())
}

/// A compiled cadence. Instants are milliseconds since the epoch.
#[derive(Debug, Clone)]
pub(crate) enum Occurrences {
    Cron(Box<CronSchedule>),
    Every(i64),
}

impl Occurrences {
    /// The first occurrence after `instant`.
    pub(crate) fn next_after(&self, instant: i64) -> Option<i64> {
        match self {
            Self::Every(period) => instant.div_euclid(*period).checked_add(1)?.checked_mul(*period),
            Self::Cron(cron) => {
                let instant = DateTime::from_timestamp_millis(instant)?;
                cron.next_after(instant).map(|next| next.timestamp_millis())
            }
        }
    }

    /// How many occurrences lie in `(after, until]`, counted up to `most`.
    pub(crate) fn count(&self, after: i64, until: i64, most: u64) -> u64 {
        if let Self::Every(period) = self {
            let count = until.div_euclid(*period) - after.div_euclid(*period);
            return u64::try_from(count).unwrap_or(0).min(most);
        }
        let mut at = after;
        let mut count = 0;
        while count < most {
            match self.next_after(at) {
                Some(next) if next <= until => (at, count) = (next, count + 1),
                _ => break,
            }
        }
        count
    }

    /// The newest `most` occurrences in `(after, until]` in order, and whether older ones were left out. Reads
    /// forward from ever earlier starts, so the cost follows `most`, not the length of the gap.
    pub(crate) fn newest(&self, after: i64, until: i64, most: usize) -> (Vec<i64>, bool) {
        let mut window = 60_i64 * 60 * 1_000;
        loop {
            let start = until.saturating_sub(window).max(after);
            let mut found = std::collections::VecDeque::new();
            let mut left_out = false;
            let mut at = start;
            while let Some(next) = self.next_after(at).filter(|next| *next <= until) {
                found.push_back(next);
                if found.len() > most {
                    found.pop_front();
                    left_out = true;
                }
                at = next;
            }
            if start <= after || left_out {
                return (found.into(), left_out);
            }
            window = window.saturating_mul(8);
        }
    }
}

/// What a run is told.
#[derive(Debug, Clone)]
pub struct Tick {
    /// The schedule.
    pub name: Arc<str>,
    /// Identity of the run within its schedule: the occurrence as ISO 8601 UTC, or `manual.<dedup key>`. Together with
    /// the name it's an idempotency key.
    pub key: String,
    /// The nominal occurrence (UTC, ms), the same on every replica; never "now" except for a trigger.
    pub scheduled_at: DateTime<Utc>,
    /// 1, or more when the run was taken over from a holder that died.
    pub attempt: u32,
    /// Cancelled when the run should end early: its lease was lost, or the scheduler's stop ran out of time.
    pub cancellation: CancellationToken,
}

/// What runs at each occurrence. Implemented for `Fn(Tick) -> impl Future<Output = Result<(), TickError>>`.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// Runs one occurrence. An error or a panic ends this run only.
    async fn run(&self, tick: Tick) -> Result<(), TickError>;
}

#[async_trait]
impl<F, Fut> Handler for F
where
    F: Fn(Tick) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), TickError>> + Send + 'static,
{
    async fn run(&self, tick: Tick) -> Result<(), TickError> {
        self(tick).await
    }
}
