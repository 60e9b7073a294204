//! From a due occurrence to its end: the timer, claims, the chain, the tick itself, catch-up and takeovers. One timer task
//! serves all schedules; each occurrence is a task of its own, owned by the scheduler's tracker.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use futures_util::FutureExt;
use tokio::sync::oneshot;

use crate::coordinator::{Answer, Claim, Hold, Orphan, Unavailable};
use crate::error::TriggerError;
use crate::history::{Origin, Outcome, RunRecord};
use crate::metrics::Metrics;
use crate::overlap::{Refused, Ticket};
use crate::scheduler::{Inner, Schedule, State, Triggered};
use crate::spec::{CatchUp, Tick, check_name};

/// Longest wait of the timer when nothing is due.
const IDLE: chrono::TimeDelta = chrono::TimeDelta::hours(1);
const FIRST_TRIM: Duration = Duration::from_secs(10 * 60);
const TRIM_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether missed occurrences of a schedule are being made up for, and up to when they should be once more.
#[derive(Debug, Default)]
pub(crate) struct CatchingUp {
    running: bool,
    until: Option<i64>,
}

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

async fn timer(inner: Arc<Inner>) {
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
            catch_up(inner, schedule, missed.until);
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
            if tokio::time::timeout(inner.coordinator.claim_deadline(), line.turn()).await.is_err() {
                Metrics::add(&inner.metrics.claims_failed, 1);
                return;
            }
            inner.ask(&schedule, claim.clone()).await
        };
        if let Ok(Some(hold)) = answer {
            inner.run(&schedule, &claim, hold, ticket).await;
        }
    });
}

/// Spawns work of a schedule: owned by the scheduler, counted by the schedule.
fn spawn<F>(inner: &Arc<Inner>, schedule: &Arc<Schedule>, work: impl FnOnce(Arc<Inner>, Arc<Schedule>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    inner.runs.spawn(schedule.runs.track_future(work(inner.clone(), schedule.clone())));
}

fn enter(inner: &Inner, schedule: &Schedule) -> Result<Ticket, Refused> {
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

fn claim_of(inner: &Inner, schedule: &Schedule, occurrence: i64, manual: Option<String>, origin: Origin) -> Claim {
    Claim { name: schedule.name.clone(), occurrence, manual, origin, now: inner.clock.now() }
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
    async fn ask(&self, schedule: &Schedule, claim: Claim) -> Result<Option<Box<dyn Hold>>, Unavailable> {
        if self.stop.is_cancelled() || schedule.stopped.is_cancelled() {
            return Ok(None);
        }
        let answer = match self.claims.acquire().await {
            Ok(_permit) => self.coordinator.claim(claim).await,
            Err(_) => return Ok(None),
        };
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
    async fn run(&self, schedule: &Arc<Schedule>, claim: &Claim, hold: Box<dyn Hold>, ticket: Ticket) -> RunRecord {
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
    let _ = status.wait_for(crate::coordinator::Status::is_available).await;
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

/// Asks for missed occurrences after each recovery of the store.
async fn recoveries(inner: Arc<Inner>) {
    let mut status = inner.coordinator.status();
    loop {
        if status.wait_for(|status| !status.is_available()).await.is_err() {
            return;
        }
        if status.wait_for(crate::coordinator::Status::is_available).await.is_err() {
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
