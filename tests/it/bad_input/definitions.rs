//! Definitions of collections, fields, relations, users and permissions that can't be.

use serde_json::{Value, json};
use waymark_tests::each_engine;

use super::{Row, refused, row};

fn rows() -> Vec<Row> {
    let long = "n".repeat(10_000);
    let mut rows = Vec::new();
    let mut post = |path: &str, bodies: Vec<Value>| rows.extend(bodies.into_iter().map(|body| row("POST", path, body)));
    post(
        "/collections",
        vec![
            json!({}),
            json!([1]),
            json!([null]),
            json!({ "collection": 1 }),
            json!({ "collection": "" }),
            json!({ "collection": null, "schema": {} }),
            json!({ "collection": ["a"], "schema": {} }),
            json!({ "collection": long, "schema": {} }),
            json!({ "collection": "directus_more", "schema": {} }),
            json!({ "collection": "gadgets", "schema": {} }),
            json!({ "collection": "a\u{0}b", "schema": {} }),
            json!({ "collection": "one", "schema": 1 }),
            json!({ "collection": "two", "schema": {}, "fields": {} }),
            json!({ "collection": "two", "schema": {}, "fields": [1] }),
            json!({ "collection": "two", "schema": {}, "fields": [{}] }),
            json!({ "collection": "two", "schema": {}, "fields": [{ "field": "a", "type": "nope" }] }),
            json!({ "collection": "two", "schema": {}, "fields": [{ "field": 1, "type": "string" }] }),
            json!({ "collection": "two", "schema": {}, "fields": [{ "field": "a", "type": 1 }] }),
            json!({ "collection": "two", "schema": {}, "fields": [{ "field": "a", "type": "string" }, { "field": "a", "type": "string" }] }),
            json!({ "collection": "two", "schema": {}, "meta": 1 }),
            json!({ "collection": "two", "schema": {}, "meta": { "singleton": "perhaps" } }),
        ],
    );
    post(
        "/fields/gadgets",
        vec![
            json!({}),
            json!([]),
            json!([1]),
            json!({ "field": "a" , "type": "nope" }),
            json!({ "field": 1, "type": "string" }),
            json!({ "field": "", "type": "string" }),
            json!({ "field": "label", "type": "string" }),
            json!({ "field": long, "type": "string" }),
            json!({ "field": "a\u{0}", "type": "string" }),
            json!({ "field": "a", "type": "string", "schema": 1 }),
            json!({ "field": "a", "type": "string", "schema": { "max_length": -1 } }),
            json!({ "field": "a", "type": "string", "schema": { "max_length": "x" } }),
            json!({ "field": "a", "type": "string", "meta": [] }),
            json!({ "field": "a", "type": "integer", "schema": { "default_value": "x" } }),
            json!({ "field": "a", "type": "boolean", "schema": { "default_value": [] } }),
            json!({ "field": "a", "type": "decimal", "schema": { "numeric_precision": -3 } }),
            json!({ "field": "a", "type": "string", "schema": { "is_nullable": false } }),
        ],
    );
    post("/fields/nope", vec![json!({ "field": "a", "type": "string" })]);
    post(
        "/relations",
        vec![
            json!({}),
            json!([]),
            json!([1]),
            json!({ "collection": "gadgets" }),
            json!({ "collection": 1, "field": 2, "related_collection": 3 }),
            json!({ "collection": "nope", "field": "a", "related_collection": "makers" }),
            json!({ "collection": "gadgets", "field": "nope", "related_collection": "makers" }),
            json!({ "collection": "gadgets", "field": "amount", "related_collection": "nope" }),
            json!({ "collection": "gadgets", "field": "maker", "related_collection": "makers" }),
            json!({ "collection": "gadgets", "field": "amount", "related_collection": "makers", "meta": 1 }),
            json!({ "collection": "gadgets", "field": "amount", "related_collection": ["makers"] }),
            json!({ "collection": "gadgets", "field": long, "related_collection": "makers" }),
        ],
    );
    post(
        "/users",
        vec![
            json!([1]),
            json!({ "email": 1 }),
            json!({ "email": "a@b.example", "role": "x" }),
            json!({ "email": "a@b.example", "role": "00000000-0000-4000-8000-000000000009" }),
            json!({ "email": "admin@example.com" }),
            json!({ "email": "ADMIN@example.com" }),
            json!({ "email": "a\u{0}@b.example" }),
            json!({ "email": "a@b.example", "password": 7 }),
            json!({ "email": "a@b.example", "password": {} }),
            json!({ "email": format!("{long}@b.example") }),
        ],
    );
    post(
        "/roles",
        vec![
            json!([1]),
            json!({}),
            json!({ "name": null }),
            json!({ "name": [] }),
            json!({ "name": "r", "admin_access": "perhaps" }),
            json!({ "name": "x".repeat(300) }),
        ],
    );
    post(
        "/permissions",
        vec![
            json!([1]),
            json!({ "role": null, "collection": "gadgets", "action": "explode" }),
            json!({ "role": "x", "collection": "gadgets", "action": "read" }),
            json!({ "role": null, "collection": "gadgets", "action": "read", "permissions": [] }),
            json!({ "role": null, "collection": "gadgets", "action": "read", "permissions": 7 }),
            json!({ "role": null, "collection": "gadgets", "action": "read", "permissions": { "label": { "_about": 1 } } }),
            json!({ "role": null, "collection": "gadgets", "action": "read", "permissions": { "_or": {} } }),
            json!({ "role": null, "collection": "gadgets", "action": "create", "validation": { "label": { "_eqq": 1 } } }),
            json!({ "role": null, "collection": "gadgets", "action": "create", "presets": [] }),
            json!({ "role": null, "action": "read" }),
            json!({ "role": null, "collection": "gadgets", "action": 7 }),
            json!({ "role": null, "collection": "gadgets" }),
        ],
    );
    for (path, body) in [
        ("/collections/nope", json!({ "meta": {} })),
        ("/collections/gadgets", json!([1])),
        ("/collections/gadgets", json!({ "meta": 1 })),
        ("/fields/gadgets/nope", json!({ "schema": { "is_nullable": false } })),
        ("/fields/gadgets/label", json!([1])),
        ("/fields/gadgets/label", json!({ "type": "nope" })),
        ("/fields/gadgets/notes", json!({ "schema": { "is_nullable": false } })),
        ("/fields/gadgets/label", json!({ "schema": 1 })),
        ("/fields/gadgets/label", json!({ "schema": { "max_length": -4 } })),
        ("/relations/gadgets/nope", json!({ "meta": {} })),
        ("/relations/gadgets/maker", json!([1])),
        ("/users/nope", json!({ "first_name": "x" })),
        ("/users", json!([1])),
        ("/roles/nope", json!({ "name": "x" })),
        ("/permissions/x", json!({ "action": "read" })),
        ("/users/me", json!([1])),
        ("/users/me", json!({ "email": 7 })),
    ] {
        rows.push(row("PATCH", path, body));
    }
    for path in [
        "/collections/nope",
        "/collections/directus_users",
        "/fields/gadgets/nope",
        "/fields/gadgets/id",
        "/fields/directus_users/email",
        "/fields/nope/a",
        "/relations/gadgets/nope",
        "/relations/nope/a",
        "/users/x",
        "/roles/x",
        "/permissions/x",
    ] {
        rows.push(row("DELETE", path, Value::Null));
    }
    rows
}

each_engine! {
    async fn definitions_that_cannot_be_are_refused(kind) {
        refused(kind, rows()).await;
    }
}
