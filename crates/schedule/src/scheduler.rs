//! The handles: open a scheduler, register schedules, ask and stop them. How occurrences run is in `runner`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::background;
use crate::catch_up::{CatchingUp, catch_up};
use crate::clock::Clock;
use crate::coordinator::{self, Coordinator, Status};
use crate::error::{InvalidSetting, RegisterError, TriggerError};
use crate::history::{History, RunRecord};
use crate::metrics::{Metrics, MetricsSnapshot};
use crate::overlap::Chain;
use crate::registration::Registration;
use crate::runner;
use crate::settings::Settings;
use crate::spec::{Cadence, CatchUp, Handler, Overlap, Spec};
use crate::table::Table;

/// Names whose chains are kept before idle ones are dropped.
const MOST_LINES: usize = 10_000;

/// Runs registered schedules. A cheap handle; clones share everything.
#[derive(Clone)]
pub struct Scheduler {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) settings: Settings,
    pub(crate) replica: Arc<str>,
    pub(crate) host: Arc<str>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) coordinator: Arc<dyn Coordinator>,
    pub(crate) metrics: Metrics,
    pub(crate) history: History,
    pub(crate) claims: Semaphore,
    /// Wakes the timer when the table changed.
    pub(crate) changed: Notify,
    state: Mutex<State>,
    /// Runs and whatever leads to them.
    pub(crate) runs: TaskTracker,
    /// Timer, watchers, the store's connection.
    pub(crate) background: TaskTracker,
    /// No new ticks.
    pub(crate) stop: CancellationToken,
    /// Running ticks should end.
    pub(crate) cancel: CancellationToken,
    /// Running ticks are dropped.
    pub(crate) abort: CancellationToken,
    /// The background ends.
    pub(crate) shut: CancellationToken,
}

/// What changes together: timers, schedules by name, and the chains that outlive them.
pub(crate) struct State {
    pub(crate) table: Table,
    pub(crate) schedules: HashMap<Arc<str>, Arc<Schedule>>,
    lines: HashMap<Arc<str>, Arc<Lines>>,
    /// Triggers without a key, for dedup within a millisecond.
    pub(crate) triggered: HashMap<Arc<str>, i64>,
}

/// The chains of one name.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// Ticks.
    pub(crate) ticks: Arc<Chain>,
    /// Claims of the timer: in order of their occurrences, for claims are monotonic.
    pub(crate) claims: Arc<Chain>,
}

/// A registered schedule.
pub(crate) struct Schedule {
    pub(crate) name: Arc<str>,
    pub(crate) spec: Spec,
    pub(crate) occurrences: crate::spec::Occurrences,
    pub(crate) zone: chrono_tz::Tz,
    pub(crate) generation: u64,
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) lines: Arc<Lines>,
    pub(crate) runs: TaskTracker,
    pub(crate) stopped: CancellationToken,
    pub(crate) catching_up: Mutex<CatchingUp>,
}

/// What [`Scheduler::list`] tells of a schedule.
#[derive(Debug, Clone)]
pub struct ScheduleInfo {
    /// Its name.
    pub name: Arc<str>,
    /// Its cadence.
    pub cadence: Cadence,
    /// The zone in use.
    pub timezone: chrono_tz::Tz,
    /// Its overlap rule.
    pub overlap: Overlap,
    /// Its catch-up rule.
    pub catch_up: CatchUp,
    /// The next occurrence.
    pub next: Option<DateTime<Utc>>,
    /// The last run that ended on this replica.
    pub last: Option<RunRecord>,
    /// Ticks running, waiting or being claimed on this replica.
    pub active: usize,
}

/// How [`Scheduler::stop`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// All ticks ended by themselves.
    Finished,
    /// Ticks were cancelled at the deadline and ended then.
    Cancelled,
    /// Ticks did not heed their cancellation and were dropped.
    Aborted,
}

