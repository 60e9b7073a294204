//! What is refused where it is given, with the field named, and without delay.

use std::sync::Arc;
use std::time::{Duration, Instant};

use waymark_schedule::{
    Cadence, CatchUp, NatsSettings, RedisSettings, RegisterError, Scheduler, Settings, Spec, StoreSettings,
    SystemClock, TriggerError, parse_cron, parse_timezone,
};

use crate::support::{Recorder, simulated};

#[test]
fn expressions() {
    let started = Instant::now();
    for expression in [
        "",
        " ",
        "* * * *",
        "* * * * * * *",
        "0 0 0 1 1 * 2030",
        "60 * * * * *",
        "* 60 * * * *",
        "* * 24 * * *",
        "* * * 32 * *",
        "* * * 0 * *",
        "* * * * 13 *",
        "* * * * * 8",
        "*/0 * * * * *",
        "0/10 * * * * *",
        "a * * * * *",
        "* * * * * MONDAY-X",
        "1-2-3 * * * * *",
        ", * * * * *",
        "@reboot",
        "@every 5s",
        "@",
        "0 0 0 ß 1 *",
        "0 0 0 * * 5#6",
        "0 0 0 L-3 * *",
        "H * * * *",
        "\0 * * * *",
        "5-3 * * * * *",
        // never
        "0 9 31 2 *",
        "0 0 0 30 2 *",
        "0 0 0 31 4,6,9,11 *",
        "0 0 0 29 2 1#1",
        "0 0 0 8-31 * 1#1",
    ] {
        let error = parse_cron(expression, None).map(|_| ()).expect_err(expression);
        assert_eq!(error.field, "cron", "{expression}");
        assert!(!error.message.is_empty() && error.message.len() < 300, "{error}");
    }
    assert_eq!(parse_cron(&"1,".repeat(10_000), None).unwrap_err().field, "cron");
    assert!(started.elapsed() < Duration::from_secs(5), "refused after {:?}", started.elapsed());
}

#[test]
fn zones() {
    for zone in ["", "Europe/Atlantis", "+02:00", "Europe/Berlin\0", "../etc/passwd"] {
        assert_eq!(parse_timezone(zone).unwrap_err().field, "timezone", "{zone}");
        assert_eq!(parse_cron("* * * * *", Some(zone)).map(|_| ()).unwrap_err().field, "timezone", "{zone}");
    }
}

#[tokio::test]
async fn specs() {
    let (scheduler, _clock) = simulated("2026-01-01T00:00:00Z");
    let field = |spec: Spec| match scheduler.register(spec, Recorder::new().handler()) {
        Err(RegisterError::Invalid(error)) => error.field,
        Err(error) => panic!("{error}"),
        Ok(_) => "none",
    };
    assert_eq!(field(Spec::cron("", "* * * * *")), "name");
    assert_eq!(field(Spec::cron("a\nb", "* * * * *")), "name");
    assert_eq!(field(Spec::cron("__probe__", "* * * * *")), "name");
    assert_eq!(field(Spec::cron("x".repeat(201), "* * * * *")), "name");
    assert_eq!(field(Spec::cron("a", "nonsense")), "cron");
    assert_eq!(field(Spec::cron("a", "* * * * *").timezone("Mars/Olympus")), "timezone");
    assert_eq!(field(Spec::every("a", 0)), "every");
    assert_eq!(field(Spec::every("a", u64::MAX)), "every");
    assert_eq!(field(Spec::every("a", 1).timezone("Mars/Olympus")), "timezone");
    assert_eq!(field(Spec::every("a", 1_000).catch_up(CatchUp::Last)), "catch_up");
    assert_eq!(field(Spec::every("a", 1_000).catch_up(CatchUp::All)), "catch_up");
    assert!(scheduler.list().is_empty());

    // a bad replacement leaves the good one alone
    let good = scheduler.register(Spec::every("a", 1_000), Recorder::new().handler()).unwrap();
    assert_eq!(field(Spec::cron("a", "nonsense")), "cron");
    assert!(good.next().is_some());
    assert_eq!(scheduler.list()[0].cadence, Cadence::Every(1_000));
    let error = good.trigger(Some("")).await.unwrap_err();
    assert!(matches!(error, TriggerError::Invalid(error) if error.field == "dedup_key"));
}

#[tokio::test]
async fn settings() {
    let field = |store: StoreSettings| {
        Scheduler::open(Settings::new(store), Arc::new(SystemClock::new())).map(|_| ()).unwrap_err().field
    };
    let redis = |url: &str, namespace: &str| StoreSettings::Redis(RedisSettings::new(url, namespace));
    assert_eq!(field(redis("not a url", "a")), "url");
    assert_eq!(field(redis("http://127.0.0.1", "a")), "url");
    assert_eq!(field(redis("redis://127.0.0.1", "")), "namespace");
    assert_eq!(field(redis("redis://127.0.0.1", "a b")), "namespace");
    let nats = |change: fn(&mut NatsSettings)| {
        let mut settings = NatsSettings::new("nats://127.0.0.1:4222");
        change(&mut settings);
        StoreSettings::Nats(settings)
    };
    assert_eq!(field(nats(|it| it.url.clear())), "url");
    assert_eq!(field(nats(|it| "nats://".clone_into(&mut it.url))), "url");
    assert_eq!(field(nats(|it| it.bucket.clear())), "bucket");
    assert_eq!(field(nats(|it| "a.b".clone_into(&mut it.bucket))), "bucket");
    assert_eq!(field(nats(|it| "ä".clone_into(&mut it.bucket))), "bucket");
    assert_eq!(field(nats(|it| it.lease = Duration::ZERO)), "lease");
    assert_eq!(field(nats(|it| it.history_ttl = Some(Duration::from_secs(1)))), "history_ttl");
    assert_eq!(field(nats(|it| it.credentials = Some("nothing".to_owned()))), "credentials");
    assert_eq!(field(nats(|it| it.deadlines.command = Duration::ZERO)), "command_deadline");

    let shown = format!("{:?}", Settings::new(redis("redis://user:geheim@127.0.0.1", "a")));
    assert!(!shown.contains("geheim"), "{shown}");
    let error = RedisSettings::new("redis://user:geheim@[", "a");
    let error = Scheduler::open(Settings::new(StoreSettings::Redis(error)), Arc::new(SystemClock::new())).map(|_| ());
    assert!(!error.unwrap_err().to_string().contains("geheim"));
}
