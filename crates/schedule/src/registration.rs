//! The handle of one registered schedule.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::error::TriggerError;
use crate::history::RunRecord;
use crate::runner;
use crate::scheduler::{Inner, Schedule, Scheduler, State};

/// What a trigger led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Triggered {
    /// It ran here and ended well.
    Ran(RunRecord),
    /// The key has been used before, here or on another replica.
    Duplicate,
    /// A tick was running, and the schedule's overlap rule is `skip`.
    Skipped,
    /// The queue was full (`queue`).
    QueueFull,
}

/// A registered schedule's handle.
#[derive(Clone)]
pub struct Registration {
    pub(crate) inner: Arc<Inner>,
    pub(crate) schedule: Arc<Schedule>,
}

impl Registration {
    /// The schedule's name.
    pub fn name(&self) -> &str {
        &self.schedule.name
    }

    /// Runs it now and waits for the end; the run goes on when the caller doesn't. With a key it runs once for that key
    /// among all replicas; without, it is deduplicated on this replica only (calls within one millisecond are one).
    ///
    /// # Errors
    /// [`TriggerError::Failed`] with the tick's own error, and the other reasons there.
    pub async fn trigger(&self, dedup_key: Option<&str>) -> Result<Triggered, TriggerError> {
        runner::trigger(&self.inner, &self.schedule, dedup_key).await
    }

    /// The next occurrence; `None` when it was stopped or replaced, or has no more.
    pub fn next(&self) -> Option<DateTime<Utc>> {
        let state = self.inner.state();
        if !self.is_current(&state) {
            return None;
        }
        state.table.next_of(&self.schedule.name).and_then(DateTime::from_timestamp_millis)
    }

    /// The last run that ended on this replica.
    pub fn last(&self) -> Option<RunRecord> {
        self.inner.history.last(&self.schedule.name)
    }

    /// See [`Scheduler::history`].
    ///
    /// # Errors
    /// As there.
    pub async fn history(&self) -> Result<Vec<RunRecord>, TriggerError> {
        Scheduler { inner: self.inner.clone() }.history(&self.schedule.name).await
    }

    /// Begins no tick any more, then waits for running and queued ones (as long as they take). Claims stay. What replaced
    /// this schedule is left alone.
    pub async fn stop(&self) {
        self.retire();
        self.schedule.runs.wait().await;
    }

    /// As [`Registration::stop`], without waiting.
    pub fn retire(&self) {
        let mut state = self.inner.state();
        if state.table.remove(&self.schedule.name, self.schedule.generation) {
            state.schedules.remove(&self.schedule.name);
        }
        self.schedule.stopped.cancel();
        self.schedule.runs.close();
    }

    fn is_current(&self, state: &State) -> bool {
        let current = state.schedules.get(&self.schedule.name);
        current.is_some_and(|current| current.generation == self.schedule.generation)
    }
}
