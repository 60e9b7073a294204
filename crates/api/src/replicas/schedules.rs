//! Flows with the trigger `schedule` as registered schedules: read again whenever one may have changed. Until
//! flows run whole, a tick runs the `log` operations of its flow.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use waymark_core::{
    Engine,
    system::flows::{self, LogOperation, ScheduledFlow},
};
use waymark_schedule::{CatchUp, Overlap, RegisterError, Registration, Scheduler, Spec, Tick};

/// Between two attempts to read the flows, while the database is away.
const RETRY: Duration = Duration::from_secs(1);

/// The schedules of one server.
pub(super) struct Schedules {
    scheduler: Scheduler,
    wake: Arc<Notify>,
    refused: Mutex<HashMap<String, Refusal>>,
}

/// A flow that should run on a schedule and can't.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub name: String,
    pub reason: String,
}

/// A flow as it was registered.
struct Registered {
    flow: ScheduledFlow,
    registration: Registration,
}

/// Keeps the registered schedules like the stored ones.
pub(super) struct Follower {
    schedules: Arc<Schedules>,
    engine: Arc<Engine>,
    registered: HashMap<Uuid, Registered>,
    /// The log has heard that they can't be read.
    told: bool,
}

impl Follower {
    pub(super) fn new(schedules: Arc<Schedules>, engine: Arc<Engine>) -> Self {
        Self { schedules, engine, registered: HashMap::new(), told: false }
    }

    /// Reads the stored ones; tells whether that went well.
    pub(super) async fn look(&mut self) -> bool {
        match flows::scheduled(&self.engine).await {
            Ok(stored) => {
                self.told = false;
                self.schedules.follow(&mut self.registered, stored);
                true
            }
            Err(error) => {
                if !std::mem::replace(&mut self.told, true) {
                    tracing::error!(cause = ?error.cause(), "the schedules can't be read; trying on");
                }
                false
            }
        }
    }

    /// Looks again whenever something may have changed, or after a failure, until `end`.
    pub(super) async fn run(mut self, mut read: bool, end: CancellationToken) {
        loop {
            let again = async {
                if read {
                    self.schedules.wake.notified().await;
                } else {
                    tokio::time::sleep(RETRY).await;
                }
            };
            if end.run_until_cancelled(again).await.is_none() {
                return;
            }
            read = self.look().await;
        }
    }
}

impl Schedules {
    pub(super) fn new(scheduler: Scheduler) -> Self {
        Self { scheduler, wake: Arc::default(), refused: Mutex::default() }
    }

    /// Makes the flows be read again.
    pub(super) fn wake(&self) -> Arc<Notify> {
        Arc::clone(&self.wake)
    }

    /// Whether there are flows that can't run.
    pub(super) fn refuses(&self) -> bool {
        !self.refused.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Flows that can't run, by id.
    pub(super) fn refused(&self) -> HashMap<String, Refusal> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Registers what is new or changed and stops what is gone. What stays the same is not touched.
    fn follow(
        &self,
        registered: &mut HashMap<Uuid, Registered>,
        stored: Vec<Result<ScheduledFlow, flows::BrokenFlow>>,
    ) {
        let mut refused = HashMap::new();
        let mut wanted = HashMap::with_capacity(stored.len());
        for flow in stored {
            match flow {
                Ok(flow) => {
                    wanted.insert(flow.id, flow);
                }
                Err(broken) => {
                    let reason = broken.to_string();
                    refused.insert(broken.id, Refusal { name: broken.name, reason });
                }
            }
        }
        registered.retain(|id, known| {
            let stays = wanted.contains_key(id);
            if !stays {
                // Running ticks go on to their end.
                known.registration.retire();
            }
            stays
        });
        for (id, flow) in wanted {
            if registered.get(&id).is_some_and(|known| known.flow == flow) {
                continue;
            }
            match self.scheduler.register(spec(&flow), ticks(&flow)) {
                Ok(registration) => {
                    registered.insert(id, Registered { flow, registration });
                }
                Err(error) => {
                    // What ran before is no longer wanted.
                    if let Some(known) = registered.remove(&id) {
                        known.registration.retire();
                    }
                    if error == RegisterError::Stopped {
                        return;
                    }
                    refused.insert(id.to_string(), Refusal { name: flow.name, reason: error.to_string() });
                }
            }
        }
        let mut known = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        for (flow, refusal) in refused.iter().filter(|(id, refusal)| known.get(*id) != Some(*refusal)) {
            tracing::error!(%flow, reason = %refusal.reason, "a schedule can't run");
        }
        *known = refused;
    }
}

/// The schedule of a flow. Its identity is the flow's id: neither its name nor its expression.
fn spec(flow: &ScheduledFlow) -> Spec {
    let overlap = match flow.schedule.overlap {
        flows::Overlap::Allow => Overlap::Allow,
        flows::Overlap::Skip => Overlap::Skip,
        flows::Overlap::Queue => Overlap::Queue,
    };
    let catch_up = match flow.schedule.catch_up {
        flows::CatchUp::Skip => CatchUp::Skip,
        flows::CatchUp::Last => CatchUp::Last,
        flows::CatchUp::All => CatchUp::All,
    };
    let mut spec = Spec::cron(flow.id.to_string(), &flow.schedule.cron).overlap(overlap).catch_up(catch_up);
    spec.timezone.clone_from(&flow.schedule.timezone);
    spec
}

/// What an occurrence does.
fn ticks(flow: &ScheduledFlow) -> impl waymark_schedule::Handler {
    let id = flow.id;
    let operations: Arc<[LogOperation]> = flow.operations.clone().into();
    move |tick: Tick| {
        let operations = Arc::clone(&operations);
        async move {
            tracing::debug!(flow = %id, scheduled_at = %tick.scheduled_at, attempt = tick.attempt, "a schedule runs");
            for operation in operations.iter() {
                tracing::info!(
                    target: "waymark::flows",
                    flow = %id,
                    operation = %operation.key,
                    scheduled_at = %tick.scheduled_at,
                    attempt = tick.attempt,
                    message = %text(&operation.message),
                );
            }
            Ok(())
        }
    }
}

fn text(message: &serde_json::Value) -> String {
    message.as_str().map_or_else(|| message.to_string(), str::to_owned)
}
