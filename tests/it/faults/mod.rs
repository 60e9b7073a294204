//! What people reported of comparable systems, as what must hold here. Each test names the threads
//! (by number) or the advisories (GHSA id) it answers. Writes have theirs beside the writes.

mod aggregates;
mod kept;
mod load;
mod relations;
mod rendering;
mod rules;
mod secrets;
mod sideways;

use serde_json::{Value, json};
use waymark_tests::{Client, Server};

/// Houses show plays, plays have a cast (many-to-many over `casts`), houses pin up notices
/// (many-to-any: plays and actors). Plays belong to users.
pub async fn scene(admin: &Client) {
    let list = |field: &str| json!({ "field": field, "type": "alias", "schema": null, "meta": { "special": ["o2m"] } });
    let plain = |field: &str, kind: &str| json!({ "field": field, "type": kind });
    let special = |field: &str, kind: &str, special: &str| json!({ "field": field, "type": kind, "meta": { "special": [special] } });
    let decimal =
        json!({ "field": "price", "type": "decimal", "schema": { "numeric_precision": 20, "numeric_scale": 5 } });
    for (name, fields) in [
        (
            "houses",
            json!([
                plain("name", "string"),
                plain("city", "string"),
                plain("patron", "string"),
                list("plays"),
                list("notices")
            ]),
        ),
        (
            "plays",
            json!([
                plain("title", "string"),
                plain("takings", "bigInteger"),
                decimal,
                plain("premiere", "date"),
                special("notes", "json", "cast-json"),
                special("code", "string", "conceal"),
                special("born", "date", "conceal"),
                special("pin", "string", "hash"),
                plain("house", "integer"),
                plain("owner", "uuid"),
                list("cast"),
            ]),
        ),
        ("actors", json!([plain("name", "string"), plain("age", "integer"), list("casts")])),
        ("casts", json!([plain("play", "integer"), plain("actor", "integer"), plain("part", "string")])),
        ("notices", json!([plain("house", "integer"), plain("item", "string"), plain("collection", "string")])),
    ] {
        admin.create_collection(name, fields).await;
    }
    for (many, field, one, meta) in [
        ("plays", "house", json!("houses"), json!({ "one_field": "plays" })),
        ("plays", "owner", json!("directus_users"), json!({})),
        ("casts", "play", json!("plays"), json!({ "one_field": "cast", "junction_field": "actor" })),
        ("casts", "actor", json!("actors"), json!({ "one_field": "casts", "junction_field": "play" })),
        ("notices", "house", json!("houses"), json!({ "one_field": "notices", "junction_field": "item" })),
        (
            "notices",
            "item",
            Value::Null,
            json!({ "one_collection_field": "collection", "one_allowed_collections": ["plays", "actors"] }),
        ),
    ] {
        let relation = json!({ "collection": many, "field": field, "related_collection": one, "meta": meta });
        admin.must_post("/relations", relation).await;
    }
    let items = [
        (
            "houses",
            json!([
                { "name": "Globe", "city": "London", "patron": "Burbage" },
                { "name": "Rose", "city": "London", "patron": "Henslowe" },
                { "name": "Burg", "city": "Vienna", "patron": "Joseph" },
            ]),
        ),
        ("actors", json!([{ "name": "Ann", "age": 30 }, { "name": "Bob", "age": 40 }, { "name": "Cid", "age": 50 }])),
        (
            "plays",
            json!([
                { "title": "Hamlet", "takings": "9007199254740993", "price": "1234567890.12345", "premiere": "1999-12-31",
                    "notes": { "acts": 5 }, "code": "otter", "born": "1990-05-17", "pin": "1234", "house": 1 },
                { "title": "Lear", "takings": 5, "price": "0.10000", "premiere": "2000-01-01", "notes": [1, 2, 3], "code": "trout", "house": 1 },
                { "title": "Faust", "takings": 7, "price": "0.20000", "code": "otter", "born": "1991-01-01", "house": 3 },
                { "title": "Tempest" },
                { "title": "Edward", "takings": 5, "house": 2 },
            ]),
        ),
        (
            "casts",
            json!([
                { "play": 1, "actor": 1, "part": "Hamlet" }, { "play": 1, "actor": 2, "part": "Ghost" },
                { "play": 2, "actor": 1, "part": "Fool" }, { "play": 2, "actor": 3, "part": "Lear" },
                { "play": 3, "actor": 2, "part": "Faust" },
            ]),
        ),
        (
            "notices",
            json!([
                { "house": 1, "collection": "plays", "item": "1" }, { "house": 1, "collection": "actors", "item": "2" },
                { "house": 2, "collection": "plays", "item": "5" }, { "house": 1, "collection": "plays", "item": "2" },
            ]),
        ),
    ];
    for (name, rows) in items {
        admin.must_post(&format!("/items/{name}"), rows).await;
    }
}

/// A user of a fresh role without rights: role, user id, client.
pub async fn critic(server: &Server, admin: &Client) -> (String, String, Client) {
    let role = admin.create_role("critic", false).await;
    let user = admin.create_user(Some(&role)).await;
    let client = server.client().login(&user.email, &user.password).await;
    (role, user.id, client)
}

/// `data` of a list that must be given.
pub async fn data(client: &Client, path: &str) -> Value {
    let (status, mut body) = client.get(path).await;
    assert_eq!(status, 200, "{path}: {body}");
    body["data"].take()
}

/// The ids of a list.
pub async fn ids(client: &Client, path: &str) -> Vec<i64> {
    let rows = data(client, path).await;
    rows.as_array().expect("a list").iter().map(|row| row["id"].as_i64().expect("an id")).collect()
}

/// A filter that stands in a URL.
pub fn filter(value: &Value) -> String {
    format!("filter={}", encoded(&value.to_string()))
}

pub use super::bad_input::encoded;
