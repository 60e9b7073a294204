//! Leases on a real NATS: who runs, who takes over, who may write the end, and what is made up for.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::{self, kv, stream};
use chrono::{TimeDelta, Utc};
use waymark_rig::{NatsServer, Proxy};
use waymark_schedule::{
    CatchUp, Origin, Outcome, Overlap, RunRecord, Scheduler, Settings, Spec, Stopped, StoreSettings, SystemClock, Tick,
    TickError, Triggered,
};

use crate::support::{Gate, Recorder, at, nats, on_store, settled, until};

const START: &str = "2026-01-01T00:00:00Z";

async fn bucket(server: &NatsServer) -> kv::Store {
    let client = async_nats::connect(server.url()).await.unwrap();
    jetstream::new(client).get_key_value("scheduler").await.unwrap()
}

fn keys(history: &[RunRecord]) -> Vec<(String, u32, Origin)> {
    history.iter().map(|run| (run.scheduled_at.format("%H:%M:%S").to_string(), run.attempt, run.origin)).collect()
}

#[tokio::test]
async fn user_and_password_may_stand_in_the_url() {
    let server = NatsServer::start(&["--user", "keeper", "--pass", "p@ss:word"]).await;
    let url = format!("nats://keeper:p%40ss%3Aword@{}", server.address());
    let scheduler = Scheduler::open(nats(&url, "a"), Arc::new(SystemClock::new())).unwrap();
    assert!(scheduler.ready(Duration::from_secs(10)).await, "{:?}", scheduler.status());
    scheduler.stop(Duration::ZERO).await;
}

fn hour() -> Spec {
    Spec::every("a", 3_600_000)
}

#[tokio::test]
async fn one_of_two_runs_and_both_know_whatever_their_clocks_show() {
    let server = NatsServer::start(&[]).await;
    let (right, clock) = on_store(nats(&server.url(), "right"), START).await;
    let (ahead, clock_ahead) = on_store(nats(&server.url(), "ahead"), START).await;
    let recorder = Recorder::new();
    for scheduler in [&right, &ahead] {
        scheduler.register(Spec::every("a", 1_000), recorder.handler()).unwrap();
    }
    for second in 1..=6 {
        for (scheduler, clock, offset) in [(&right, &clock, 0), (&ahead, &clock_ahead, 3)] {
            settled(scheduler, clock, true).await;
            clock.set(at(START) + TimeDelta::seconds(second + offset));
            settled(scheduler, clock, true).await;
        }
    }
    // all nine, the three between the clocks included: by the one that was there in time
    let mut times = recorder.times();
    times.sort();
    assert_eq!(
        times,
        (2..=9).map(|second| format!("00:00:0{second}")).fold(vec!["00:00:01".to_owned()], |mut all, it| {
            all.push(it);
            all
        })
    );
    let history = right.history("a").await.unwrap();
    assert_eq!(history, ahead.history("a").await.unwrap());
    assert_eq!(history.len(), 9);
    assert!(history.iter().all(|run| run.outcome == Outcome::Completed && run.attempt == 1));
    let store = bucket(&server).await;
    assert!(store.get("last.a").await.unwrap().is_some());
    // what follows soon after is written together, at the latest when it ends
    right.stop(Duration::from_secs(5)).await;
    ahead.stop(Duration::from_secs(5)).await;
    assert_eq!(store.get("last.a").await.unwrap().unwrap(), "2026-01-01T00:00:09.000Z");
    let run = store.get("run.a.2026-01-01T00-00-05.000Z").await.unwrap().unwrap();
    let run: serde_json::Value = serde_json::from_slice(&run).unwrap();
    assert!(run["startedAt"].is_string() && run["completedAt"].is_string() && run["host"].is_string(), "{run}");
}

#[tokio::test]
async fn a_tick_longer_than_its_lease_is_not_doubled() {
    let server = NatsServer::start(&[]).await;
    let (one, clock) = on_store(nats(&server.url(), "one"), START).await;
    let (two, _) = on_store(nats(&server.url(), "two"), START).await;
    let (recorder, gate) = (Recorder::new(), Gate::closed());
    for scheduler in [&one, &two] {
        scheduler.register(hour(), recorder.gated(&gate)).unwrap();
    }
    settled(&one, &clock, true).await;
    clock.set(at("2026-01-01T01:00:00Z"));
    recorder.wait(1).await;
    // three and a half leases of a second, renewed by writes one can count
    let store = bucket(&server).await;
    let key = "run.a.2026-01-01T01-00-00.000Z";
    let first = store.entry(key).await.unwrap().unwrap().created;
    until("renewed for long", async || {
        let renewed = store.entry(key).await.unwrap().unwrap().created;
        renewed - first > Duration::from_millis(3_500)
    })
    .await;
    gate.let_pass(1);
    settled(&one, &clock, true).await;
    assert_eq!((recorder.count(), two.metrics().taken_over), (1, 0));
    assert_eq!(two.history("a").await.unwrap()[0].outcome, Outcome::Completed);
}

