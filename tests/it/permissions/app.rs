//! The app-access minimum: what it grants, and that clients are told of it.

use serde_json::{Value, json};
use waymark_tests::{Client, Server, each_engine};

async fn granted(client: &Client, path: &str) -> Vec<Value> {
    let (status, body) = client.get(path).await;
    assert_eq!(status, 200, "{path}: {body}");
    body["data"].as_array().expect("a list").clone()
}

each_engine! {
    async fn a_user_of_the_app_sees_the_minimum_among_its_permissions(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        admin.create_collection("lamps", json!([{ "field": "name", "type": "string" }])).await;
        let role = admin.create_role("porter", true).await;
        let user = admin.create_user(Some(&role)).await;
        admin.permit(Some(&role), "lamps", "read", json!({ "fields": ["name"] })).await;
        let porter = server.client().login(&user.email, &user.password).await;
        let rows = granted(&porter, "/permissions").await;
        let stored: Vec<_> = rows.iter().filter(|row| row["system"] != true).collect();
        assert_eq!(stored.len(), 1, "{rows:?}");
        assert_eq!((&stored[0]["collection"], &stored[0]["role"]), (&json!("lamps"), &json!(role)));
        let own = rows.iter().find(|row| row["collection"] == "directus_users").expect("the own user");
        assert_eq!((&own["action"], &own["system"], own.get("id")), (&json!("read"), &json!(true), None));
        assert_eq!(own["permissions"], json!({ "id": { "_eq": "$CURRENT_USER" } }));
        assert!(own["fields"].as_array().is_some_and(|fields| fields.contains(&json!("email"))));
        for (filter, number) in [
            (json!({ "collection": { "_eq": "lamps" } }), 1),
            (json!({ "collection": { "_starts_with": "directus_presets" } }), 4),
            (json!({ "_or": [{ "action": { "_eq": "delete" } }, { "collection": { "_in": ["lamps", "directus_settings"] } }] }), 3),
            (json!({ "role": { "_eq": "$CURRENT_ROLE" }, "collection": { "_eq": "directus_roles" } }), 1),
            (json!({ "role": { "_eq": "00000000-0000-4000-8000-000000000000" } }), 0),
            (json!({ "role": { "name": { "_eq": "porter" } } }), 1),
        ] {
            assert_eq!(granted(&porter, &format!("/permissions?filter={filter}")).await.len(), number, "{filter}");
        }
        let (status, export) = porter.get("/permissions?export=json").await;
        assert_eq!((status, export.as_array().map(Vec::len)), (200, Some(rows.len())));
        let (_, body) = porter.search("/permissions", json!({ "fields": ["collection"], "filter": { "action": { "_eq": "delete" } } })).await;
        assert_eq!(body["data"], json!([{ "collection": "directus_presets" }]));
        assert!(granted(&admin, "/permissions").await.iter().all(|row| row["system"] != true));
        let plain = admin.create_role("plain", false).await;
        let user = admin.create_user(Some(&plain)).await;
        admin.permit(Some(&plain), "directus_permissions", "read", json!({})).await;
        let plain = server.client().login(&user.email, &user.password).await;
        assert_eq!(granted(&plain, "/permissions").await.len(), 2);
    }
}
