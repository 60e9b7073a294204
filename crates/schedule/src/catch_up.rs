//! Making up for occurrences that nobody ran: after registration, after a sleep, after the store's recovery.

use std::sync::{Arc, PoisonError};

use crate::coordinator::{Status, Unavailable};
use crate::history::Origin;
use crate::metrics::Metrics;
use crate::runner::{claim_of, enter, iso, spawn};
use crate::scheduler::{Inner, Schedule};
use crate::spec::CatchUp;

/// Whether missed occurrences of a schedule are being made up for, and up to when they should be once more.
#[derive(Debug, Default)]
pub(crate) struct CatchingUp {
    running: bool,
    until: Option<i64>,
}

/// Makes up for what was missed up to `until`, in the background and one after another. While the store is away it waits.
pub(crate) fn catch_up(inner: &Arc<Inner>, schedule: &Arc<Schedule>, until: i64) {
    if inner.stop.is_cancelled() {
        return;
    }
    {
        let mut state = schedule.catching_up.lock().unwrap_or_else(PoisonError::into_inner);
        state.until = state.until.max(Some(until));
        if std::mem::replace(&mut state.running, true) {
            return;
        }
    }
    spawn(inner, schedule, |inner, schedule| async move {
        loop {
            let until = {
                let mut state = schedule.catching_up.lock().unwrap_or_else(PoisonError::into_inner);
                let until = state.until.take();
                state.running = until.is_some();
                until
            };
            let Some(until) = until else { return };
            tokio::select! {
                () = inner.stop.cancelled() => return,
                () = schedule.stopped.cancelled() => return,
                _ = wait_available(&inner) => {}
            }
            if let Err(error) = inner.make_up(&schedule, until).await {
                // the recovery asks again
                tracing::debug!(schedule = &*schedule.name, %error, "catching up was interrupted");
            }
        }
    });
}

async fn wait_available(inner: &Inner) {
    let mut status = inner.coordinator.status();
    let _ = status.wait_for(Status::is_available).await;
}

impl Inner {
    async fn make_up(&self, schedule: &Arc<Schedule>, until: i64) -> Result<(), Unavailable> {
        let Some(last) = self.coordinator.last_completed(&schedule.name).await? else { return Ok(()) };
        let most = if schedule.spec.catch_up == CatchUp::Last { 1 } else { self.settings.catch_up_max };
        let (missed, left_out) = schedule.occurrences.newest(last, until, most);
        if left_out && schedule.spec.catch_up == CatchUp::All {
            tracing::warn!(
                schedule = &*schedule.name,
                since = iso(last),
                most,
                "more occurrences were missed than are made up for; the oldest are left out"
            );
        }
        for occurrence in missed {
            if self.stop.is_cancelled() || schedule.stopped.is_cancelled() {
                return Ok(());
            }
            let Ok(ticket) = enter(self, schedule) else { continue };
            let claim = claim_of(self, schedule, occurrence, None, Origin::CatchUp);
            match self.ask(schedule, claim.clone()).await? {
                Some(hold) => {
                    Metrics::add(&self.metrics.caught_up, 1);
                    self.run(schedule, &claim, hold, ticket).await;
                }
                None => {
                    drop(ticket);
                    // in order, also when another replica is at it
                    tokio::select! {
                        () = self.coordinator.settled(&claim) => {}
                        () = self.stop.cancelled() => {}
                    }
                }
            }
        }
        Ok(())
    }
}
