//! A store that is absent, killed, stalled or flapping: nothing runs meanwhile, nothing comes in a burst afterwards, one line
//! per transition. The same for Redis and NATS.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use waymark_rig::{NatsServer, Proxy, RedisServer};
use waymark_schedule::{Scheduler, Settings, Spec, Status, SystemClock};

use crate::log::Log;
use crate::support::{Recorder, nats, redis, until};

enum Store {
    Redis(RedisServer),
    Nats(NatsServer),
}

impl Store {
    async fn start(name: &str) -> Self {
        match name {
            "redis" => Self::Redis(RedisServer::start(&[]).await),
            _ => Self::Nats(NatsServer::start(&[]).await),
        }
    }

    fn address(&self) -> SocketAddr {
        match self {
            Self::Redis(server) => server.address(),
            Self::Nats(server) => server.address(),
        }
    }

    fn settings(&self, address: SocketAddr) -> Settings {
        match self {
            Self::Redis(_) => redis(&format!("redis://{address}"), "a"),
            Self::Nats(_) => nats(&format!("nats://{address}"), "a"),
        }
    }

    fn kill(&mut self) {
        match self {
            Self::Redis(server) => server.kill(),
            Self::Nats(server) => server.kill(),
        }
    }

    async fn restart(&mut self) {
        match self {
            Self::Redis(server) => server.restart().await,
            Self::Nats(server) => server.restart().await,
        }
    }
}

const PERIOD_MS: i64 = 50;

fn open(settings: Settings) -> (Scheduler, Recorder) {
    let scheduler = Scheduler::open(settings, Arc::new(SystemClock::new())).unwrap();
    let recorder = Recorder::new();
    scheduler.register(Spec::every("a", PERIOD_MS.unsigned_abs()), recorder.handler()).unwrap();
    (scheduler, recorder)
}

/// The reason, once it is away.
async fn away(scheduler: &Scheduler) -> DateTime<Utc> {
    until("it is away", async || !scheduler.status().is_available()).await;
    Utc::now()
}

/// Asserts that nothing ran between the two moments and that each occurrence ran once and in time.
fn assert_no_burst(recorder: &Recorder, away: DateTime<Utc>, back: DateTime<Utc>) {
    let mut times: Vec<DateTime<Utc>> = recorder.all().iter().map(|tick| tick.scheduled_at).collect();
    // an occurrence that is due at the moment of the change may be on either side of it
    let slack = TimeDelta::milliseconds(2 * PERIOD_MS);
    let meanwhile: Vec<_> = times.iter().filter(|it| **it > away + slack && **it < back - slack).collect();
    assert!(meanwhile.is_empty(), "away {away}, back {back}, ran {meanwhile:?}");
    let runs = times.len();
    times.sort();
    times.dedup();
    assert_eq!(times.len(), runs, "twice");
}

async fn failures(scheduler: &Scheduler, more: u64) {
    let before = scheduler.metrics().claims_failed;
    until("claims fail", async || scheduler.metrics().claims_failed >= before + more).await;
}

async fn absent_at_start_then_killed(name: &str) {
    let (log, _guard) = Log::listen();
    let mut store = Store::start(name).await;
    store.kill();
    let (scheduler, recorder) = open(store.settings(store.address()));
    assert!(!scheduler.ready(Duration::from_millis(50)).await);
    assert_eq!(log.transitions(), (0, 0), "the time for the first connection is not over");
    until("it is told", async || log.transitions() == (1, 0)).await;
    failures(&scheduler, 5).await;
    assert!(matches!(scheduler.status(), Status::Unavailable { reason, .. } if !reason.is_empty()));
    store.restart().await;
    recorder.wait(5).await;
    let first = recorder.all()[0].scheduled_at;
    assert!(Utc::now() - first < TimeDelta::seconds(5));
    assert_eq!(log.transitions(), (1, 1));
    for killed in 1..=2 {
        store.kill();
        let gone = away(&scheduler).await;
        failures(&scheduler, 10).await;
        let ran = recorder.count();
        store.restart().await;
        until("it is back", async || scheduler.status().is_available()).await;
        let back = Utc::now();
        recorder.wait(ran + 5).await;
        assert_no_burst(&recorder, gone, back);
        assert_eq!(log.transitions(), (1 + killed, 1 + killed));
    }
    assert_eq!(log.others(), [] as [String; 0]);
}

