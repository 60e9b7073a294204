//! Malformed lists, bounds, constraints: what they answer, and that nothing stays.

use serde_json::{Value, json};
use waymark_tests::{Client, Server, each_engine};

use super::{change, column, read, scene};

async fn refuses(admin: &Client, method: &str, path: &str, body: &Value, expected: (u16, &str)) {
    let answer = admin.request(method, path, Some(body.clone())).await;
    assert_eq!((answer.status, answer.codes()), (expected.0, vec![expected.1]), "{body}: {}", answer.body);
}

each_engine! {
    async fn malformed_lists_are_refused(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/shows", json!({ "name": "one", "acts": [{ "name": "a" }] })).await;
        for acts in [
            json!("x"), json!(7), json!(true), json!([null]), json!([true]), json!([[1]]), json!({ "create": {} }), json!({ "create": [1] }),
            json!({ "update": [{ "name": "x" }] }), json!({ "update": [1] }), json!({ "replace": [] }), json!({ "create": [], "id": 1 }),
            json!({ "delete": 1 }), json!([{ "id": "x", "name": "y" }]), json!([{ "id": {}, "name": "y" }]), json!([{ "name": { "first": 1 } }, { "id": [] }]),
        ] {
            refuses(&admin, "PATCH", "/items/shows/1", &json!({ "name": "lost", "acts": acts }), (400, "INVALID_PAYLOAD")).await;
        }
        for acts in [json!([99]), json!(["x"]), json!([1.5]), json!({ "update": [{ "id": 99, "name": "x" }] }), json!({ "delete": ["x"] })] {
            refuses(&admin, "PATCH", "/items/shows/1", &json!({ "name": "lost", "acts": acts }), (403, "FORBIDDEN")).await;
        }
        assert_eq!(read(&admin, "/items/shows?fields=name,acts.name").await, json!([{ "name": "one", "acts": [{ "name": "a" }] }]));
    }

    async fn a_failing_nested_part_leaves_nothing(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/shows", json!({ "id": 1, "name": "one", "acts": [{ "name": "a" }, { "name": "b" }] })).await;
        let collections = ["venues", "shows", "acts", "tags", "shows_tags"];
        let mut before = Vec::new();
        for collection in collections {
            before.push(column(&admin, collection, "id").await);
        }
        for (method, path, body, code) in [
            ("POST", "/items/shows", json!({ "venue": { "name": "v" }, "acts": [{ "name": "c" }, { "id": 1, "slot": "x" }] }), "INVALID_PAYLOAD"),
            ("POST", "/items/shows", json!([{ "venue": { "name": "v" } }, { "venue": 99 }]), "INVALID_FOREIGN_KEY"),
            ("POST", "/items/shows", json!({ "acts": [{ "id": 50, "name": "c" }, { "id": 50, "name": "d" }] }), "RECORD_NOT_UNIQUE"),
            ("POST", "/items/shows", json!({ "acts": { "create": [{ "name": "c" }, { "id": 1 }] } }), "RECORD_NOT_UNIQUE"),
            ("POST", "/items/shows", json!({ "tags": [{ "tag": { "name": "t" } }, { "tag": 99 }] }), "INVALID_FOREIGN_KEY"),
            ("PATCH", "/items/shows/1", json!({ "name": "x", "acts": [{ "name": "c" }, { "id": 2, "slot": 3_000_000_000_i64 }] }), "VALUE_OUT_OF_RANGE"),
            ("PATCH", "/items/shows/1", json!({ "name": "x", "acts": { "delete": [1], "create": [{ "name": "y".repeat(300) }] } }), "VALUE_TOO_LONG"),
            ("PATCH", "/items/shows/1", json!({ "acts": [], "tags": [{ "tag": 99 }] }), "INVALID_FOREIGN_KEY"),
        ] {
            refuses(&admin, method, path, &body, (400, code)).await;
            for (collection, before) in collections.iter().zip(&before) {
                assert_eq!(&column(&admin, collection, "id").await, before, "{body}: {collection}");
            }
            assert_eq!(read(&admin, "/items/shows?fields=name,acts.name,acts.slot&deep[acts][_sort]=id").await,
                json!([{ "name": "one", "acts": [{ "name": "a", "slot": null }, { "name": "b", "slot": null }] }]), "{body}");
        }
    }

    async fn a_broken_reference_names_its_field(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/shows", json!([{ "name": "one" }, { "name": "two", "part_of": 1 }])).await;
        for (method, path, body, field) in [
            ("POST", "/items/shows", json!({ "part_of": 1, "venue": 99 }), "venue"),
            ("POST", "/items/shows", json!([{ "venue": null }, { "part_of": 99 }]), "part_of"),
            ("PATCH", "/items/shows/2", json!({ "name": "x", "part_of": 99 }), "part_of"),
            ("PATCH", "/items/shows", json!([{ "id": 1, "part_of": 2 }, { "id": 2, "part_of": 99 }]), "part_of"),
            ("POST", "/items/tags", json!([{ "name": "t" }]), ""),
        ] {
            let answer = admin.request(method, path, Some(body.clone())).await;
            if field.is_empty() {
                assert_eq!(answer.status, 200, "{}", answer.body);
                continue;
            }
            assert_eq!((answer.status, answer.codes()), (400, vec!["INVALID_FOREIGN_KEY"]), "{body}: {}", answer.body);
            let extensions = &answer.body["errors"][0]["extensions"];
            assert_eq!((&extensions["collection"], &extensions["field"]), (&json!("shows"), &json!(field)), "{body}: {}", answer.body);
        }
    }

    async fn nested_rows_count_against_the_bound(kind) {
        let server = Server::start_with(kind, &[("MAX_BATCH_MUTATION", "5")]).await;
        let admin = server.admin().await;
        // The scene itself is made of small requests.
        scene(&admin).await;
        let acts = |number: usize| Value::Array((0..number).map(|act| json!({ "name": act.to_string() })).collect());
        for body in [
            json!({ "acts": acts(5) }),
            json!({ "acts": { "create": acts(5) } }),
            json!([{ "acts": acts(2) }, { "acts": acts(2) }]),
            json!({ "tags": [{ "tag": { "name": "a" } }, { "tag": { "name": "b" } }, { "tag": 1 }] }),
            json!({ "venue": { "name": "v", "shows": [{ "acts": acts(3) }] } }),
            json!([{}, {}, {}, {}, {}, {}]),
        ] {
            refuses(&admin, "POST", "/items/shows", &body, (400, "INVALID_PAYLOAD")).await;
            assert_eq!(column(&admin, "shows", "id").await, Vec::<Value>::new(), "{body}");
        }
        admin.must_post("/items/shows", json!({ "acts": acts(4) })).await;
        admin.must_post("/items/shows", json!({ "tags": [{ "tag": { "name": "a" } }, { "tag": { "name": "b" } }] })).await;
        refuses(&admin, "PATCH", "/items/shows", &json!({ "keys": [1, 2], "data": { "acts": acts(2) } }), (400, "INVALID_PAYLOAD")).await;
        refuses(&admin, "PATCH", "/items/shows/1", &json!({ "acts": { "update": [{ "id": 1 }, { "id": 2 }, { "id": 3 }], "delete": [4], "create": [{}] } }), (400, "INVALID_PAYLOAD")).await;
        change(&admin, "/items/shows/1", json!({ "acts": [1, 2, 3, 4] })).await;
        assert_eq!(column(&admin, "acts", "show").await, [1, 1, 1, 1].map(Value::from));
    }

    async fn nesting_has_a_bottom(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let deep = (0..40).fold(json!({ "name": "leaf" }), |below, _| json!({ "name": "x", "parts": [below] }));
        refuses(&admin, "POST", "/items/shows", &deep, (400, "INVALID_PAYLOAD")).await;
        assert_eq!(column(&admin, "shows", "id").await, Vec::<Value>::new());
    }
}
