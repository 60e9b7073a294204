//! The newest completed occurrence under `last.<name>`. It moves only forward. The first completion is written at once, those
//! that follow within a few seconds together: what is late there costs nothing, for every run has its own marker.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use chrono::DateTime;
use tokio::time::Instant;

use super::marker::last_subject;
use super::{Nats, Refusal};
use crate::runner::iso;

/// Conflicts after which the next completion moves it.
const RETRIES: u32 = 10;
/// Between two writes of the same schedule.
const PAUSE: Duration = Duration::from_secs(5);

/// What one replica knows of a `last.<name>`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Last {
    /// Revision and occurrence written there, as far as known.
    known: Option<(u64, i64)>,
    /// The newest that was completed here.
    completed: i64,
    written_at: Option<Instant>,
}

impl Last {
    fn is_written(&self) -> bool {
        self.known.is_some_and(|(_, newest)| newest >= self.completed)
    }
}

impl Nats {
    /// Takes note of a completed occurrence; writes it now unless it was just written.
    pub(super) async fn completed(&self, name: &Arc<str>, occurrence: i64) {
        let now = {
            let mut all = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            let new = Last { known: None, completed: occurrence, written_at: None };
            let last = all.entry(name.clone()).or_insert(new);
            last.completed = last.completed.max(occurrence);
            let now = last.written_at.is_none_or(|at| at.elapsed() >= PAUSE);
            if now {
                last.written_at = Some(Instant::now());
            }
            now
        };
        if now {
            self.forward(name).await;
        }
    }

    /// Moves `last.<name>` forward to what was completed here, never back.
    async fn forward(&self, name: &Arc<str>) {
        let copy = || self.last.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied();
        let Some(Last { known, completed, .. }) = copy() else { return };
        let mut known = known;
        let key = last_subject(name);
        for _ in 0..RETRIES {
            let (revision, newest) = match known {
                Some(known) => known,
                None => match self.read(&key).await {
                    Ok(Some(entry)) => (entry.revision, parse(&entry.value).unwrap_or(i64::MIN)),
                    Ok(None) => (0, i64::MIN),
                    Err(_) => return,
                },
            };
            let written = if newest >= completed {
                Ok((revision, newest))
            } else {
                let deadline = self.settings.deadlines.command;
                self.write(&key, iso(completed).into(), revision, deadline).await.map(|revision| (revision, completed))
            };
            match written {
                Ok(written) => {
                    let mut all = self.last.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(last) = all.get_mut(name) {
                        last.known = Some(written);
                    }
                    return;
                }
                // somebody else wrote: read what
                Err(Refusal::Conflict) => known = None,
                Err(Refusal::Unavailable(_)) => return,
            }
        }
    }

    async fn forward_all(&self) {
        let unwritten: Vec<Arc<str>> = {
            let mut all = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            // what is written and old is read again when it is needed: names come and go
            all.retain(|_, last| !last.is_written() || last.written_at.is_some_and(|at| at.elapsed() < PAUSE * 12));
            all.iter().filter(|(_, last)| !last.is_written()).map(|(name, _)| name.clone()).collect()
        };
        for name in unwritten {
            self.forward(&name).await;
        }
    }
}

/// Writes what was put off, also at the end.
pub(super) async fn keep_written(nats: Arc<Nats>) {
    loop {
        tokio::select! {
            () = nats.stop.cancelled() => break,
            () = tokio::time::sleep(PAUSE) => nats.forward_all().await,
        }
    }
    nats.forward_all().await;
}

/// The occurrence under `last.<name>`, in ms since the epoch.
pub(super) fn parse(value: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(value).ok()?;
    DateTime::parse_from_rfc3339(text).ok().map(|instant| instant.timestamp_millis())
}
