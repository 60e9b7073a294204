//! A change on one replica is known to the others at once. Their caches would keep what they have for an hour.

use serde_json::json;
use waymark_tests::{Kind, Replicas, StoreKind, each_engine, each_store, until};

const LONG: &[(&str, &str)] = &[("CACHE_SYSTEM_TTL", "1h")];

/// Whatever is changed through `one` is looked for through `other`.
async fn follows(engine: Kind, store: StoreKind) {
    let replicas = Replicas::start(engine, store, 2, LONG).await;
    let [one, other] = replicas.servers.as_slice() else { panic!("two servers") };
    let (admin, far_admin) = (one.admin().await, other.admin().await);

    // A collection and its fields.
    admin.create_collection("harbours", json!([{ "field": "name", "type": "string" }])).await;
    until("a new collection is served", || async { far_admin.get("/items/harbours").await.0 == 200 }).await;
    admin.must_post("/fields/harbours", json!({ "field": "depth", "type": "integer" })).await;
    until("a new field is served", || async { far_admin.get("/items/harbours?fields=depth").await.0 == 200 }).await;

    // A permission, given and taken.
    let role = admin.create_role("Pilots", false).await;
    let user = admin.create_user(Some(&role)).await;
    let pilot = other.client().login(&user.email, &user.password).await;
    assert_eq!(pilot.get("/items/harbours").await.0, 403);
    admin.permit(Some(&role), "harbours", "read", json!({ "fields": ["*"] })).await;
    until("a permission counts", || async { pilot.get("/items/harbours").await.0 == 200 }).await;
    let rules = format!("/permissions?filter[role][_eq]={role}");
    let (_, given) = admin.get(&rules).await;
    let id = given["data"][0]["id"].clone();
    assert_eq!(admin.delete("/permissions", json!([id])).await.0, 204);
    until("a permission taken counts", || async { pilot.get("/items/harbours").await.0 == 403 }).await;

    // A user suspended.
    assert_eq!(pilot.get("/users/me").await.0, 200);
    assert_eq!(admin.patch(&format!("/users/{}", user.id), json!({ "status": "suspended" })).await.0, 200);
    until("a suspended user is refused", || async { pilot.get("/users/me").await.0 == 401 }).await;

    // A collection dropped.
    assert_eq!(admin.delete("/collections/harbours", json!(null)).await.0, 204);
    until("a dropped collection is gone", || async { far_admin.get("/items/harbours").await.0 == 403 }).await;
}

each_store! {
    async fn what_one_replica_changes_the_others_know(store) {
        follows(Kind::Sqlite, store).await;
    }
}

each_engine! {
    async fn on_each_engine(kind) {
        follows(kind, StoreKind::Redis).await;
    }
}

/// Replicas with different namespaces share a store and nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_namespaces_are_not_heard() {
    let mut replicas = Replicas::start(Kind::Sqlite, StoreKind::Redis, 1, LONG).await;
    let settings = replicas.store.settings();
    replicas.add(&settings, &[("CACHE_SYSTEM_TTL", "1h"), ("MESSENGER_NAMESPACE", "another")]).await;
    let [one, other] = replicas.servers.as_slice() else { panic!("two servers") };
    let (admin, far_admin) = (one.admin().await, other.admin().await);
    admin.create_collection("harbours", json!([{ "field": "name", "type": "string" }])).await;
    // Both have been told of what they were to be told of when an own change is known.
    far_admin.create_collection("islands", json!([{ "field": "name", "type": "string" }])).await;
    assert_eq!(admin.get("/items/islands").await.0, 403);
    let (_, health) = admin.get("/server/health").await;
    assert_eq!(health["checks"]["messenger:replicas"][0]["observedValue"], 1);
}
