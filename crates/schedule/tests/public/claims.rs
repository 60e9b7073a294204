//! Claims on a real Redis: once per occurrence whoever asks when, never released, and the members that are kept.

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use redis::{Commands, Connection};
use waymark_rig::{Proxy, RedisServer};
use waymark_schedule::{Scheduler, Spec, Status, StoreSettings, SystemClock, TriggerError, Triggered};

use crate::support::{Recorder, at, on_store, redis, settled, until};

const KEY: &str = "test:schedule-coordination";

fn connect(server: &RedisServer) -> Connection {
    redis::Client::open(server.url()).unwrap().get_connection().unwrap()
}

#[tokio::test]
async fn a_clock_that_is_wrong_or_a_reload_makes_no_second_run() {
    let server = RedisServer::start(&[]).await;
    let start = "2020-01-01T00:00:00Z";
    let (right, clock) = on_store(redis(&server.url(), "right"), start).await;
    let (ahead, clock_ahead) = on_store(redis(&server.url(), "ahead"), start).await;
    let (behind, clock_behind) = on_store(redis(&server.url(), "behind"), start).await;
    let all = [(&right, &clock), (&ahead, &clock_ahead), (&behind, &clock_behind)];
    let recorder = Recorder::new();
    for (scheduler, _) in all {
        scheduler.register(Spec::every("a", 1_000), recorder.handler()).unwrap();
    }
    for second in 1..=10 {
        for ((scheduler, clock), offset) in all.into_iter().zip([0, 3, -3]) {
            settled(scheduler, clock, true).await;
            clock.set(at(start) + TimeDelta::seconds(second + offset));
            settled(scheduler, clock, true).await;
        }
        // the winner reloads within the second
        for (scheduler, _) in all {
            scheduler.register(Spec::every("a", 1_000), recorder.handler()).unwrap();
        }
    }
    let mut times = recorder.times();
    let (runs, _) = (times.len(), times.sort());
    times.dedup();
    assert_eq!(times.len(), runs, "{times:?}");
    // the first three fell between the clocks: the price of claims that only move forward
    assert_eq!((times.first().unwrap().as_str(), times.last().unwrap().as_str()), ("00:00:01", "00:00:13"));
    // a restart of the winner forgets nothing: the claim is in the store
    ahead.stop(Duration::from_secs(5)).await;
    let (again, clock_again) = on_store(redis(&server.url(), "again"), start).await;
    again.register(Spec::every("a", 1_000), recorder.handler()).unwrap();
    settled(&again, &clock_again, true).await;
    clock_again.set(at(start) + TimeDelta::seconds(2));
    settled(&again, &clock_again, true).await;
    assert_eq!(recorder.count(), runs);
    let score: f64 = connect(&server).zscore(KEY, "a").unwrap();
    assert_eq!(score as i64, (at(start) + TimeDelta::seconds(13)).timestamp_millis());
}

#[tokio::test]
async fn a_late_answer_starts_nothing() {
    let server = RedisServer::start(&[]).await;
    let proxy = Proxy::start(server.address()).await;
    let (scheduler, clock) =
        on_store(redis(&format!("redis://{}", proxy.address()), "a"), "2020-01-01T00:00:00Z").await;
    let recorder = Recorder::new();
    scheduler.register(Spec::every("a", 1_000), recorder.handler()).unwrap();
    settled(&scheduler, &clock, true).await;
    proxy.delay(Duration::from_millis(300));
    clock.advance(TimeDelta::seconds(1));
    let mut store = connect(&server);
    until("the claim arrived", async || store_has(&server, "a")).await;
    settled(&scheduler, &clock, true).await;
    until("the claim failed", async || scheduler.metrics().claims_failed == 1).await;
    proxy.restore();
    assert!(scheduler.ready(Duration::from_secs(10)).await);
    assert_eq!(recorder.count(), 0);
    assert_eq!(store.zcard::<_, u64>(KEY).unwrap(), 2, "the claim and the probe");
    settled(&scheduler, &clock, true).await;
    clock.advance(TimeDelta::seconds(1));
    recorder.wait(1).await;
    assert_eq!(recorder.times(), ["00:00:02"]);
}

fn store_has(server: &RedisServer, member: &str) -> bool {
    connect(server).zscore::<_, _, Option<f64>>(KEY, member).unwrap().is_some()
}

#[tokio::test]
async fn a_key_runs_once_among_all_replicas() {
    let server = RedisServer::start(&[]).await;
    let (one, _) = on_store(redis(&server.url(), "one"), "2020-01-01T00:00:00Z").await;
    let (two, clock) = on_store(redis(&server.url(), "two"), "2020-01-01T00:00:00Z").await;
    let recorder = Recorder::new();
    let never = || Spec::cron("a", "0 0 1 1 *");
    let one = one.register(never(), recorder.handler()).unwrap();
    let other = two.register(never(), recorder.handler()).unwrap();
    assert!(matches!(one.trigger(Some("k")).await, Ok(Triggered::Ran(_))));
    assert_eq!(other.trigger(Some("k")).await, Ok(Triggered::Duplicate));
    // without a key each replica has its own
    assert!(matches!(one.trigger(None).await, Ok(Triggered::Ran(_))));
    assert!(matches!(other.trigger(None).await, Ok(Triggered::Ran(_))));
    let mut store = connect(&server);
    let keys: Vec<String> = store.keys("test:schedule-manual:*").unwrap();
    assert_eq!(keys, ["test:schedule-manual:1:a:k"]);
    assert!(store.pttl::<_, i64>(&keys[0]).unwrap() > 80_000_000);
    clock.advance(TimeDelta::seconds(1));
    assert_eq!(recorder.count(), 3);
}

