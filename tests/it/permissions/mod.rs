//! What a role may see and do: fields, rows, presets, validation; and that nothing is learnt sideways.

mod app;
mod fields;
mod lists;
mod rows;
mod writes;

use serde_json::{Value, json};
use waymark_tests::{Client, Server, each_engine};

/// Clinics and patients; `diagnosis` and `budget` are what nobody else may see.
pub async fn scene(admin: &Client) {
    admin
        .create_collection(
            "clinics",
            json!([
                { "field": "name", "type": "string" },
                { "field": "budget", "type": "integer" },
                { "field": "head", "type": "uuid" },
            ]),
        )
        .await;
    admin
        .create_collection(
            "patients",
            json!([
                { "field": "name", "type": "string" },
                { "field": "age", "type": "integer" },
                { "field": "diagnosis", "type": "string" },
                { "field": "doctor", "type": "uuid" },
                { "field": "clinic", "type": "integer" },
            ]),
        )
        .await;
    admin
        .must_post("/fields/clinics", json!({ "field": "patients", "type": "alias", "meta": { "special": ["o2m"] } }))
        .await;
    let relation = json!({ "collection": "patients", "field": "clinic", "related_collection": "clinics", "meta": { "one_field": "patients" } });
    admin.must_post("/relations", relation).await;
    admin
        .must_post("/items/clinics", json!([{ "name": "North", "budget": 10 }, { "name": "South", "budget": 99 }]))
        .await;
    admin
        .must_post(
            "/items/patients",
            json!([
                { "name": "Ida", "age": 30, "diagnosis": "flu", "clinic": 1 },
                { "name": "Jon", "age": 40, "diagnosis": "gout", "clinic": 2 },
                { "name": "Kim", "age": 50, "diagnosis": "flu", "clinic": 1 },
            ]),
        )
        .await;
}

/// A user of a fresh role.
pub async fn nurse(server: &Server, admin: &Client) -> (String, String, Client) {
    let role = admin.create_role("nurse", false).await;
    let user = admin.create_user(Some(&role)).await;
    let client = server.client().login(&user.email, &user.password).await;
    (role, user.id, client)
}

pub async fn names(client: &Client, path: &str) -> Vec<String> {
    let (status, body) = client.get(path).await;
    assert_eq!(status, 200, "{path}: {body}");
    let rows = body["data"].as_array().expect("a list");
    rows.iter().map(|row| row["name"].as_str().unwrap_or_default().to_owned()).collect()
}

each_engine! {
    async fn without_a_rule_everything_is_forbidden_like_what_is_missing(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (_, _, nurse) = nurse(&server, &admin).await;
        for client in [&nurse, &server.client()] {
            for (method, path, body) in [
                ("GET", "/items/patients", Value::Null), ("GET", "/items/patients/1", Value::Null), ("GET", "/items/patients/99", Value::Null),
                ("GET", "/items/nowhere", Value::Null), ("GET", "/items/nowhere/1", Value::Null), ("POST", "/items/patients", json!({ "name": "x" })),
                ("PATCH", "/items/patients/1", json!({ "name": "x" })), ("DELETE", "/items/patients/1", Value::Null), ("DELETE", "/items/patients", json!([1])),
                ("PATCH", "/items/patients", json!({ "query": {}, "data": { "name": "x" } })), ("DELETE", "/items/patients", json!({ "query": {} })),
                ("GET", "/collections/patients", Value::Null), ("POST", "/collections", json!({ "collection": "more", "schema": {} })),
                ("DELETE", "/collections/patients", Value::Null), ("POST", "/fields/patients", json!({ "field": "f", "type": "string" })),
                ("DELETE", "/fields/patients/name", Value::Null), ("POST", "/relations", json!({ "collection": "patients", "field": "age", "related_collection": "clinics" })),
                ("GET", "/users", Value::Null), ("GET", "/roles", Value::Null), ("POST", "/permissions", json!({ "role": null, "collection": "patients", "action": "read" })),
                ("POST", "/users", json!({ "email": "x@example.com" })), ("GET", "/items/patients?aggregate[count]=*", Value::Null),
                ("GET", "/items/patients?meta=*", Value::Null),
            ] {
                let answer = client.request(method, path, (!body.is_null()).then_some(body)).await;
                let empty = answer.status == 200 && answer.body["data"] == json!([]);
                let system = path == "/users" || path == "/roles";
                assert!((system && empty) || (answer.status == 403 && answer.codes() == ["FORBIDDEN"]), "{method} {path}: {} {}", answer.status, answer.body);
            }
        }
        assert_eq!(names(&admin, "/items/patients?sort=id").await, ["Ida", "Jon", "Kim"]);
    }

    async fn a_change_of_rules_acts_on_the_next_request(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, user, nurse) = nurse(&server, &admin).await;
        assert_eq!(nurse.get("/items/patients").await.0, 403);
        let rule = json!({ "role": role, "collection": "patients", "action": "read", "fields": ["name"], "permissions": {} });
        let id = admin.must_post("/permissions", rule).await["id"].clone();
        assert_eq!(names(&nurse, "/items/patients?sort=name").await.len(), 3);
        let (status, _) = admin.patch(&format!("/permissions/{id}"), json!({ "permissions": { "age": { "_gt": 45 } } })).await;
        assert_eq!(status, 200);
        assert_eq!(names(&nurse, "/items/patients").await, ["Kim"]);
        assert_eq!(admin.delete(&format!("/permissions/{id}"), Value::Null).await.0, 204);
        assert_eq!(nurse.get("/items/patients").await.0, 403);
        assert_eq!(admin.patch(&format!("/roles/{role}"), json!({ "admin_access": true })).await.0, 200);
        assert_eq!(names(&nurse, "/items/patients").await.len(), 3);
        assert_eq!(admin.patch(&format!("/users/{user}"), json!({ "role": null })).await.0, 200);
        assert_eq!(nurse.get("/items/patients").await.0, 403);
    }

    async fn the_public_rule_is_for_callers_without_a_token(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (_, _, nurse) = nurse(&server, &admin).await;
        admin.permit(None, "clinics", "read", json!({ "fields": ["name"] })).await;
        assert_eq!(names(&server.client(), "/items/clinics").await, ["North", "South"]);
        assert_eq!(nurse.get("/items/clinics").await.0, 403);
    }
}
