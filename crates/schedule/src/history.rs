//! What has run: the record of a run, and the memory of the newest ones per schedule.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use serde::Serialize;

/// What made a tick run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Its timer.
    Timer,
    /// [`Registration::trigger`](crate::Registration::trigger).
    Manual,
    /// It made up for a missed occurrence.
    CatchUp,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It has begun and has no end yet.
    Running,
    /// It returned without error.
    Completed,
    /// It failed, panicked or was aborted.
    Failed(String),
}

/// One run of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunRecord {
    /// The schedule.
    pub name: Arc<str>,
    /// Identity of the run within the schedule: the occurrence as ISO 8601 UTC, or `manual.<dedup key>`.
    pub key: String,
    /// The nominal occurrence, the same on every replica.
    pub scheduled_at: DateTime<Utc>,
    /// When the tick began, by the clock of the replica that ran it.
    pub started_at: DateTime<Utc>,
    /// When it ended.
    pub finished_at: Option<DateTime<Utc>>,
    /// How it ended.
    pub outcome: Outcome,
    /// 1, or more when the run was taken over.
    pub attempt: u32,
    /// What made it run.
    pub origin: Origin,
    /// The replica that ran it.
    pub replica: Arc<str>,
    /// The host of that replica.
    pub host: Arc<str>,
}

/// The newest runs per schedule, in memory.
#[derive(Debug)]
pub(crate) struct History {
    limit: usize,
    runs: Mutex<HashMap<Arc<str>, VecDeque<RunRecord>>>,
}

impl History {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, runs: Mutex::new(HashMap::new()) }
    }

    pub(crate) fn push(&self, record: RunRecord) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let of_name = runs.entry(record.name.clone()).or_default();
        of_name.push_back(record);
        while of_name.len() > self.limit {
            of_name.pop_front();
        }
    }

    /// The newest first.
    pub(crate) fn of(&self, name: &str) -> Vec<RunRecord> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.get(name).map(|runs| runs.iter().rev().cloned().collect()).unwrap_or_default()
    }

    pub(crate) fn last(&self, name: &str) -> Option<RunRecord> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.get(name).and_then(VecDeque::back).cloned()
    }

    /// Forgets schedules that are neither registered nor recent; keeps the memory bounded when names come and go.
    pub(crate) fn retain(&self, keep: impl Fn(&str, &RunRecord) -> bool) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|name, runs| runs.back().is_some_and(|last| keep(name, last)));
    }
}
