//! Malformed requests: each is refused with a code, none is a fault of the server, and the database
//! holds afterwards what it held before. The requests stand in tables beside this file.

mod answers;
mod bytes;
mod credentials;
mod definitions;
mod extremes;
mod injection;
mod queries;
mod values;

use serde_json::{Value, json};
use waymark_tests::{Client, Kind, Server};

/// A request: method, path with query string, body.
pub type Row = (&'static str, String, Option<Value>);

pub fn row(method: &'static str, path: impl Into<String>, body: Value) -> Row {
    (method, path.into(), (!body.is_null()).then_some(body))
}

/// `text`, so that it can stand in a URL.
pub fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        out.push_str(&format!("%{byte:02X}"));
        out
    })
}

/// A server with a field of every type, a relation, and a few rows.
pub async fn scene(kind: Kind) -> (Server, Client) {
    let server = Server::start(kind).await;
    let admin = server.admin().await;
    admin.create_collection("makers", json!([{ "field": "name", "type": "string" }])).await;
    let fields = json!([
        { "field": "label", "type": "string", "schema": { "is_nullable": false, "max_length": 40 } },
        { "field": "notes", "type": "text" },
        { "field": "amount", "type": "integer" },
        { "field": "total", "type": "bigInteger" },
        { "field": "ratio", "type": "float" },
        { "field": "price", "type": "decimal", "schema": { "numeric_precision": 8, "numeric_scale": 2 } },
        { "field": "active", "type": "boolean" },
        { "field": "built", "type": "date" },
        { "field": "tested", "type": "dateTime" },
        { "field": "opens", "type": "time" },
        { "field": "seen", "type": "timestamp" },
        { "field": "serial", "type": "uuid" },
        { "field": "extra", "type": "json", "meta": { "special": ["cast-json"] } },
        { "field": "tags", "type": "csv", "meta": { "special": ["cast-csv"] } },
        { "field": "pin", "type": "string", "meta": { "special": ["conceal"] } },
        { "field": "maker", "type": "integer" },
    ]);
    admin.create_collection("gadgets", fields).await;
    let alias = json!({ "field": "gadgets", "type": "alias", "meta": { "special": ["o2m"] } });
    admin.must_post("/fields/makers", alias).await;
    let relation = json!({ "collection": "gadgets", "field": "maker", "related_collection": "makers",
        "meta": { "one_field": "gadgets" } });
    admin.must_post("/relations", relation).await;
    admin.must_post("/items/makers", json!([{ "name": "Ada" }, { "name": "Bo" }])).await;
    let rows = json!([
        { "label": "lamp", "amount": 1, "active": true, "pin": "9876", "maker": 1, "built": "2020-02-29" },
        { "label": "fan", "amount": 2, "extra": { "a": [1] }, "price": "3.50", "maker": 2 },
    ]);
    admin.must_post("/items/gadgets", rows).await;
    (server, admin)
}

/// What the database holds, as an admin sees it.
pub async fn dump(admin: &Client) -> Value {
    let mut out = json!({});
    for path in [
        "/items/gadgets?limit=-1",
        "/items/makers?limit=-1",
        "/collections",
        "/fields",
        "/relations",
        "/users?fields=id,email,status,role,first_name",
        "/roles",
        "/permissions",
    ] {
        let (status, body) = admin.get(path).await;
        assert_eq!(status, 200, "{path}: {body}");
        out[path] = body;
    }
    out
}

/// Sends all requests; each must be refused by code. Tells all that were not.
pub async fn refused(kind: Kind, rows: Vec<Row>) {
    let (_server, admin) = scene(kind).await;
    check(&admin, &admin, rows, false).await;
}

/// Sends all requests as `caller`. `harmless`: a good answer is fine as well.
pub async fn check(admin: &Client, caller: &Client, rows: Vec<Row>, harmless: bool) {
    let before = dump(admin).await;
    let mut faults = Vec::new();
    for (method, path, body) in rows {
        let shown = format!("{method} {path:.120} {:.160}", body.as_ref().map(Value::to_string).unwrap_or_default());
        let answer = caller.request(method, &path, body).await;
        let coded = (400..500).contains(&answer.status) && !answer.codes().is_empty();
        if !(coded || (harmless && answer.status < 300)) {
            faults.push(format!("{shown} → {} {:.300}", answer.status, answer.body.to_string()));
        }
    }
    assert!(faults.is_empty(), "{} not refused:\n{}", faults.len(), faults.join("\n"));
    assert_eq!(dump(admin).await, before);
}
