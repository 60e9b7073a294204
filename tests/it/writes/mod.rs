//! Rows written along with others: every form a relation takes, on every kind of relation.

mod abandoned;
mod any;
mod errors;
mod faults;
mod hidden;
mod history;
mod many_to_many;
mod many_to_one;
mod one_to_many;
mod races;
mod rules;
mod tree;

use serde_json::{Value, json};
use waymark_tests::{Client, Server};

/// Shows with a venue (many to one), acts (sorted) and notes (deleted when deselected), tags (through
/// `shows_tags`), words in languages, blocks that are texts or pictures, and shows within shows.
pub async fn scene(admin: &Client) {
    let text = |name: &str| json!({ "field": name, "type": "string" });
    let number = |name: &str| json!({ "field": name, "type": "integer" });
    admin.create_collection("venues", json!([text("name"), number("seats")])).await;
    admin.create_collection("tags", json!([text("name")])).await;
    admin.create_collection("shows", json!([text("name"), number("venue"), number("part_of")])).await;
    admin.create_collection("acts", json!([text("name"), number("show"), number("slot")])).await;
    admin.create_collection("notes", json!([text("name"), number("show")])).await;
    admin.create_collection("shows_tags", json!([number("show"), number("tag"), number("place")])).await;
    admin.create_collection("words", json!([text("name"), number("show"), text("language")])).await;
    admin.create_collection("texts", json!([text("name")])).await;
    let uuid =
        json!({ "field": "id", "type": "uuid", "schema": { "is_primary_key": true }, "meta": { "special": ["uuid"] } });
    collection(admin, "pictures", json!([uuid, text("name")])).await;
    let code = json!({ "field": "code", "type": "string", "schema": { "is_primary_key": true, "max_length": 10 } });
    collection(admin, "languages", json!([code, text("name")])).await;
    admin.create_collection("blocks", json!([number("show"), text("item"), text("kind"), number("pos")])).await;
    for (one, alias, special) in [
        ("shows", "acts", "o2m"),
        ("shows", "notes", "o2m"),
        ("shows", "parts", "o2m"),
        ("shows", "tags", "m2m"),
        ("shows", "words", "translations"),
        ("shows", "blocks", "m2a"),
        ("venues", "shows", "o2m"),
    ] {
        admin
            .must_post(
                &format!("/fields/{one}"),
                json!({ "field": alias, "type": "alias", "meta": { "special": [special] } }),
            )
            .await;
    }
    for (many, field, one, meta) in [
        ("shows", "venue", "venues", json!({ "one_field": "shows" })),
        ("shows", "part_of", "shows", json!({ "one_field": "parts" })),
        ("acts", "show", "shows", json!({ "one_field": "acts", "sort_field": "slot" })),
        ("notes", "show", "shows", json!({ "one_field": "notes", "one_deselect_action": "delete" })),
        ("shows_tags", "show", "shows", json!({ "one_field": "tags", "junction_field": "tag", "sort_field": "place" })),
        ("shows_tags", "tag", "tags", json!({ "junction_field": "show" })),
        ("words", "show", "shows", json!({ "one_field": "words", "junction_field": "language" })),
        ("words", "language", "languages", json!({ "junction_field": "show" })),
        ("blocks", "show", "shows", json!({ "one_field": "blocks", "junction_field": "item", "sort_field": "pos" })),
    ] {
        let schema = json!({ "on_delete": "SET NULL" });
        admin.must_post("/relations", json!({ "collection": many, "field": field, "related_collection": one, "meta": meta, "schema": schema })).await;
    }
    let any = json!({ "one_collection_field": "kind", "one_allowed_collections": ["texts", "pictures"], "junction_field": "show" });
    admin
        .must_post(
            "/relations",
            json!({ "collection": "blocks", "field": "item", "related_collection": null, "schema": null, "meta": any }),
        )
        .await;
}

async fn collection(admin: &Client, name: &str, fields: Value) {
    admin.must_post("/collections", json!({ "collection": name, "schema": {}, "meta": {}, "fields": fields })).await;
}

/// `data` of what must be readable.
pub async fn read(client: &Client, path: &str) -> Value {
    let (status, mut body) = client.get(path).await;
    assert_eq!(status, 200, "GET {path}: {body}");
    body["data"].take()
}

/// `data` of a change that must succeed.
pub async fn change(client: &Client, path: &str, body: Value) -> Value {
    let (status, mut answer) = client.patch(path, body.clone()).await;
    assert_eq!(status, 200, "PATCH {path} {body}: {answer}");
    answer["data"].take()
}

/// A caller with these rules: collection, action, rule.
pub async fn caller(server: &Server, admin: &Client, rules: &[(&str, &str, Value)]) -> Client {
    let role = admin.create_role("editor", false).await;
    for (collection, action, rule) in rules {
        admin.permit(Some(&role), collection, action, rule.clone()).await;
    }
    let user = admin.create_user(Some(&role)).await;
    server.client().login(&user.email, &user.password).await
}

/// One column of a collection, in the order of the keys.
pub async fn column(admin: &Client, collection: &str, field: &str) -> Vec<Value> {
    let rows = read(admin, &format!("/items/{collection}?fields={field}&sort=id&limit=-1")).await;
    rows.as_array().expect("a list").iter().map(|row| row[field].clone()).collect()
}