impl Scheduler {
    /// Opens a scheduler. Needs a tokio runtime. A store that is away is no error: see [`Scheduler::status`].
    ///
    /// # Errors
    /// [`InvalidSetting`] with the field at fault.
    pub fn open(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, InvalidSetting> {
        settings.check()?;
        let (background, shut) = (TaskTracker::new(), CancellationToken::new());
        let coordinator = coordinator::open(&settings, &background, &shut)?;
        Ok(Self::with_coordinator(settings, clock, coordinator, background, shut))
    }

    fn with_coordinator(
        settings: Settings,
        clock: Arc<dyn Clock>,
        coordinator: Arc<dyn Coordinator>,
        background: TaskTracker,
        shut: CancellationToken,
    ) -> Self {
        let late_limit = i64::try_from(settings.late_limit.as_millis()).unwrap_or(i64::MAX / 4);
        let inner = Arc::new(Inner {
            replica: settings.replica.as_str().into(),
            host: settings.host.as_str().into(),
            clock,
            coordinator,
            metrics: Metrics::default(),
            history: History::new(settings.history_limit),
            claims: Semaphore::new(settings.concurrent_claims.min(Semaphore::MAX_PERMITS)),
            changed: Notify::new(),
            state: Mutex::new(State {
                table: Table::new(late_limit),
                schedules: HashMap::new(),
                lines: HashMap::new(),
                triggered: HashMap::new(),
            }),
            runs: TaskTracker::new(),
            background,
            stop: CancellationToken::new(),
            cancel: CancellationToken::new(),
            abort: CancellationToken::new(),
            shut,
            settings,
        });
        background::start(&inner);
        Self { inner }
    }

    /// Registers a schedule, or replaces the one of that name: nothing that was due is dropped, nothing that ran runs again,
    /// running and queued ticks go on. The registration may be dropped; the schedule stays until it is stopped.
    ///
    /// # Errors
    /// [`RegisterError::Invalid`] with the field at fault (a registered schedule of that name then stays);
    /// [`RegisterError::Stopped`].
    pub fn register(&self, spec: Spec, tick: impl Handler) -> Result<Registration, RegisterError> {
        self.register_arc(spec, Arc::new(tick))
    }

    /// [`Scheduler::register`] for a shared handler.
    ///
    /// # Errors
    /// As there.
    pub fn register_arc(&self, spec: Spec, handler: Arc<dyn Handler>) -> Result<Registration, RegisterError> {
        let inner = &self.inner;
        let occurrences = spec.compile(inner.settings.timezone)?;
        if spec.catch_up != CatchUp::Skip && !inner.coordinator.catches_up() {
            return Err(
                InvalidSetting::new("catch_up", "only the nats store knows missed occurrences; use skip").into()
            );
        }
        let zone = match &occurrences {
            crate::spec::Occurrences::Cron(cron) => cron.zone(),
            crate::spec::Occurrences::Every(_) => chrono_tz::Tz::UTC,
        };
        let name: Arc<str> = spec.name.as_str().into();
        let schedule = {
            let mut state = inner.state();
            if inner.stop.is_cancelled() {
                return Err(RegisterError::Stopped);
            }
            let now = inner.clock.now().timestamp_millis();
            // what is due belongs to what was registered when it came due
            runner::dispatch(inner, &mut state, now);
            let lines = state.lines_of(&name);
            let generation = state.table.insert(name.clone(), occurrences.clone(), now);
            let schedule = Arc::new(Schedule {
                name: name.clone(),
                spec,
                occurrences,
                zone,
                generation,
                handler,
                lines,
                runs: TaskTracker::new(),
                stopped: CancellationToken::new(),
                catching_up: Mutex::default(),
            });
            state.schedules.insert(name, schedule.clone());
            if schedule.spec.catch_up != CatchUp::Skip {
                catch_up(inner, &schedule, now);
            }
            schedule
        };
        inner.changed.notify_one();
        Ok(Registration { inner: inner.clone(), schedule })
    }

    /// Every registered schedule, by name.
    pub fn list(&self) -> Vec<ScheduleInfo> {
        let state = self.inner.state();
        let mut list: Vec<ScheduleInfo> = state
            .schedules
            .values()
            .map(|schedule| ScheduleInfo {
                name: schedule.name.clone(),
                cadence: schedule.spec.cadence.clone(),
                timezone: schedule.zone,
                overlap: schedule.spec.overlap,
                catch_up: schedule.spec.catch_up,
                next: state.table.next_of(&schedule.name).and_then(DateTime::from_timestamp_millis),
                last: self.inner.history.last(&schedule.name),
                active: schedule.lines.ticks.inside(),
            })
            .collect();
        list.sort_by(|a, b| a.name.cmp(&b.name));
        list
    }

    /// The registration of a name.
    pub fn get(&self, name: &str) -> Option<Registration> {
        let schedule = self.inner.state().schedules.get(name).cloned()?;
        Some(Registration { inner: self.inner.clone(), schedule })
    }

    /// Whether the store can be used. `local` always can.
    pub fn status(&self) -> Status {
        self.inner.coordinator.status().borrow().clone()
    }

    /// What an operator should know of the store although it can be used, in a sentence.
    pub fn problem(&self) -> Option<String> {
        self.inner.coordinator.problem()
    }

    /// [`Scheduler::status`] to be watched.
    pub fn watch_status(&self) -> watch::Receiver<Status> {
        self.inner.coordinator.status()
    }

    /// Waits until the store can be used, at most `deadline`. Tells whether it can.
    pub async fn ready(&self, deadline: Duration) -> bool {
        let mut status = self.watch_status();
        let available = status.wait_for(Status::is_available);
        matches!(tokio::time::timeout(deadline, available).await, Ok(Ok(_)))
    }

    /// What was counted.
    pub fn metrics(&self) -> MetricsSnapshot {
        self.inner.metrics.snapshot()
    }

    /// Recent runs of a schedule, the newest first: of all replicas on `nats`, of this one otherwise.
    ///
    /// # Errors
    /// [`TriggerError::Unavailable`] when the bucket can't be read.
    pub async fn history(&self, name: &str) -> Result<Vec<RunRecord>, TriggerError> {
        let stored = self.inner.coordinator.history(name, self.inner.settings.history_limit).await;
        let stored = stored.map_err(|error| TriggerError::Unavailable(error.0))?;
        Ok(stored.unwrap_or_else(|| self.inner.history.of(name)))
    }

    /// The last occurrence that the store knows of: the last completed one on `nats`, the last claimed one on `redis`.
    /// `None` for `local`, which knows its own process only.
    ///
    /// # Errors
    /// [`TriggerError::Unavailable`].
    pub async fn last_occurrence(&self, name: &str) -> Result<Option<DateTime<Utc>>, TriggerError> {
        let last = self.inner.coordinator.last_known(name).await;
        let last = last.map_err(|error| TriggerError::Unavailable(error.0))?;
        Ok(last.and_then(DateTime::from_timestamp_millis))
    }

    /// Forgets what the store knows of schedules that are not registered here and were last claimed more than 30 days
    /// ago. Done daily by itself. Returns how many.
    ///
    /// # Errors
    /// [`TriggerError::Unavailable`].
    pub async fn trim_retired(&self) -> Result<u64, TriggerError> {
        let registered: Vec<Arc<str>> = self.inner.state().schedules.keys().cloned().collect();
        let trimmed = self.inner.coordinator.trim_retired(&registered).await;
        trimmed.map_err(|error| TriggerError::Unavailable(error.0))
    }

    /// Begins no tick any more and waits for running and queued ones. At the deadline they are cancelled; what does not
    /// heed that within a second is dropped. Claims stay.
    pub async fn stop(&self, deadline: Duration) -> Stopped {
        const GRACE: Duration = Duration::from_secs(1);
        let inner = &self.inner;
        {
            // whoever registers or dispatches holds the state: after this nobody begins anything
            let _state = inner.state();
            inner.stop.cancel();
            inner.runs.close();
        }
        let mut stopped = Stopped::Finished;
        if tokio::time::timeout(deadline, inner.runs.wait()).await.is_err() {
            stopped = Stopped::Cancelled;
            inner.cancel.cancel();
            if tokio::time::timeout(GRACE, inner.runs.wait()).await.is_err() {
                stopped = Stopped::Aborted;
                inner.abort.cancel();
                let _ = tokio::time::timeout(GRACE, inner.runs.wait()).await;
            }
        }
        inner.shut.cancel();
        inner.background.close();
        let _ = tokio::time::timeout(GRACE, inner.background.wait()).await;
        stopped
    }
}

impl Inner {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn lines_of(&mut self, name: &Arc<str>) -> Arc<Lines> {
        if self.lines.len() > MOST_LINES {
            let schedules = &self.schedules;
            self.lines.retain(|name, lines| schedules.contains_key(name) || Arc::strong_count(lines) > 1);
        }
        self.lines.entry(name.clone()).or_default().clone()
    }
}
