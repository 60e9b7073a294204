//! What runs beside the ticks as long as the scheduler lives: the timer, takeovers, recoveries, trimming.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::catch_up::catch_up;
use crate::coordinator::{Answer, Orphan, Status};
use crate::history::RunRecord;
use crate::metrics::Metrics;
use crate::overlap::Ticket;
use crate::runner::{enter, run_key, spawn, timer};
use crate::scheduler::{Inner, Schedule};
use crate::spec::CatchUp;

const FIRST_TRIM: Duration = Duration::from_secs(10 * 60);
const TRIM_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// Starts what runs beside the ticks.
pub(crate) fn start(inner: &Arc<Inner>) {
    inner.background.spawn(until_shut(inner.clone(), timer(inner.clone())));
    inner.background.spawn(until_shut(inner.clone(), orphans(inner.clone())));
    inner.background.spawn(until_shut(inner.clone(), trimming(inner.clone())));
    if inner.coordinator.catches_up() {
        inner.background.spawn(until_shut(inner.clone(), recoveries(inner.clone())));
    }
}

async fn until_shut(inner: Arc<Inner>, work: impl Future<Output = ()>) {
    tokio::select! {
        () = inner.shut.cancelled() => {}
        () = work => {}
    }
}

/// Asks for missed occurrences after each recovery of the store.
async fn recoveries(inner: Arc<Inner>) {
    let mut status = inner.coordinator.status();
    loop {
        if status.wait_for(|status| !status.is_available()).await.is_err() {
            return;
        }
        if status.wait_for(Status::is_available).await.is_err() {
            return;
        }
        let state = inner.state();
        let now = inner.clock.now().timestamp_millis();
        for schedule in state.schedules.values().filter(|schedule| schedule.spec.catch_up != CatchUp::Skip) {
            catch_up(&inner, schedule, now);
        }
    }
}

/// Takes over the runs of holders that died.
async fn orphans(inner: Arc<Inner>) {
    loop {
        let orphan = inner.coordinator.next_orphan().await;
        let state = inner.state();
        if inner.stop.is_cancelled() {
            return;
        }
        // not registered here: another replica may have it
        let Some(schedule) = state.schedules.get(&orphan.claim.name) else { continue };
        // no place now: it will be offered again
        let Ok(ticket) = enter(&inner, schedule) else { continue };
        spawn(&inner, schedule, |inner, schedule| async move { inner.adopt(&schedule, orphan, ticket).await });
    }
}

impl Inner {
    async fn adopt(&self, schedule: &Arc<Schedule>, orphan: Orphan, ticket: Ticket) {
        let claim = orphan.claim.clone();
        match self.coordinator.take_over(orphan).await {
            Ok(Answer::Won(hold)) => {
                Metrics::add(&self.metrics.taken_over, 1);
                tracing::warn!(
                    schedule = &*schedule.name,
                    key = run_key(&claim),
                    "a run whose holder died was taken over"
                );
                self.run(schedule, &claim, hold, ticket).await;
            }
            Ok(Answer::Lost) => {}
            Err(error) => tracing::debug!(schedule = &*schedule.name, %error, "a takeover failed"),
        }
    }
}

async fn trimming(inner: Arc<Inner>) {
    let mut pause = FIRST_TRIM;
    loop {
        tokio::time::sleep(pause).await;
        pause = TRIM_EVERY;
        let now: DateTime<Utc> = inner.clock.now();
        let registered: Vec<Arc<str>> = inner.state().schedules.keys().cloned().collect();
        let recent = |record: &RunRecord| now - record.started_at < chrono::TimeDelta::days(1);
        inner.history.retain(|name, last| registered.iter().any(|it| **it == *name) || recent(last));
        match inner.coordinator.trim_retired(&registered).await {
            Ok(0) => {}
            Ok(trimmed) => tracing::info!(trimmed, "forgot schedules that have not run for 30 days"),
            Err(error) => tracing::debug!(%error, "retired schedules were not trimmed"),
        }
    }
}
