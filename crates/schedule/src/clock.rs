//! The wall clock as a value, so that tests drive time. Deadlines and renewals don't use it: they are monotonic.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::watch;

/// Longest single sleep (1 s): after it the clock is read again, so a jump or a suspended machine is noticed.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// A wall clock. It may jump in either direction; who uses it reads it again after every sleep.
#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// The time it shows.
    fn now(&self) -> DateTime<Utc>;

    /// Waits until the clock shows `instant`. It may return earlier; the caller reads the clock again.
    async fn sleep_until(&self, instant: DateTime<Utc>);
}

/// The machine's clock, optionally shown wrong by a fixed offset.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock {
    offset: TimeDelta,
}

impl SystemClock {
    /// The machine's clock.
    pub fn new() -> Self {
        Self::default()
    }

    /// A clock that is wrong by `offset` (for tests of clocks that differ between replicas).
    pub fn with_offset(offset: TimeDelta) -> Self {
        Self { offset }
    }
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> DateTime<Utc> {
        Utc::now() + self.offset
    }

    async fn sleep_until(&self, instant: DateTime<Utc>) {
        let wait = (instant - self.now()).to_std().unwrap_or(Duration::ZERO);
        tokio::time::sleep(wait.min(LONGEST_SLEEP)).await;
    }
}

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct SimulatedClock {
    shown: watch::Sender<DateTime<Utc>>,
    asleep: Mutex<Option<DateTime<Utc>>>,
}

impl SimulatedClock {
    /// A clock that shows `start`.
    pub fn new(start: DateTime<Utc>) -> Self {
        Self { shown: watch::Sender::new(start), asleep: Mutex::new(None) }
    }

    /// Shows `instant` from now on, be it later or earlier, and wakes who sleeps.
    pub fn set(&self, instant: DateTime<Utc>) {
        self.wake_up();
        self.shown.send_replace(instant);
    }

    /// Moves on by `delta` (negative: back).
    pub fn advance(&self, delta: TimeDelta) {
        self.wake_up();
        self.shown.send_modify(|shown| *shown += delta);
    }

    /// The instant that the latest sleeper waits for; `None` until somebody has gone to sleep since the last move. A
    /// scheduler that sleeps has begun everything that was due.
    pub fn awaited(&self) -> Option<DateTime<Utc>> {
        *self.asleep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_up(&self) {
        *self.asleep.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[async_trait]
impl Clock for SimulatedClock {
    fn now(&self) -> DateTime<Utc> {
        *self.shown.borrow()
    }

    async fn sleep_until(&self, instant: DateTime<Utc>) {
        let mut shown = self.shown.subscribe();
        if *shown.borrow_and_update() >= instant {
            return;
        }
        *self.asleep.lock().unwrap_or_else(PoisonError::into_inner) = Some(instant);
        // any move wakes: the caller reads the clock again
        let _ = shown.changed().await;
    }
}