#[tokio::test]
async fn only_old_members_of_retired_schedules_are_trimmed() {
    let server = RedisServer::start(&[]).await;
    let (scheduler, _) = on_store(redis(&server.url(), "a"), "2020-01-01T00:00:00Z").await;
    scheduler.register(Spec::cron("yearly", "0 0 1 1 *"), Recorder::new().handler()).unwrap();
    let mut store = connect(&server);
    let (seconds, _): (i64, i64) = redis::cmd("TIME").query(&mut store).unwrap();
    let days_ago = |days: i64| (seconds - days * 86_400) * 1_000;
    for (member, days) in [("retired", 31), ("yearly", 32), ("recent", 29), ("same moment", 32)] {
        let _: u64 = store.zadd(KEY, member, days_ago(days)).unwrap();
    }
    assert_eq!(scheduler.trim_retired().await, Ok(1));
    let mut left: Vec<String> = store.zrange(KEY, 0, -1).unwrap();
    left.sort();
    assert_eq!(left, ["__probe__", "recent", "same moment", "yearly"]);
}

#[tokio::test]
async fn a_server_that_refuses_claims_runs_nothing() {
    let reason = async |scheduler: &Scheduler| {
        let claims = || scheduler.metrics().claims_failed;
        until("claims failed", async || claims() >= 3).await;
        assert_eq!(scheduler.metrics().runs, 0);
        match scheduler.status() {
            Status::Unavailable { reason, .. } => reason,
            Status::Available => panic!("available"),
        }
    };
    let open = |settings| {
        let scheduler = Scheduler::open(settings, std::sync::Arc::new(SystemClock::new())).unwrap();
        let schedule = scheduler.register(Spec::every("a", 50), Recorder::new().handler()).unwrap();
        (scheduler, schedule)
    };
    // as a server without GT would answer an error
    let server = RedisServer::start(&["--rename-command", "ZADD", ""]).await;
    let (scheduler, schedule) = open(redis(&server.url(), "a"));
    let told = reason(&scheduler).await;
    assert!(told.contains("unknown command"), "{told}");
    assert!(matches!(schedule.trigger(Some("k")).await, Err(TriggerError::Unavailable(_))));
    // an access list that allows everything else, and then a set that is none
    let server = RedisServer::start(&[]).await;
    let rules = ["SETUSER", "limited", "on", ">secret", "~*", "&*", "+@all", "-zadd"];
    redis::cmd("ACL").arg(&rules).exec(&mut connect(&server)).unwrap();
    let (scheduler, _) = open(redis(&server.url().replace("redis://", "redis://limited:secret@"), "a"));
    let told = reason(&scheduler).await;
    assert!(told.contains("NOPERM") && !told.contains("secret"), "{told}");
    let server = RedisServer::start(&[]).await;
    let _: () = connect(&server).set(KEY, "text").unwrap();
    let (scheduler, _) = open(redis(&server.url(), "a"));
    let told = reason(&scheduler).await;
    assert!(told.contains("WRONGTYPE"), "{told}");
}

#[tokio::test]
async fn a_clock_far_ahead_claims_nothing_and_says_so() {
    let server = RedisServer::start(&[]).await;
    let (scheduler, clock) = on_store(redis(&server.url(), "a"), "2020-01-01T00:00:00Z").await;
    let recorder = Recorder::new();
    scheduler.register(Spec::every("a", 3_600_000), recorder.handler()).unwrap();
    settled(&scheduler, &clock, true).await;
    assert_eq!(scheduler.problem(), None);
    // a year ahead: the timer fires as it is due by its own clock
    clock.set(Utc::now() + TimeDelta::days(365));
    settled(&scheduler, &clock, true).await;
    clock.advance(TimeDelta::hours(1));
    settled(&scheduler, &clock, true).await;
    assert_eq!((recorder.count(), scheduler.metrics().claims_won), (0, 0));
    assert!(scheduler.metrics().skipped_late > 0 || scheduler.problem().is_some_and(|told| told.contains("clock")));
    let score: Option<f64> = connect(&server).zscore(KEY, "a").unwrap();
    assert_eq!(score, None, "nothing is claimed for a time to come");
}

#[tokio::test]
async fn a_claim_for_a_time_to_come_is_reported_until_it_is_gone() {
    let server = RedisServer::start(&[]).await;
    let (scheduler, _) = on_store(redis(&server.url(), "a"), "2020-01-01T00:00:00Z").await;
    let _: u64 = connect(&server).zadd(KEY, "silenced", 4_102_444_800_000_i64).unwrap();
    until("it is reported", async || scheduler.problem().is_some_and(|told| told.contains("silenced"))).await;
    assert!(scheduler.status().is_available());
    let _: u64 = connect(&server).zrem(KEY, "silenced").unwrap();
    until("it is over", async || scheduler.problem().is_none()).await;
}

#[tokio::test]
async fn an_idle_connection_that_ends_is_noticed_before_the_next_probe() {
    let mut server = RedisServer::start(&[]).await;
    let mut settings = redis(&server.url(), "a");
    if let StoreSettings::Redis(redis) = &mut settings.store {
        redis.deadlines.probe_every = Duration::from_secs(3_600);
    }
    let (scheduler, _) = on_store(settings, "2020-01-01T00:00:00Z").await;
    server.kill();
    until("it is noticed", async || !scheduler.status().is_available()).await;
    server.restart().await;
    until("it is back", async || scheduler.status().is_available()).await;
}
