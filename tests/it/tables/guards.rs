//! What the database would do by itself, or could be made to do at length, is refused.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

each_engine! {
    async fn a_cascade_into_a_system_collection_is_refused(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        admin.create_collection("firms", json!([])).await;
        let (status, body) = admin.post("/fields/directus_users", json!({ "field": "firm", "type": "integer" })).await;
        assert_eq!(status, 200, "{body}");
        let relation = json!({
            "collection": "directus_users", "field": "firm", "related_collection": "firms",
            "schema": { "on_delete": "CASCADE" },
        });
        let (status, body) = admin.post("/relations", relation).await;
        assert_eq!(status, 400, "{body}");
    }

    async fn a_filter_through_too_many_relations_is_refused(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let step = json!({ "users": { "email": { "_nnull": true } } });
        let few: Vec<Value> = vec![step.clone(); 3];
        let many: Vec<Value> = vec![step; 60];
        let (status, body) = admin.get(&format!("/roles?filter={}", json!({ "_and": few }))).await;
        assert_eq!(status, 200, "{body}");
        let (status, body) = admin.get(&format!("/roles?filter={}", json!({ "_and": many }))).await;
        assert_eq!(status, 400, "{body}");
        assert_eq!(body["errors"][0]["extensions"]["code"], "INVALID_QUERY");
    }

    async fn a_column_keeps_its_type(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        admin.create_collection("firms", json!([{ "field": "name", "type": "string" }, { "field": "size", "type": "integer" }])).await;
        admin.must_post("/items/firms", json!({ "name": "x", "size": 3 })).await;
        for (field, body) in [
            ("name", json!({ "type": "integer" })),
            ("size", json!({ "type": "string" })),
            ("size", json!({ "type": "boolean", "meta": { "note": "a flag now" } })),
            ("size", json!({ "type": "text", "schema": {} })),
        ] {
            let answer = admin.request("PATCH", &format!("/fields/firms/{field}"), Some(body.clone())).await;
            assert_eq!((answer.status, answer.codes()), (400, vec!["INVALID_PAYLOAD"]), "{field} {body}: {}", answer.body);
        }
        let (status, body) = admin.patch("/fields/firms/size", json!({ "type": "integer", "meta": { "note": "people" } })).await;
        assert_eq!((status, &body["data"]["type"], &body["data"]["meta"]["note"]), (200, &json!("integer"), &json!("people")), "{body}");
        assert_eq!(admin.get("/items/firms/1").await.1["data"], json!({ "id": 1, "name": "x", "size": 3 }));
    }

    async fn changing_one_setting_of_a_built_in_collection_keeps_the_others(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let before = admin.get("/collections/directus_users").await.1["data"]["meta"].clone();
        assert_eq!((&before["archive_field"], &before["archive_value"]), (&json!("status"), &json!("archived")), "{before}");
        let (status, body) = admin.patch("/collections/directus_users", json!({ "meta": { "note": "people" } })).await;
        assert_eq!(status, 200, "{body}");
        let mut expected = before;
        expected["note"] = json!("people");
        assert_eq!(admin.get("/collections/directus_users").await.1["data"]["meta"], expected);
        let (status, body) = admin.patch("/collections/directus_users", json!({ "meta": { "archive_value": "draft" } })).await;
        assert_eq!((status, &body["data"]["meta"]["archive_value"], &body["data"]["meta"]["archive_field"]), (200, &json!("draft"), &json!("status")), "{body}");
    }
}