#[tokio::test]
async fn redis_absent_at_start_then_killed() {
    absent_at_start_then_killed("redis").await;
}

#[tokio::test]
async fn nats_absent_at_start_then_killed() {
    absent_at_start_then_killed("nats").await;
}

async fn stalled(name: &str) {
    let (log, _guard) = Log::listen();
    let store = Store::start(name).await;
    let proxy = Proxy::start(store.address()).await;
    let (scheduler, recorder) = open(store.settings(proxy.address()));
    recorder.wait(3).await;
    let stalled = Utc::now();
    proxy.stall();
    away(&scheduler).await;
    failures(&scheduler, 40).await;
    let ran = recorder.count();
    let back = Utc::now();
    proxy.restore();
    until("it is back", async || scheduler.status().is_available()).await;
    recorder.wait(ran + 5).await;
    assert_no_burst(&recorder, stalled, back);
    assert_eq!(log.transitions(), (1, 1));
    if name == "nats" {
        // what was written by claims that had failed is no run: nobody takes it over when the lease is over
        let doubtful = async || {
            let Ok(history) = scheduler.history("a").await else { return true };
            history.iter().any(|run| run.outcome == waymark_schedule::Outcome::Running && run.scheduled_at < back)
        };
        let enough = recorder.count() + 40;
        recorder.wait(enough).await;
        until("nothing is in doubt", async || !doubtful().await).await;
        assert_no_burst(&recorder, stalled, back);
        assert!(recorder.all().iter().all(|tick| tick.attempt == 1));
    }
}

#[tokio::test]
async fn redis_stalled() {
    stalled("redis").await;
}

#[tokio::test]
async fn nats_stalled() {
    stalled("nats").await;
}

async fn a_thousand_reconnects_are_one_transition(name: &str) {
    let (log, _guard) = Log::listen();
    let store = Store::start(name).await;
    let proxy = Proxy::start(store.address()).await;
    let mut settings = store.settings(proxy.address());
    match &mut settings.store {
        waymark_schedule::StoreSettings::Redis(it) => it.deadlines.redial_max = Duration::from_millis(1),
        waymark_schedule::StoreSettings::Nats(it) => it.deadlines.redial_max = Duration::from_millis(1),
        waymark_schedule::StoreSettings::Local => {}
    }
    let (scheduler, recorder) = open(settings);
    recorder.wait(3).await;
    proxy.cut();
    away(&scheduler).await;
    until("a thousand reconnects", async || proxy.connections() > 1_000).await;
    let ran = recorder.count();
    assert_eq!(log.transitions(), (1, 0));
    proxy.restore();
    recorder.wait(ran + 3).await;
    assert_eq!(log.transitions(), (1, 1));
    // connections that work again at once: a transition is told once, if it is noticed at all
    for _ in 0..20 {
        let ran = recorder.count();
        proxy.drop_all();
        recorder.wait(ran + 2).await;
    }
    until("it is back", async || scheduler.status().is_available()).await;
    let (gone, back) = log.transitions();
    assert!(gone == back && gone <= 21, "{gone} {back}");
    let mut runs: Vec<_> = recorder.all().iter().map(|tick| (tick.scheduled_at, tick.attempt)).collect();
    runs.sort();
    assert!(runs.windows(2).all(|pair| pair[0].0 < pair[1].0), "{runs:?}");
}

#[tokio::test]
async fn redis_a_thousand_reconnects_are_one_transition() {
    a_thousand_reconnects_are_one_transition("redis").await;
}

#[tokio::test]
async fn nats_a_thousand_reconnects_are_one_transition() {
    a_thousand_reconnects_are_one_transition("nats").await;
}
