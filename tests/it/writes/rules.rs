//! Fields, presets and validation of nested rows: those of their own collection.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

use super::{caller, column, read, scene};

each_engine! {
    async fn presets_and_fields_are_those_of_the_nested_collection(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let rules = [
            ("shows", "create", json!({ "fields": ["name", "acts", "venue"] })),
            ("acts", "create", json!({ "fields": ["name", "show"], "presets": { "slot": 7 } })),
            ("venues", "create", json!({ "fields": ["name"], "presets": { "seats": 40, "name": "preset" } })),
        ];
        let editor = caller(&server, &admin, &rules).await;
        assert_eq!(editor.post("/items/shows", json!({ "name": "x", "venue": {}, "acts": [{ "name": "a" }] })).await.0, 204);
        assert_eq!(read(&admin, "/items/venues?fields=name,seats").await, json!([{ "name": "preset", "seats": 40 }]));
        assert_eq!(read(&admin, "/items/acts?fields=name,slot,show").await, json!([{ "name": "a", "slot": 7, "show": 1 }]));
        for body in [
            json!({ "acts": [{ "name": "a", "slot": 1 }] }),
            json!({ "acts": { "create": [{ "name": "a" }, { "slot": 1 }] } }),
            json!({ "venue": { "name": "v", "seats": 1 } }),
            json!({ "venue": { "id": 8, "name": "v" } }),
            json!({ "tags": [] }),
            json!({ "part_of": { "name": "x" } }),
        ] {
            let answer = editor.request("POST", "/items/shows", Some(body.clone())).await;
            assert_eq!((answer.status, answer.codes()), (403, vec!["FORBIDDEN"]), "{body}: {}", answer.body);
        }
        for (collection, rows) in [("shows", 1), ("acts", 1), ("venues", 1)] {
            assert_eq!(column(&admin, collection, "id").await.len(), rows, "{collection}");
        }
    }

    async fn a_nested_row_that_breaks_a_rule_leaves_nothing(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/shows", json!({ "name": "one", "acts": [{ "name": "ok" }] })).await;
        let rule = json!({ "validation": { "name": { "_starts_with": "o" } } });
        let all = || json!({});
        let rules = [
            ("shows", "create", all()), ("shows", "update", all()), ("acts", "read", all()), ("acts", "create", rule.clone()), ("acts", "update", rule.clone()),
            ("tags", "create", rule), ("shows_tags", "create", all()),
        ];
        let editor = caller(&server, &admin, &rules).await;
        for (method, path, body) in [
            ("POST", "/items/shows", json!({ "name": "x", "acts": [{ "name": "ok" }, { "name": "bad" }] })),
            ("POST", "/items/shows", json!([{ "name": "x", "acts": [{ "name": "ok" }] }, { "name": "y", "acts": [{ "name": "bad" }] }])),
            ("POST", "/items/shows", json!({ "name": "x", "tags": [{ "tag": { "name": "ok" } }, { "tag": { "name": "bad" } }] })),
            ("PATCH", "/items/shows/1", json!({ "name": "x", "acts": [{ "id": 1, "name": "bad" }] })),
            ("PATCH", "/items/shows/1", json!({ "name": "x", "acts": { "delete": [1], "create": [{ "name": "bad" }] } })),
            ("PATCH", "/items/shows", json!([{ "id": 1, "name": "x" }, { "id": 1, "acts": { "update": [{ "id": 1, "name": "bad" }] } }])),
        ] {
            let answer = editor.request(method, path, Some(body.clone())).await;
            assert_eq!((answer.status, answer.codes()), (400, vec!["FAILED_VALIDATION"]), "{body}: {}", answer.body);
            assert_eq!(answer.body["errors"][0]["extensions"]["field"], json!("name"), "{body}");
            assert_eq!(read(&admin, "/items/shows?fields=name,acts.name").await, json!([{ "name": "one", "acts": [{ "name": "ok" }] }]), "{body}");
            assert_eq!(column(&admin, "tags", "id").await, Vec::<Value>::new(), "{body}");
        }
    }

    async fn deselecting_needs_the_right_that_the_relation_makes_of_it(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/shows", json!({ "name": "one", "acts": [{ "name": "a" }], "notes": [{ "name": "n" }] })).await;
        let all = || json!({});
        let rules = [
            ("shows", "update", all()), ("acts", "read", all()), ("acts", "delete", all()), ("notes", "read", all()), ("notes", "update", all()),
        ];
        let editor = caller(&server, &admin, &rules).await;
        for body in [json!({ "acts": [] }), json!({ "acts": { "delete": [1] } }), json!({ "notes": [] }), json!({ "notes": { "delete": [1] } })] {
            assert_eq!(editor.patch("/items/shows/1", body.clone()).await.0, 403, "{body}");
        }
        assert_eq!(read(&admin, "/items/shows?fields=acts.name,notes.name").await, json!([{ "acts": [{ "name": "a" }], "notes": [{ "name": "n" }] }]));
    }
}