#[tokio::test]
async fn a_holder_that_is_cut_off_is_cancelled_taken_over_and_fenced() {
    let server = NatsServer::start(&[]).await;
    let proxy = Proxy::start(server.address()).await;
    let (cut, clock) = on_store(nats(&format!("nats://{}", proxy.address()), "cut"), START).await;
    let (heir, _heirs_clock) = on_store(nats(&server.url(), "heir"), START).await;
    let (first, second, gate) = (Recorder::new(), Recorder::new(), Gate::closed());
    let ended = Recorder::new();
    // deaf to its cancellation: it ends only when the gate opens, and then claims success
    let deaf = {
        let (first, gated, ended) =
            (Arc::new(first.handler()), Arc::new(Recorder::new().gated(&gate)), Arc::new(ended.handler()));
        move |tick: Tick| {
            let (first, gated, ended) = (first.clone(), gated.clone(), ended.clone());
            async move {
                use waymark_schedule::Handler;
                first.run(tick.clone()).await?;
                let mut own = tick.clone();
                own.cancellation = tokio_util::sync::CancellationToken::new();
                gated.run(own).await?;
                ended.run(tick).await
            }
        }
    };
    cut.register(hour(), deaf).unwrap();
    heir.register(hour(), second.handler()).unwrap();
    settled(&cut, &clock, true).await;
    clock.set(at("2026-01-01T01:00:00Z"));
    first.wait(1).await;
    proxy.cut();
    second.wait(1).await;
    let taken = second.all().remove(0);
    assert_eq!((taken.attempt, taken.key.as_str()), (2, "2026-01-01T01:00:00.000Z"));
    let token = first.all().remove(0).cancellation;
    until("the holder knows", async || token.is_cancelled()).await;
    until("the heir is done", async || heir.history("a").await.unwrap()[0].outcome == Outcome::Completed).await;
    // back again, the old holder's success overwrites nothing
    proxy.restore();
    assert!(cut.ready(Duration::from_secs(10)).await);
    gate.let_pass(1);
    ended.wait(1).await;
    settled(&cut, &clock, true).await;
    let history = heir.history("a").await.unwrap();
    assert_eq!((history.len(), history[0].attempt, &*history[0].replica), (1, 2, "heir"));
    assert_eq!((heir.metrics().taken_over, cut.metrics().leases_lost), (1, 1));
}

/// An open marker as a process leaves it that dies.
fn marker(name: &str, scheduled_at: &str, attempt: u32) -> bytes::Bytes {
    let marker = serde_json::json!({
        "name": name, "scheduledAt": scheduled_at, "origin": "timer", "attempt": attempt,
        "startedAt": scheduled_at, "host": "gone", "replica": "gone", "claim": "0",
    });
    marker.to_string().into()
}

#[tokio::test]
async fn what_died_while_nobody_was_there_is_taken_over_and_what_kills_everybody_given_up() {
    let server = NatsServer::start(&[]).await;
    let (first, _) = on_store(nats(&server.url(), "first"), START).await;
    first.stop(Duration::from_secs(5)).await;
    let store = bucket(&server).await;
    store.put("run.a.2025-12-31T23-00-00.000Z", marker("a", "2025-12-31T23:00:00Z", 1)).await.unwrap();
    store.put("run.a.2025-12-31T22-00-00.000Z", marker("a", "2025-12-31T22:00:00Z", 5)).await.unwrap();
    // neither of these is a's: one is registered nowhere, one lies under another's key, one is no marker
    store.put("run.b.2025-12-31T22-00-00.000Z", marker("b", "2025-12-31T22:00:00Z", 1)).await.unwrap();
    store.put("run.c.2025-12-31T22-00-00.000Z", marker("a", "2025-12-31T22:00:00Z", 1)).await.unwrap();
    store.put("run.a.garbage", "not json".into()).await.unwrap();
    let (one, _one) = on_store(nats(&server.url(), "one"), START).await;
    let (two, _two) = on_store(nats(&server.url(), "two"), START).await;
    let recorder = Recorder::new();
    one.register(hour(), recorder.handler()).unwrap();
    two.register(hour(), recorder.handler()).unwrap();
    recorder.wait(1).await;
    until("the other is given up", async || {
        let history = one.history("a").await.unwrap();
        history.iter().all(|run| run.outcome != Outcome::Running)
    })
    .await;
    let history = one.history("a").await.unwrap();
    assert_eq!(keys(&history), [("23:00:00".into(), 2, Origin::Timer), ("22:00:00".into(), 5, Origin::Timer)]);
    assert!(matches!(&history[1].outcome, Outcome::Failed(error) if error.contains("given up")));
    assert_eq!(recorder.count(), 1);
}

