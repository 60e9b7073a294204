//! Settings that can't be used stop the start, with one line that names the variable and no secret.

use serde_json::json;
use waymark_tests::{Database, Kind, Server, each_engine, process};

#[tokio::test]
async fn a_bad_setting_stops_the_start_and_is_named() {
    let database = Database::create(Kind::Sqlite).await;
    let bootstrap = process::command(&database, &["bootstrap"], &[]).output().await.expect("output");
    assert!(bootstrap.status.success());
    for (named, settings) in [
        ("MESSENGER_STORE", &[("MESSENGER_STORE", "kafka")][..]),
        ("MESSENGER_REDIS", &[("MESSENGER_STORE", "redis")]),
        ("MESSENGER_NATS", &[("MESSENGER_STORE", "nats")]),
        ("MESSENGER_REDIS", &[("MESSENGER_STORE", "redis"), ("MESSENGER_REDIS", "http://user:hidden@localhost")]),
        ("MESSENGER_NATS", &[("MESSENGER_STORE", "nats"), ("MESSENGER_NATS", "nats://user:hidden@:x:y")]),
        ("MESSENGER_NAMESPACE", &[("MESSENGER_NAMESPACE", "a b")]),
        (
            "MESSENGER_REDIS_PORT",
            &[("MESSENGER_STORE", "redis"), ("MESSENGER_REDIS_HOST", "h"), ("MESSENGER_REDIS_PORT", "70000")],
        ),
        ("SCHEDULE_STORE", &[("SCHEDULE_STORE", "cron")]),
        ("SCHEDULE_TIMEZONE", &[("SCHEDULE_TIMEZONE", "Mars/Base")]),
        ("TZ", &[("TZ", "Mars/Base")]),
        ("SCHEDULE_LOCK_TTL", &[("SCHEDULE_LOCK_TTL", "5")]),
        ("SCHEDULE_CATCH_UP_MAX", &[("SCHEDULE_CATCH_UP_MAX", "0")]),
        ("CACHE_SYSTEM_TTL", &[("CACHE_SYSTEM_TTL", "0")]),
        (
            "SCHEDULE_NATS_BUCKET",
            &[("MESSENGER_STORE", "nats"), ("MESSENGER_NATS", "nats://localhost"), ("SCHEDULE_NATS_BUCKET", "a.b c")],
        ),
        (
            "MESSENGER_NATS_CREDENTIALS",
            &[
                ("MESSENGER_STORE", "nats"),
                ("MESSENGER_NATS", "nats://localhost"),
                ("MESSENGER_NATS_CREDENTIALS", "/nowhere/x.creds"),
            ],
        ),
    ] {
        let output = process::command(&database, &["serve"], settings).output().await.expect("output");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{settings:?}");
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("waymark: ")).collect();
        assert!(matches!(lines.as_slice(), [line] if line.contains(named)), "{settings:?}: {text}");
        assert!(!text.contains("hidden"), "{text}");
    }
}

each_engine! {
    async fn a_flow_that_misses_nothing_can_be_asked_for_only_where_it_is_kept(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let flow = json!({ "name": "late", "trigger": "schedule", "options": { "cron": "0 0 * * * *", "catch_up": "last" } });
        let answer = admin.request("POST", "/flows", Some(flow)).await;
        assert_eq!((answer.status, answer.codes()), (400, vec!["FAILED_VALIDATION"]), "{:?}", answer.body);
        assert_eq!(answer.body["errors"][0]["extensions"]["field"], "options.catch_up", "{:?}", answer.body);
        assert_eq!(admin.get("/flows").await.1["data"], json!([]));
    }
}
