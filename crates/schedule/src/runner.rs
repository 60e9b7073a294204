//! From a due occurrence to its end: the timer, claims, the chain, and the tick itself. One timer task
//! serves all schedules; each occurrence is a task of its own, owned by the scheduler's tracker.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat};
use futures_util::FutureExt;
use tokio::sync::oneshot;

use crate::catch_up;
use crate::coordinator::{Answer, Claim, Hold, Unavailable};
use crate::error::TriggerError;
use crate::history::{Origin, Outcome, RunRecord};
use crate::metrics::Metrics;
use crate::overlap::{Refused, Ticket};
use crate::registration::Triggered;
use crate::scheduler::{Inner, Schedule, State};
use crate::spec::{CatchUp, Tick, check_name};

/// Longest wait of the timer when nothing is due.
const IDLE: chrono::TimeDelta = chrono::TimeDelta::hours(1);

/// Runs what is due when it is due.
pub(crate) async fn timer(inner: Arc<Inner>) {
    while !inner.stop.is_cancelled() {
        let now = inner.clock.now();
        let wake = {
            let mut state = inner.state();
            if inner.stop.is_cancelled() {
                return;
            }
            dispatch(&inner, &mut state, now.timestamp_millis());
            state.table.wake().and_then(DateTime::from_timestamp_millis)
        };
        tokio::select! {
            () = inner.stop.cancelled() => {}
            () = inner.changed.notified() => {}
            () = inner.clock.sleep_until(wake.unwrap_or(now + IDLE)) => {}
        }
    }
}

/// Takes what is due and begins it. The caller holds the state, so that nobody registers in between.
pub(crate) fn dispatch(inner: &Arc<Inner>, state: &mut State, now: i64) {
    let (mut due, missed) = state.table.due(now);
    // replicas begin at different ends: they meet less often at the store, and each gets its share
    due.sort_by_cached_key(|due| (due.occurrence, share(&inner.replica, &due.name)));
    for missed in missed {
        Metrics::add(&inner.metrics.skipped_late, missed.count);
        let Some(schedule) = state.schedules.get(&missed.name) else { continue };
        if schedule.spec.catch_up == CatchUp::Skip {
            tracing::warn!(
                schedule = &*missed.name,
                at_least = missed.count,
                "occurrences skipped: the timer was too late"
            );
        } else {
            catch_up::catch_up(inner, schedule, missed.until);
        }
    }
    for due in due {
        if let Some(schedule) = state.schedules.get(&due.name) {
            begin(inner, schedule, due.occurrence);
        }
    }
}

fn share(replica: &str, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (replica, name).hash(&mut hasher);
    hasher.finish()
}

/// Begins an occurrence of the timer: places in both chains are taken here, in order.
fn begin(inner: &Arc<Inner>, schedule: &Arc<Schedule>, occurrence: i64) {
    let Some(ticket) = enter(inner, schedule).ok() else { return };
    let line = schedule.lines.claims.enter(crate::spec::Overlap::Queue, usize::MAX);
    spawn(inner, schedule, |inner, schedule| async move {
        let claim = claim_of(&inner, &schedule, occurrence, None, Origin::Timer);
        let answer = {
            let Ok(line) = line else { return };
            // the ones before may take as long as a claim may: this one then has failed with them
            let free = async {
                line.turn().await;
                inner.claims.acquire().await
            };
            let Ok(_permit) = tokio::time::timeout(inner.coordinator.claim_deadline(), free).await else {
                Metrics::add(&inner.metrics.claims_failed, 1);
                return;
            };
            inner.ask(&schedule, claim.clone()).await
        };
        if let Ok(Some(hold)) = answer {
            inner.run(&schedule, &claim, hold, ticket).await;
        }
    });
}