/// Runs `a` at 01:00, then is gone.
async fn ran_once(server: &NatsServer) {
    let (scheduler, clock) = on_store(nats(&server.url(), "before"), START).await;
    let recorder = Recorder::new();
    scheduler.register(hour().catch_up(CatchUp::All), recorder.handler()).unwrap();
    settled(&scheduler, &clock, true).await;
    assert_eq!(recorder.count(), 0, "without a last run nothing is missed");
    clock.set(at("2026-01-01T01:00:00Z"));
    recorder.wait(1).await;
    assert_eq!(scheduler.stop(Duration::from_secs(5)).await, Stopped::Finished);
}

#[tokio::test]
async fn missed_occurrences_are_made_up_for_in_order_and_bounded() {
    for (catch_up, most, expected) in [
        (CatchUp::Skip, 1_000, vec![]),
        (CatchUp::Last, 1_000, vec!["05:00:00"]),
        (CatchUp::All, 1_000, vec!["02:00:00", "03:00:00", "04:00:00", "05:00:00"]),
        (CatchUp::All, 2, vec!["04:00:00", "05:00:00"]),
    ] {
        let server = NatsServer::start(&[]).await;
        ran_once(&server).await;
        // two replicas wake at once, one of them with a chain
        let recorder = Recorder::new();
        let mut replicas = Vec::new();
        for replica in ["one", "two"] {
            let mut settings = nats(&server.url(), replica);
            settings.catch_up_max = most;
            let (scheduler, clock) = on_store(settings, "2026-01-01T05:30:00Z").await;
            let spec = hour().catch_up(catch_up).overlap(Overlap::Queue);
            scheduler.register(spec, recorder.handler()).unwrap();
            replicas.push((scheduler, clock));
        }
        recorder.wait(expected.len()).await;
        for (scheduler, clock) in &replicas {
            settled(scheduler, clock, true).await;
            clock.set(at("2026-01-01T06:00:00Z"));
            settled(scheduler, clock, true).await;
        }
        let times = recorder.times();
        assert_eq!(times, [expected, vec!["06:00:00"]].concat(), "{catch_up:?} {most}");
        let caught: u64 = replicas.iter().map(|(scheduler, _)| scheduler.metrics().caught_up).sum();
        assert_eq!(caught, recorder.count() as u64 - 1);
        for (scheduler, _) in replicas {
            scheduler.stop(Duration::from_secs(5)).await;
        }
        assert_eq!(bucket(&server).await.get("last.a").await.unwrap().unwrap(), "2026-01-01T06:00:00.000Z");
    }
}

#[tokio::test]
async fn a_machine_that_slept_makes_up_for_what_nobody_ran() {
    let server = NatsServer::start(&[]).await;
    ran_once(&server).await;
    let (scheduler, clock) = on_store(nats(&server.url(), "sleeper"), "2026-01-01T01:30:00Z").await;
    let recorder = Recorder::new();
    scheduler.register(hour().catch_up(CatchUp::All), recorder.handler()).unwrap();
    settled(&scheduler, &clock, true).await;
    clock.set(at("2026-01-01T04:30:00Z"));
    recorder.wait(3).await;
    settled(&scheduler, &clock, true).await;
    assert_eq!(recorder.times(), ["02:00:00", "03:00:00", "04:00:00"]);
}

#[tokio::test]
async fn failed_runs_are_kept_and_do_not_move_the_last_one() {
    let server = NatsServer::start(&[]).await;
    ran_once(&server).await;
    let (scheduler, clock) = on_store(nats(&server.url(), "a"), "2026-01-01T01:30:00Z").await;
    let failing = |_: Tick| async { Err::<(), TickError>("no paper".into()) };
    let schedule = scheduler.register(hour(), failing).unwrap();
    settled(&scheduler, &clock, true).await;
    clock.set(at("2026-01-01T02:00:00Z"));
    until("it failed", async || scheduler.metrics().errors == 1).await;
    settled(&scheduler, &clock, true).await;
    let history = schedule.history().await.unwrap();
    assert_eq!(history[0].outcome, Outcome::Failed("no paper".to_owned()));
    assert_eq!(bucket(&server).await.get("last.a").await.unwrap().unwrap(), "2026-01-01T01:00:00.000Z");
}

