//! What the server reads of its schedules: active ones, their logs in order, broken ones apart.

use std::sync::Arc;

use serde_json::{Value, json};
use waymark_api::{Settings, cli::bootstrap, settings::Source};
use waymark_core::{
    Engine,
    system::flows::{CatchUp, Overlap, scheduled},
};
use waymark_tests::{Client, Database, Kind, Server, each_engine, server};

use super::{flow, operation};

/// An engine of its own on the database of a server.
async fn engine(database: &Database) -> Arc<Engine> {
    let values = server::settings(database, crate::flows::KEEPING);
    let source =
        Source::of_values(values.iter().map(|(name, value)| (name.as_str(), value.as_str()))).expect("settings");
    bootstrap::open(&Settings::read(&source).expect("settings")).await.expect("an engine")
}

async fn link(admin: &Client, path: &str, body: Value) {
    let (status, answer) = admin.patch(path, body).await;
    assert_eq!(status, 200, "{answer}");
}

each_engine! {
    async fn active_schedules_are_read_with_their_logs_and_broken_ones_apart(kind) {
        let server = Server::start_with(kind, crate::flows::KEEPING).await;
        let admin = server.admin().await;
        let options = json!({ "cron": "0 30 2 * * *", "timezone": "Europe/Berlin", "overlap": "skip", "catch_up": "last" });
        let nightly = flow(&admin, json!({ "name": "nightly", "trigger": "schedule", "options": options })).await;
        let plain = flow(&admin, json!({ "name": "plain", "trigger": "schedule", "options": { "cron": "* * * * *" } })).await;
        flow(&admin, json!({ "name": "asleep", "status": "inactive", "trigger": "schedule", "options": { "cron": "* * * * *" } })).await;
        flow(&admin, json!({ "name": "hook", "trigger": "webhook" })).await;
        // first -> mail -> last -> first, a ring; `aside` is reached by rejection only.
        let last = operation(&admin, &nightly, "last", json!({ "options": { "message": { "deep": [1] } } })).await;
        let mail = operation(&admin, &nightly, "mail", json!({ "type": "mail", "options": { "message": "no log" }, "resolve": last })).await;
        let aside = operation(&admin, &nightly, "aside", json!({})).await;
        let first = operation(&admin, &nightly, "first", json!({ "options": { "message": "good night" }, "resolve": mail, "reject": aside })).await;
        link(&admin, &format!("/operations/{last}"), json!({ "resolve": first })).await;
        link(&admin, &format!("/flows/{nightly}"), json!({ "operation": first })).await;

        let trigger = if kind == Kind::Mysql { "`trigger`" } else { "\"trigger\"" };
        let mut broken = vec!["{\"cron\": \"never\"}".to_owned(), "[]".to_owned(), "\"text\"".to_owned()];
        if kind != Kind::Mysql {
            // Deeper than JSON is read here; MariaDB keeps none that is so deep.
            broken.push(format!("{{\"cron\": \"* * * * *\", \"a\": {}{}}}", "[".repeat(150), "]".repeat(150)));
        }
        let made_by_hand = |number: usize, id: &str, options: &str| {
            format!("INSERT INTO directus_flows (id, name, status, {trigger}, options) VALUES ('{id}', 'broken {number}', 'active', 'schedule', '{options}')")
        };
        for (number, options) in broken.iter().enumerate() {
            let id = format!("77777777-0000-4000-8000-00000000000{number}");
            server.database.execute(&made_by_hand(number, &id, options)).await;
        }
        let mut wrong = broken.len();
        if kind != Kind::Postgres {
            server.database.execute(&made_by_hand(wrong, "no uuid at all", "{\"cron\": \"* * * * *\"}")).await;
            wrong += 1;
        }
        if kind == Kind::Sqlite {
            server.database.execute(&made_by_hand(wrong, "77777777-0000-4000-8000-000000000009", "{no json")).await;
            wrong += 1;
        }

        let engine = engine(&server.database).await;
        let before = engine.db.statement_count();
        let read = scheduled(&engine).await.expect("schedules");
        assert_eq!(engine.db.statement_count() - before, 2, "statements");
        let (sound, broken): (Vec<_>, Vec<_>) = read.into_iter().partition(Result::is_ok);
        assert_eq!(broken.len(), wrong, "{broken:#?}");
        for row in broken.into_iter().filter_map(Result::err) {
            assert!(row.name.starts_with("broken ") && !row.problems.is_empty() && row.to_string().contains(&row.id), "{row}");
        }
        let mut sound: Vec<_> = sound.into_iter().filter_map(Result::ok).collect();
        sound.sort_by(|a, b| a.name.cmp(&b.name));
        let [night, every] = sound.as_slice() else { panic!("two schedules: {sound:#?}") };
        assert_eq!((night.id.to_string(), night.name.as_str()), (nightly, "nightly"));
        assert_eq!((night.schedule.cron.as_str(), night.schedule.timezone.as_deref()), ("0 30 2 * * *", Some("Europe/Berlin")));
        assert_eq!((night.schedule.overlap, night.schedule.catch_up), (Overlap::Skip, CatchUp::Last));
        let logs: Vec<_> = night.operations.iter().map(|log| (log.key.as_str(), &log.message)).collect();
        assert_eq!(logs, [("first", &json!("good night")), ("last", &json!({ "deep": [1] }))]);
        assert_eq!((every.id.to_string(), every.operations.len()), (plain, 0));
        assert_eq!((every.schedule.timezone.as_deref(), every.schedule.overlap, every.schedule.catch_up), (None, Overlap::Allow, CatchUp::Skip));
        engine.db.clone().close().await.expect("closed");
    }

    async fn more_schedules_take_no_more_statements(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let flows: Vec<Value> = (0..150).map(|number| json!({ "name": format!("flow {number}"), "trigger": "schedule", "options": { "cron": "* * * * *" }, "operations": [{ "key": "log", "type": "log", "position_x": 1, "position_y": 1 }] })).collect();
        admin.must_post("/flows?fields=id", json!(flows)).await;
        let engine = engine(&server.database).await;
        let before = engine.db.statement_count();
        let read = scheduled(&engine).await.expect("schedules");
        assert_eq!((read.len(), engine.db.statement_count() - before), (150, 2));
        engine.db.clone().close().await.expect("closed");
    }
}