/// Spawns work of a schedule: owned by the scheduler, counted by the schedule.
pub(crate) fn spawn<F>(inner: &Arc<Inner>, schedule: &Arc<Schedule>, work: impl FnOnce(Arc<Inner>, Arc<Schedule>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    inner.runs.spawn(schedule.runs.track_future(work(inner.clone(), schedule.clone())));
}

pub(crate) fn enter(inner: &Inner, schedule: &Schedule) -> Result<Ticket, Refused> {
    let entered = schedule.lines.ticks.enter(schedule.spec.overlap, inner.settings.queue_limit);
    if let Err(refused) = &entered {
        match refused {
            Refused::Busy => Metrics::add(&inner.metrics.overlap_skips, 1),
            Refused::Full => Metrics::add(&inner.metrics.queue_dropped, 1),
        }
        tracing::debug!(schedule = &*schedule.name, ?refused, "tick dropped by the overlap rule");
    }
    entered
}

pub(crate) fn claim_of(
    inner: &Inner,
    schedule: &Schedule,
    occurrence: i64,
    manual: Option<String>,
    origin: Origin,
) -> Claim {
    let makes_up = schedule.spec.catch_up != CatchUp::Skip;
    Claim { name: schedule.name.clone(), occurrence, manual, origin, now: inner.clock.now(), makes_up }
}

/// Identity of a run within its schedule.
pub(crate) fn run_key(claim: &Claim) -> String {
    match &claim.manual {
        Some(key) => format!("manual.{key}"),
        None => iso(claim.occurrence),
    }
}

pub(crate) fn iso(occurrence: i64) -> String {
    let instant = DateTime::from_timestamp_millis(occurrence).unwrap_or_default();
    instant.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Runs a schedule by hand; the work is a task of its own.
pub(crate) async fn trigger(
    inner: &Arc<Inner>,
    schedule: &Arc<Schedule>,
    dedup_key: Option<&str>,
) -> Result<Triggered, TriggerError> {
    if let Some(key) = dedup_key {
        check_name("dedup_key", key)?;
    }
    let (answer, answered) = oneshot::channel();
    {
        let mut state = inner.state();
        let current = state.schedules.get(&schedule.name).is_some_and(|it| it.generation == schedule.generation);
        if inner.stop.is_cancelled() || schedule.stopped.is_cancelled() || !current {
            return Err(TriggerError::Stopped);
        }
        let now = inner.clock.now().timestamp_millis();
        if dedup_key.is_none() && state.triggered.insert(schedule.name.clone(), now) == Some(now) {
            return Ok(Triggered::Duplicate);
        }
        let ticket = match enter(inner, schedule) {
            Ok(ticket) => ticket,
            Err(Refused::Busy) => return Ok(Triggered::Skipped),
            Err(Refused::Full) => return Ok(Triggered::QueueFull),
        };
        let keyed = dedup_key.is_some();
        let key = dedup_key.map_or_else(|| format!("{}-{}", iso(now), inner.replica), str::to_owned);
        let claim = claim_of(inner, schedule, now, Some(key), Origin::Manual);
        spawn(inner, schedule, |inner, schedule| async move {
            let result = inner.trigger(&schedule, claim, keyed, ticket).await;
            // the caller may have gone
            let _ = answer.send(result);
        });
    }
    answered.await.unwrap_or(Err(TriggerError::Stopped))
}

impl Inner {
    async fn trigger(
        &self,
        schedule: &Arc<Schedule>,
        claim: Claim,
        keyed: bool,
        ticket: Ticket,
    ) -> Result<Triggered, TriggerError> {
        let answer = if keyed {
            self.counted(schedule, self.coordinator.claim(claim.clone()).await)
        } else {
            self.counted(schedule, self.coordinator.unkeyed(claim.clone()).await)
        };
        match answer.map_err(|error| TriggerError::Unavailable(error.0))? {
            None => Ok(Triggered::Duplicate),
            Some(hold) => {
                let record = self.run(schedule, &claim, hold, ticket).await;
                match record.outcome {
                    Outcome::Failed(error) => Err(TriggerError::Failed(error)),
                    _ => Ok(Triggered::Ran(record)),
                }
            }
        }
    }

    /// Asks for the right to run an occurrence. `None`: somebody else has it.
    pub(crate) async fn ask(&self, schedule: &Schedule, claim: Claim) -> Result<Option<Box<dyn Hold>>, Unavailable> {
        if self.stop.is_cancelled() || schedule.stopped.is_cancelled() {
            return Ok(None);
        }
        let answer = self.coordinator.claim(claim).await;
        self.counted(schedule, answer)
    }

    fn counted(
        &self,
        schedule: &Schedule,
        answer: Result<Answer, Unavailable>,
    ) -> Result<Option<Box<dyn Hold>>, Unavailable> {
        match answer {
            Ok(Answer::Won(hold)) => {
                Metrics::add(&self.metrics.claims_won, 1);
                Ok(Some(hold))
            }
            Ok(Answer::Lost) => {
                Metrics::add(&self.metrics.claims_lost, 1);
                Ok(None)
            }
            Err(error) => {
                Metrics::add(&self.metrics.claims_failed, 1);
                tracing::debug!(schedule = &*schedule.name, %error, "occurrence lost: no claim could be made");
                Err(error)
            }
        }
    }

    /// Runs a claimed occurrence when its turn has come. Never fails: how the tick ended is in the record.
    pub(crate) async fn run(
        &self,
        schedule: &Arc<Schedule>,
        claim: &Claim,
        hold: Box<dyn Hold>,
        ticket: Ticket,
    ) -> RunRecord {
        let attempt = hold.attempt();
        let lost = hold.lost().unwrap_or_default();
        let cancellation = self.cancel.child_token();
        tokio::select! {
            () = ticket.turn() => {}
            () = self.abort.cancelled() => {}
            () = lost.cancelled() => {}
        }
        let started_at = self.clock.now();
        let scheduled_at = DateTime::from_timestamp_millis(claim.occurrence).unwrap_or_default();
        let mut record = RunRecord {
            name: schedule.name.clone(),
            key: run_key(claim),
            scheduled_at,
            started_at,
            finished_at: None,
            outcome: Outcome::Running,
            attempt,
            origin: claim.origin,
            replica: self.replica.clone(),
            host: self.host.clone(),
        };
        record.outcome = if lost.is_cancelled() {
            Outcome::Failed("the lease was lost while it waited for its turn".to_owned())
        } else if self.abort.is_cancelled() {
            Outcome::Failed("the scheduler stopped before its turn".to_owned())
        } else {
            Metrics::add(&self.metrics.runs, 1);
            if claim.origin == Origin::Timer && attempt == 1 {
                self.metrics.late_by((started_at - scheduled_at).num_milliseconds());
            }
            let tick = Tick {
                name: schedule.name.clone(),
                key: record.key.clone(),
                scheduled_at,
                attempt,
                cancellation: cancellation.clone(),
            };
            self.tick(schedule, tick, &lost).await
        };
        let finished_at = self.clock.now();
        record.finished_at = Some(finished_at);
        if lost.is_cancelled() {
            Metrics::add(&self.metrics.leases_lost, 1);
            tracing::warn!(schedule = &*record.name, key = record.key, "the lease of a run was lost");
        }
        if let Err(error) = hold.finish(&record.outcome, finished_at).await {
            tracing::warn!(schedule = &*record.name, key = record.key, %error, "the end of a run could not be recorded");
        }
        if let Outcome::Failed(error) = &record.outcome {
            Metrics::add(&self.metrics.errors, 1);
            tracing::error!(schedule = &*record.name, key = record.key, attempt, error, "scheduled run failed");
            if let Some(on_error) = &schedule.spec.on_error {
                // a panic there must not break the chain either
                let _ = std::panic::catch_unwind(AssertUnwindSafe(|| on_error(&record)));
            }
        }
        self.history.push(record.clone());
        drop(ticket);
        record
    }

    /// The tick itself, whose errors and panics end nothing but it.
    async fn tick(&self, schedule: &Schedule, tick: Tick, lost: &tokio_util::sync::CancellationToken) -> Outcome {
        let cancellation = tick.cancellation.clone();
        let work = AssertUnwindSafe(async { schedule.handler.run(tick).await }).catch_unwind();
        tokio::pin!(work);
        let ended = loop {
            tokio::select! {
                biased;
                ended = &mut work => break ended,
                () = self.abort.cancelled() => {
                    return Outcome::Failed("aborted: it did not end in time when the scheduler stopped".to_owned());
                }
                () = lost.cancelled(), if !cancellation.is_cancelled() => cancellation.cancel(),
            }
        };
        match ended {
            Ok(Ok(())) => Outcome::Completed,
            Ok(Err(error)) => Outcome::Failed(error.to_string()),
            Err(panic) => {
                let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
                Outcome::Failed(format!("panicked: {}", message.as_deref().unwrap_or("without a message")))
            }
        }
    }
}