#[tokio::test]
async fn a_key_runs_once_among_all_replicas() {
    let server = NatsServer::start(&[]).await;
    let (one, _) = on_store(nats(&server.url(), "one"), START).await;
    let (two, _) = on_store(nats(&server.url(), "two"), START).await;
    let recorder = Recorder::new();
    let one = one.register(hour(), recorder.handler()).unwrap();
    let two = two.register(hour(), recorder.handler()).unwrap();
    assert!(matches!(one.trigger(Some("order 7")).await, Ok(Triggered::Ran(_))));
    assert_eq!(two.trigger(Some("order 7")).await, Ok(Triggered::Duplicate));
    assert!(matches!(one.trigger(None).await, Ok(Triggered::Ran(_))));
    assert!(matches!(two.trigger(None).await, Ok(Triggered::Ran(_))));
    let store = bucket(&server).await;
    assert!(store.get("run.a.manual.order=207").await.unwrap().is_some());
    assert_eq!(store.get("last.a").await.unwrap(), None, "only the timer's occurrences count");
    assert_eq!(two.history().await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_bucket_that_is_there_is_not_altered() {
    let server = NatsServer::start(&[]).await;
    let context = jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let age = Duration::from_secs(3_600);
    let config = stream::Config {
        name: "KV_mine".into(),
        subjects: vec!["$KV.mine.>".into()],
        max_messages_per_subject: 3,
        max_age: age,
        allow_rollup: true,
        ..Default::default()
    };
    context.create_stream(config).await.unwrap();
    let mut settings = nats(&server.url(), "a");
    let StoreSettings::Nats(nats_settings) = &mut settings.store else { unreachable!() };
    "mine".clone_into(&mut nats_settings.bucket);
    let (scheduler, clock) = on_store(settings, START).await;
    let recorder = Recorder::new();
    scheduler.register(hour(), recorder.handler()).unwrap();
    settled(&scheduler, &clock, true).await;
    clock.set(at("2026-01-01T01:00:00Z"));
    recorder.wait(1).await;
    let mut there = context.get_stream("KV_mine").await.unwrap();
    let config = &there.info().await.unwrap().config;
    assert_eq!((config.max_age, config.max_messages_per_subject, config.allow_direct), (age, 3, false));

    let (_default, _) = on_store(nats(&server.url(), "b"), START).await;
    let mut there = context.get_stream("KV_scheduler").await.unwrap();
    assert_eq!(there.info().await.unwrap().config.max_age, Duration::from_secs(7 * 24 * 3_600));
}

#[tokio::test]
async fn a_scheduler_opens_without_a_store() {
    let settings: Settings = nats("nats://127.0.0.1:1", "a");
    let scheduler = Scheduler::open(settings, Arc::new(SystemClock::new())).unwrap();
    let schedule = scheduler.register(Spec::every("a", 50), Recorder::new().handler()).unwrap();
    assert!(schedule.next().unwrap() > Utc::now() - TimeDelta::seconds(1));
    until("claims fail", async || scheduler.metrics().claims_failed > 2).await;
    assert!(schedule.history().await.is_err());
    assert_eq!(scheduler.stop(Duration::from_secs(5)).await, Stopped::Finished);
}

#[tokio::test]
async fn a_claim_without_an_answer_is_made_up_for_where_that_is_wanted() {
    let server = NatsServer::start(&[]).await;
    let (scheduler, clock) = on_store(nats(&server.url(), "a"), START).await;
    let (makes_up, skips) = (Recorder::new(), Recorder::new());
    scheduler.register(hour().catch_up(CatchUp::Last), makes_up.handler()).unwrap();
    scheduler.register(Spec::every("b", 3_600_000), skips.handler()).unwrap();
    settled(&scheduler, &clock, true).await;
    // the claims are written, and their answers come too late
    server.stop_answering();
    clock.advance(TimeDelta::hours(1));
    until("both claims have failed", async || scheduler.metrics().claims_failed >= 2).await;
    server.continue_answering();
    until("it runs after all", async || makes_up.count() == 1).await;
    assert_eq!(makes_up.times(), ["01:00:00"]);
    assert!(scheduler.ready(Duration::from_secs(10)).await);
    clock.advance(TimeDelta::hours(1));
    until("both go on", async || makes_up.count() == 2 && skips.count() == 1).await;
    assert_eq!(skips.times(), ["02:00:00"]);
    assert_eq!(makes_up.times(), ["01:00:00", "02:00:00"]);
}
