//! What is refused when flows and operations are saved: above all schedules that can't run, however
//! they come about; and that what is broken already breaks nothing else.

use serde_json::{Value, json};
use waymark_tests::{Kind, Server, each_engine};

use super::{flow, operation};

/// The fields that an error answer names.
fn fields(body: &Value) -> Vec<&str> {
    body["errors"].as_array().into_iter().flatten().filter_map(|error| error["extensions"]["field"].as_str()).collect()
}

each_engine! {
    async fn incomplete_and_contradicting_rows_are_refused(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let one = flow(&admin, json!({ "name": "one" })).await;
        let target = operation(&admin, &one, "target", json!({})).await;
        operation(&admin, &one, "leader", json!({ "resolve": target, "reject": target })).await;
        let step = |more: Value| {
            let mut body = json!({ "flow": one, "key": "k", "type": "log", "position_x": 1, "position_y": 1 });
            body.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
            body
        };
        for (path, body, code) in [
            ("/flows", json!({ "trigger": "manual" }), "FAILED_VALIDATION"),
            ("/flows", json!({ "name": "x", "icon": "i".repeat(31) }), "VALUE_TOO_LONG"),
            ("/flows", json!({ "name": "x", "id": "not-a-key" }), "INVALID_PAYLOAD"),
            ("/flows", json!({ "name": "x", "id": one }), "RECORD_NOT_UNIQUE"),
            ("/operations", step(json!({ "key": null })), "FAILED_VALIDATION"),
            ("/operations", step(json!({ "position_x": "left" })), "INVALID_PAYLOAD"),
            ("/operations", step(json!({ "flow": "77777777-0000-4000-8000-000000000007" })), "INVALID_FOREIGN_KEY"),
            ("/operations", step(json!({ "resolve": "77777777-0000-4000-8000-000000000007" })), "INVALID_FOREIGN_KEY"),
            ("/operations", step(json!({ "resolve": target })), "RECORD_NOT_UNIQUE"),
            ("/operations", step(json!({ "reject": target })), "RECORD_NOT_UNIQUE"),
            ("/operations", json!([step(json!({})), step(json!({ "resolve": target }))]), "RECORD_NOT_UNIQUE"),
        ] {
            let answer = admin.request("POST", path, Some(body.clone())).await;
            assert_eq!((answer.status, answer.codes().first()), (400, Some(&code)), "{path} {body}: {}", answer.body);
        }
        assert_eq!(admin.get("/operations?aggregate[count]=*").await.1["data"][0]["count"], json!(2));
        for (method, path) in [("GET", "/flows/nothing"), ("PATCH", "/operations/77777777-0000-4000-8000-000000000007"), ("DELETE", "/flows/nothing")] {
            assert_eq!(admin.request(method, path, Some(json!({}))).await.status, 403, "{method} {path}");
        }
        for body in [json!({}), json!("all"), json!({ "filter": {} }), json!([{}])] {
            assert_eq!(admin.delete("/flows", body.clone()).await.0, 400, "{body}");
        }
    }

    async fn a_schedule_that_cannot_run_is_not_saved(kind) {
        let server = Server::start_with(kind, crate::flows::KEEPING).await;
        let admin = server.admin().await;
        let good = json!({ "cron": "0 */5 * * * *" });
        for (options, wanted) in [
            (Value::Null, &["options.cron"][..]),
            (json!({}), &["options.cron"]),
            (json!([]), &["options"]),
            (json!("0 * * * *"), &["options"]),
            (json!({ "cron": null }), &["options.cron"]),
            (json!({ "cron": 5 }), &["options.cron"]),
            (json!({ "cron": "" }), &["options.cron"]),
            (json!({ "cron": "often" }), &["options.cron"]),
            (json!({ "cron": "0 0 0 1 1 * 2031" }), &["options.cron"]),
            (json!({ "cron": "99 * * * *" }), &["options.cron"]),
            (json!({ "cron": "*".repeat(300) }), &["options.cron"]),
            (json!({ "cron": "* * * * *", "timezone": "Middle/Earth" }), &["options.timezone"]),
            (json!({ "cron": "* * * * *", "timezone": 2 }), &["options.timezone"]),
            (json!({ "cron": "* * * * *", "overlap": "twice" }), &["options.overlap"]),
            (json!({ "cron": "* * * * *", "catch_up": true, "overlap": "" }), &["options.overlap", "options.catch_up"]),
            (json!("{\"cron\": \"often\"}"), &["options.cron"]),
        ] {
            for status in ["active", "inactive"] {
                let body = json!({ "name": "late", "trigger": "schedule", "status": status, "options": options });
                let answer = admin.request("POST", "/flows", Some(body.clone())).await;
                assert_eq!((answer.status, answer.codes().first()), (400, Some(&"FAILED_VALIDATION")), "{body}: {}", answer.body);
                assert_eq!(fields(&answer.body), wanted, "{body}");
            }
        }
        // One of several refuses all of them; one in another row's payload is no other.
        let several = json!([{ "name": "a", "trigger": "schedule", "options": good }, { "name": "b", "trigger": "schedule" }]);
        assert_eq!(admin.post("/flows", several).await.0, 400);
        let nested = json!({ "key": "k", "type": "log", "position_x": 1, "position_y": 1, "flow": { "name": "c", "trigger": "schedule", "options": { "cron": "x" } } });
        assert_eq!(admin.post("/operations", nested).await.0, 400);
        assert_eq!(admin.get("/flows").await.1["data"], json!([]));
        for options in [
            good,
            json!({ "cron": "30 2 * * SUN", "timezone": "Europe/Berlin", "overlap": "queue", "catch_up": "last" }),
            json!({ "cron": "0 0 12 L * *", "timezone": null, "overlap": "skip", "catch_up": "all", "note": 1 }),
        ] {
            let made = admin.must_post("/flows?fields=options", json!({ "name": "due", "trigger": "schedule", "options": options })).await;
            assert_eq!(made["options"], options);
        }
        // With another trigger the options are somebody else's.
        flow(&admin, json!({ "name": "hook", "trigger": "webhook", "options": { "cron": "often", "overlap": 5 } })).await;
    }

    async fn a_change_of_either_half_is_judged_with_the_other(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let timed = flow(&admin, json!({ "name": "timed", "trigger": "schedule", "options": { "cron": "0 * * * *" } })).await;
        let hooked = flow(&admin, json!({ "name": "hooked", "trigger": "webhook", "options": { "cron": "never" } })).await;
        let bare = flow(&admin, json!({ "name": "bare" })).await;
        let bad = json!({ "cron": "never" });
        let all = json!({ "filter": { "name": { "_nnull": true } } });
        for (path, body) in [
            (format!("/flows/{timed}"), json!({ "options": bad })),
            (format!("/flows/{timed}"), json!({ "options": null })),
            (format!("/flows/{hooked}"), json!({ "trigger": "schedule" })),
            (format!("/flows/{bare}"), json!({ "trigger": "schedule", "status": "inactive" })),
            ("/flows".to_owned(), json!({ "keys": [bare, timed], "data": { "options": bad } })),
            ("/flows".to_owned(), json!({ "query": all, "data": { "trigger": "schedule" } })),
            ("/flows".to_owned(), json!({ "query": all, "data": { "options": { "cron": "* * * * *", "catch_up": "some" } } })),
            // Two halves in two changes of one request.
            ("/flows".to_owned(), json!([{ "id": bare, "options": bad }, { "id": bare, "trigger": "schedule" }])),
            ("/flows".to_owned(), json!([{ "id": bare, "trigger": "schedule" }, { "id": bare, "options": bad }])),
        ] {
            let answer = admin.request("PATCH", &path, Some(body.clone())).await;
            assert_eq!((answer.status, answer.codes().first()), (400, Some(&"FAILED_VALIDATION")), "{body}: {}", answer.body);
        }
        let (_, body) = admin.get("/flows?sort=name&fields=name,trigger,options.cron,options").await;
        let wanted = json!([
            { "name": "bare", "trigger": null, "options": null },
            { "name": "hooked", "trigger": "webhook", "options": bad },
            { "name": "timed", "trigger": "schedule", "options": { "cron": "0 * * * *" } },
        ]);
        assert_eq!(body["data"], wanted, "{body}");
        for (path, body) in [
            // In either order, as long as the end is right.
            ("/flows".to_owned(), json!([{ "id": bare, "trigger": "schedule" }, { "id": bare, "options": { "cron": "5 * * * *" } }])),
            (format!("/flows/{hooked}"), json!({ "trigger": "schedule", "options": { "cron": "6 * * * *" } })),
            (format!("/flows/{timed}"), json!({ "trigger": "manual", "options": bad })),
        ] {
            let (status, answer) = admin.patch(&path, body.clone()).await;
            assert_eq!(status, 200, "{body}: {answer}");
        }
    }

    async fn a_broken_row_is_read_renamed_stopped_and_deleted_but_not_activated(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let id = "77777777-0000-4000-8000-000000000001";
        let trigger = if kind == Kind::Mysql { "`trigger`" } else { "\"trigger\"" };
        server.database.execute(&format!("INSERT INTO directus_flows (id, name, status, {trigger}, options) VALUES ('{id}', 'broken', 'active', 'schedule', '{{\"cron\": \"never\"}}')")).await;
        flow(&admin, json!({ "name": "sound", "trigger": "schedule", "options": { "cron": "0 * * * *" } })).await;
        assert_eq!(admin.get("/flows?sort=name&fields=name").await.1["data"], json!([{ "name": "broken" }, { "name": "sound" }]));
        for change in [json!({ "name": "renamed" }), json!({ "status": "inactive" }), json!({ "color": "red", "operations": [] })] {
            let (status, body) = admin.patch(&format!("/flows/{id}"), change.clone()).await;
            assert_eq!(status, 200, "{change}: {body}");
        }
        let answer = admin.request("PATCH", &format!("/flows/{id}"), Some(json!({ "status": "active" }))).await;
        assert_eq!((answer.status, fields(&answer.body)), (400, vec!["options.cron"]), "{}", answer.body);
        assert_eq!(admin.patch("/flows", json!({ "query": {}, "data": { "icon": "bolt" } })).await.0, 200);
        assert_eq!(admin.patch(&format!("/flows/{id}"), json!({ "status": "active", "options": { "cron": "* * * * *" } })).await.0, 200);
        assert_eq!(admin.delete(&format!("/flows/{id}"), Value::Null).await.0, 204);
    }
}
