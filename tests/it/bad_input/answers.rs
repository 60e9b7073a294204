//! Writes whose answer is asked for in a way that makes no sense: refused before anything is written.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

each_engine! {
    async fn a_write_with_a_malformed_query_writes_nothing(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        admin.create_collection("jars", json!([{ "field": "label", "type": "string" }, { "field": "weight", "type": "integer" }])).await;
        admin.must_post("/collections", json!({ "collection": "shelf", "schema": {}, "meta": { "singleton": true }, "fields": [
            { "field": "id", "type": "integer", "schema": { "is_primary_key": true, "has_auto_increment": true } }, { "field": "label", "type": "string" } ] })).await;
        admin.must_post("/items/jars", json!({ "label": "plum", "weight": 1 })).await;
        let role = admin.create_role("cook", false).await;
        let user = admin.create_user(Some(&role)).await;
        for action in ["read", "create", "update"] {
            admin.permit(Some(&role), "jars", action, json!({ "fields": ["id", "label"] })).await;
        }
        let cook = server.client().login(&user.email, &user.password).await;
        for query in ["sort=nope", "filter[weight][_eq]=abc", "fields=year(label)", "filter[label][_about]=1", "aggregate[sum]=label", "alias[a]=year(label)&fields=a", "limit=x"] {
            for (method, path, body) in [
                ("POST", "/items/jars", json!({ "label": "fig" })),
                ("POST", "/items/jars", json!([{ "label": "fig" }, { "label": "pear" }])),
                ("PATCH", "/items/jars/1", json!({ "label": "fig" })),
                ("PATCH", "/items/jars", json!({ "keys": [1], "data": { "label": "fig" } })),
                ("PATCH", "/items/jars", json!([{ "id": 1, "label": "fig" }])),
                ("PATCH", "/items/shelf", json!({ "label": "fig" })),
            ] {
                if path == "/items/shelf" && query.contains("weight") {
                    continue;
                }
                let answer = admin.request(method, &format!("{path}?{query}"), Some(body)).await;
                assert_eq!((answer.status, answer.codes()), (400, vec!["INVALID_QUERY"]), "{method} {path}?{query}: {}", answer.body);
            }
        }
        let (_, body) = admin.get("/items/jars?fields=label").await;
        assert_eq!(body["data"], json!([{ "label": "plum" }]));
        assert_eq!(server.database.number("SELECT COUNT(*) FROM shelf").await, 0);
        // What the caller may not see is no mistake: written, and not answered.
        let (status, body) = cook.patch("/items/jars/1?fields=weight", json!({ "label": "fig" })).await;
        assert_eq!((status, body), (204, Value::Null));
        assert_eq!(admin.get("/items/jars/1?fields=label").await.1["data"]["label"], "fig");
    }
}
