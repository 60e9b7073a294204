//! Rows outside the caller's rules act as missing: same status, same body, same effect.

use serde_json::{Value, json};
use waymark_tests::{Client, Server, each_engine};

use super::{caller, column, read, scene};

/// Show 1 has act 1, which is open, and act 2, which is shut; act 3 is free and open, act 4 free and
/// shut. Show 2 has act 5, shut. Venue 1 is open, venue 2 shut. There is no 99.
async fn filled(admin: &Client) {
    scene(admin).await;
    admin.must_post("/items/venues", json!([{ "name": "open" }, { "name": "shut" }])).await;
    admin.must_post("/items/shows", json!([{ "name": "one" }, { "name": "two" }])).await;
    let act = |name: &str, show: Value| json!({ "name": name, "show": show });
    let acts = json!([
        act("open", json!(1)),
        act("shut", json!(1)),
        act("open", Value::Null),
        act("shut", Value::Null),
        act("shut", json!(2))
    ]);
    admin.must_post("/items/acts", acts).await;
}

fn open() -> Value {
    json!({ "permissions": { "name": { "_eq": "open" } } })
}

/// What stands in the tables of the scene.
async fn state(admin: &Client) -> Value {
    json!([
        read(admin, "/items/acts?fields=id,name,show,slot&sort=id").await,
        read(admin, "/items/shows?fields=id,name,venue&sort=id").await,
        read(admin, "/items/venues?fields=id,name,seats&sort=id").await,
        read(admin, "/items/notes?fields=id,name,show&sort=id").await,
    ])
}

/// Asks the same of each of these keys, of which one is missing: all must be answered as the missing.
async fn same_answer(admin: &Client, editor: &Client, keys: [u32; 2], label: &str, body: impl Fn(u32) -> Value) {
    let before = state(admin).await;
    let mut answers = Vec::new();
    for key in keys {
        let answer = editor.request("PATCH", "/items/shows/1", Some(body(key))).await;
        answers.push((answer.status, answer.body));
        assert_eq!(state(admin).await, before, "{label} {key}");
    }
    let [first, second] = answers.as_slice() else { panic!("two answers") };
    assert_eq!(first, second, "{label}");
    assert_eq!((first.0, &first.1["errors"][0]["extensions"]["code"]), (403, &json!("FORBIDDEN")), "{label}");
}

