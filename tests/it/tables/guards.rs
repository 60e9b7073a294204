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
}
