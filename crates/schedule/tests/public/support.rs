//! What the tests share: a recording handler, waiting with a deadline, schedulers on simulated clocks and real stores.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::watch;
use waymark_schedule::{
    Clock, Deadlines, Handler, NatsSettings, RedisSettings, Scheduler, Settings, SimulatedClock, StoreSettings, Tick,
    TickError,
};

/// Longest wait for anything that should happen.
pub const DEADLINE: Duration = Duration::from_secs(60);

pub fn at(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap().to_utc()
}

/// Waits until `condition` holds, looking every few milliseconds.
pub async fn until(what: &str, condition: impl AsyncFn() -> bool) {
    let waiting = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(DEADLINE, waiting).await.unwrap_or_else(|_| panic!("never came: {what}"));
}

/// Remembers the ticks it got.
#[derive(Clone)]
pub struct Recorder {
    ticks: Arc<watch::Sender<Vec<Tick>>>,
}

impl Recorder {
    pub fn new() -> Self {
        Self { ticks: Arc::new(watch::Sender::new(Vec::new())) }
    }

    pub fn handler(&self) -> impl Handler + use<> {
        let ticks = self.ticks.clone();
        move |tick: Tick| {
            ticks.send_modify(|all| all.push(tick));
            async { Ok::<(), TickError>(()) }
        }
    }

    /// A handler that says it began and then waits for the gate to open.
    pub fn gated(&self, gate: &Gate) -> impl Handler + use<> {
        let (ticks, gate) = (self.ticks.clone(), gate.clone());
        move |tick: Tick| {
            ticks.send_modify(|all| all.push(tick.clone()));
            let gate = gate.clone();
            async move {
                tokio::select! {
                    () = gate.passed() => Ok(()),
                    () = tick.cancellation.cancelled() => Err(TickError::from("cancelled")),
                }
            }
        }
    }

    pub fn times(&self) -> Vec<String> {
        self.ticks.borrow().iter().map(|tick| tick.scheduled_at.format("%H:%M:%S%.f").to_string()).collect()
    }

    pub fn all(&self) -> Vec<Tick> {
        self.ticks.borrow().clone()
    }

    pub fn count(&self) -> usize {
        self.ticks.borrow().len()
    }

    pub async fn wait(&self, count: usize) {
        let mut ticks = self.ticks.subscribe();
        let reached = ticks.wait_for(|ticks| ticks.len() >= count);
        if tokio::time::timeout(DEADLINE, reached).await.is_err() {
            panic!("{} of {count} ticks came", self.count());
        }
    }
}

/// Lets waiting ticks pass, a number of them.
#[derive(Clone)]
pub struct Gate(Arc<tokio::sync::Semaphore>);

impl Gate {
    pub fn closed() -> Self {
        Self(Arc::new(tokio::sync::Semaphore::new(0)))
    }

    pub fn let_pass(&self, ticks: usize) {
        self.0.add_permits(ticks);
    }

    async fn passed(&self) {
        self.0.acquire().await.unwrap().forget();
    }
}

/// A scheduler without a store on a clock that stands still.
pub fn simulated(start: &str) -> (Scheduler, Arc<SimulatedClock>) {
    let clock = Arc::new(SimulatedClock::new(at(start)));
    let scheduler = Scheduler::open(Settings::new(StoreSettings::Local), clock.clone()).unwrap();
    (scheduler, clock)
}

/// Waits until everything due has begun, and also ended when `idle`.
pub async fn settled(scheduler: &Scheduler, clock: &SimulatedClock, idle: bool) {
    until("the timer sleeps", async || {
        let asleep = clock.awaited().is_some_and(|awaited| awaited > clock.now());
        asleep && (!idle || scheduler.list().iter().all(|schedule| schedule.active == 0))
    })
    .await;
}

/// Short deadlines, so that faults show soon.
pub fn soon() -> Deadlines {
    Deadlines {
        command: Duration::from_millis(400),
        readiness: Duration::from_millis(600),
        probe_every: Duration::from_millis(100),
        redial_min: Duration::from_millis(1),
        redial_max: Duration::from_millis(20),
    }
}

/// Settings for a Redis with short deadlines.
pub fn redis(url: &str, replica: &str) -> Settings {
    let mut redis = RedisSettings::new(url, "test");
    redis.deadlines = soon();
    let mut settings = Settings::new(StoreSettings::Redis(redis));
    replica.clone_into(&mut settings.replica);
    settings
}

/// Settings for a NATS with short deadlines and a lease of a second.
pub fn nats(url: &str, replica: &str) -> Settings {
    let mut nats = NatsSettings::new(url);
    nats.deadlines = soon();
    nats.deadlines.command = Duration::from_millis(1_000);
    nats.lease = Duration::from_millis(1_000);
    let mut settings = Settings::new(StoreSettings::Nats(nats));
    replica.clone_into(&mut settings.replica);
    settings
}

/// A ready scheduler on a clock that stands still.
pub async fn on_store(settings: Settings, start: &str) -> (Scheduler, Arc<SimulatedClock>) {
    let clock = Arc::new(SimulatedClock::new(at(start)));
    let scheduler = Scheduler::open(settings, clock.clone()).unwrap();
    assert!(scheduler.ready(DEADLINE).await, "{:?}", scheduler.status());
    (scheduler, clock)
}