each_engine! {
    async fn a_hidden_child_can_not_be_told_from_a_missing_one(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        filled(&admin).await;
        let rules = [("shows", "update", json!({})), ("acts", "read", open()), ("acts", "update", open()), ("notes", "update", open())];
        let editor = caller(&server, &admin, &rules).await;
        // 2 is linked to this parent, 5 to another one, 4 to none.
        for hidden in [2, 4, 5] {
            let keys = [hidden, 99];
            same_answer(&admin, &editor, keys, "a key", |key| json!({ "acts": [1, key] })).await;
            same_answer(&admin, &editor, keys, "an object", |key| json!({ "acts": [1, { "id": key }] })).await;
            same_answer(&admin, &editor, keys, "a change", |key| json!({ "acts": [1, { "id": key, "name": "x" }] })).await;
            same_answer(&admin, &editor, keys, "update with only the key", |key| json!({ "acts": { "update": [{ "id": key }] } })).await;
            same_answer(&admin, &editor, keys, "update", |key| json!({ "acts": { "update": [{ "id": 1, "name": "open" }, { "id": key, "name": "x" }] } })).await;
            same_answer(&admin, &editor, keys, "delete", |key| json!({ "acts": { "delete": [key] } })).await;
        }
        assert_eq!(editor.patch("/items/shows/1", json!({ "acts": { "delete": [3] } })).await.0, 204, "seen, but no child: nothing to do");
        assert_eq!(editor.patch("/items/shows/1", json!({ "acts": { "update": [{ "id": 3 }] } })).await.0, 204, "seen and free: linked");
        assert_eq!(column(&admin, "acts", "show").await, [json!(1), json!(1), json!(1), Value::Null, json!(2)]);
    }

    async fn a_hidden_parent_can_not_be_told_from_a_missing_one(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        filled(&admin).await;
        let rules = [("shows", "update", json!({})), ("venues", "read", open()), ("venues", "update", open())];
        let editor = caller(&server, &admin, &rules).await;
        same_answer(&admin, &editor, [2, 99], "only the key", |key| json!({ "venue": { "id": key } })).await;
        same_answer(&admin, &editor, [2, 99], "a change", |key| json!({ "venue": { "id": key, "seats": 3 } })).await;
        assert_eq!(editor.patch("/items/shows/1", json!({ "venue": { "id": 1, "seats": 3 } })).await.0, 204);
        assert_eq!(read(&admin, "/items/shows/1?fields=venue.seats").await, json!({ "venue": { "seats": 3 } }));
    }

    async fn without_any_right_on_the_children_every_key_is_refused_alike(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        filled(&admin).await;
        let editor = caller(&server, &admin, &[("shows", "update", json!({}))]).await;
        for hidden in [1, 2, 3, 5] {
            for part in ["update", "delete"] {
                same_answer(&admin, &editor, [hidden, 99], part, |key| {
                    let element = if part == "update" { json!({ "id": key }) } else { json!(key) };
                    json!({ "acts": { part: [element] } })
                }).await;
            }
            same_answer(&admin, &editor, [hidden, 99], "list", |key| json!({ "acts": [key] })).await;
        }
    }

    async fn a_taken_key_of_a_hidden_row_answers_as_a_plain_creation(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        filled(&admin).await;
        let rules = [
            ("shows", "create", json!({})), ("shows", "update", json!({})), ("venues", "read", open()), ("venues", "update", open()),
            ("venues", "create", json!({ "validation": { "name": { "_nnull": true } } })),
        ];
        let editor = caller(&server, &admin, &rules).await;
        let before = state(&admin).await;
        let plain = editor.request("POST", "/items/venues", Some(json!({ "id": 2, "name": "x" }))).await;
        let nested = editor.request("PATCH", "/items/shows/1", Some(json!({ "venue": { "id": 2, "name": "x" } }))).await;
        assert_eq!((nested.status, &nested.body), (plain.status, &plain.body));
        // What a creation refuses anyway, it refuses before it looks for the row.
        for key in [2, 99] {
            let answer = editor.request("PATCH", "/items/shows/1", Some(json!({ "venue": { "id": key, "name": null } }))).await;
            assert_eq!((answer.status, answer.codes()), (400, vec!["FAILED_VALIDATION"]), "{key}: {}", answer.body);
        }
        assert_eq!(state(&admin).await, before);
    }

    async fn a_full_list_can_not_push_out_children_out_of_reach(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        filled(&admin).await;
        admin.must_post("/items/notes", json!([{ "name": "open", "show": 1 }, { "name": "shut", "show": 1 }])).await;
        let rules = [
            ("shows", "update", json!({})), ("acts", "read", json!({})), ("acts", "update", open()), ("acts", "create", json!({})),
            ("notes", "read", json!({})), ("notes", "update", json!({})), ("notes", "delete", open()),
        ];
        let editor = caller(&server, &admin, &rules).await;
        let before = state(&admin).await;
        for list in [json!([]), Value::Null, json!([1]), json!([{ "name": "new" }]), json!({ "delete": [2] }), json!({ "delete": [1, 2], "create": [{ "name": "new" }] })] {
            for field in ["acts", "notes"] {
                let answer = editor.request("PATCH", "/items/shows/1", Some(json!({ "name": "lost", field: list }))).await;
                assert_eq!((answer.status, answer.codes()), (403, vec!["FORBIDDEN"]), "{field} {list}: {}", answer.body);
                assert_eq!(state(&admin).await, before, "{field} {list}");
            }
        }
        assert_eq!(editor.patch("/items/shows/1", json!({ "acts": [2], "notes": [2] })).await.0, 204, "named: it stays untouched");
        assert_eq!(column(&admin, "acts", "show").await, [Value::Null, json!(1), Value::Null, Value::Null, json!(2)]);
        assert_eq!(column(&admin, "notes", "name").await, ["shut"]);
    }
}
