//! A store that is away: the servers answer, say so, bound how stale they are, and catch up when it is back.

use serde_json::{Value, json};
use waymark_rig::Proxy;
use waymark_tests::{Client, Kind, Replicas, Server, Store, each_store, until};

async fn messenger(admin: &Client) -> String {
    let (status, health) = admin.get("/server/health").await;
    assert_eq!(status, 200, "{health}");
    health["checks"]["messenger:status"][0]["status"].as_str().unwrap_or_default().to_owned()
}

each_store! {
    async fn a_killed_store_is_told_and_its_return_makes_replicas_look_again(store) {
        let mut replicas = Replicas::start(Kind::Sqlite, store, 2, &[("CACHE_SYSTEM_TTL", "1h")]).await;
        let (admin, far_admin) = (replicas.servers[0].admin().await, replicas.servers[1].admin().await);
        replicas.store.kill();
        for admin in [&admin, &far_admin] {
            until("the health warns", || async { messenger(admin).await == "warn" }).await;
        }
        assert_eq!(replicas.servers[0].client().get("/server/health").await.1, json!({ "status": "warn" }));
        // Nobody can tell of this change.
        admin.create_collection("harbours", json!([{ "field": "name", "type": "string" }])).await;
        assert_eq!(admin.get("/items/harbours").await.0, 200);
        assert_eq!(far_admin.get("/items/harbours").await.0, 403);
        replicas.store.restart().await;
        until("what was missed is known", || async { far_admin.get("/items/harbours").await.0 == 200 }).await;
        for admin in [&admin, &far_admin] {
            until("the health is well", || async { messenger(admin).await == "ok" }).await;
        }
        admin.must_post("/fields/harbours", json!({ "field": "depth", "type": "integer" })).await;
        until("messages arrive again", || async { far_admin.get("/items/harbours?fields=depth").await.0 == 200 }).await;
    }

    async fn while_it_is_away_nothing_is_older_than_the_setting(store) {
        let mut replicas = Replicas::start(Kind::Sqlite, store, 2, &[("CACHE_SYSTEM_TTL", "300ms")]).await;
        let (admin, far_admin) = (replicas.servers[0].admin().await, replicas.servers[1].admin().await);
        replicas.store.kill();
        until("the health warns", || async { messenger(&far_admin).await == "warn" }).await;
        admin.create_collection("harbours", json!([{ "field": "name", "type": "string" }])).await;
        until("the schema is looked at", || async { far_admin.get("/items/harbours").await.0 == 200 }).await;
        let role = admin.create_role("Pilots", false).await;
        let user = admin.create_user(Some(&role)).await;
        let pilot = replicas.servers[1].client().login(&user.email, &user.password).await;
        assert_eq!(pilot.get("/users/me").await.0, 200);
        assert_eq!(admin.patch(&format!("/users/{}", user.id), json!({ "status": "suspended" })).await.0, 200);
        until("a suspended user is refused", || async { pilot.get("/users/me").await.0 == 401 }).await;
    }

    async fn a_server_starts_and_works_without_its_store(kind) {
        let mut store = Store::start(kind).await;
        store.kill();
        let settings = store.settings();
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let server = Server::start_with(Kind::Sqlite, &settings).await;
        let admin = server.admin().await;
        until("the health warns", || async { messenger(&admin).await == "warn" }).await;
        let (_, health) = admin.get("/server/health").await;
        let coordination: &Value = &health["checks"]["scheduleCoordination:status"][0];
        assert_eq!(coordination["status"], "warn", "{health}");
        admin.create_collection("harbours", json!([{ "field": "name", "type": "string" }])).await;
        admin.must_post("/items/harbours", json!({ "name": "North" })).await;
        store.restart().await;
        until("everything is well", || async { admin.get("/server/health").await.1["status"] == "ok" }).await;
    }

    async fn what_one_replica_could_not_tell_it_tells_later(kind) {
        let mut replicas = Replicas::start(Kind::Sqlite, kind, 1, &[("CACHE_SYSTEM_TTL", "1h")]).await;
        let proxy = Proxy::start(replicas.store.address()).await;
        let settings = replicas.store.settings_by(proxy.address());
        replicas.add(&settings, &[("CACHE_SYSTEM_TTL", "1h")]).await;
        let (well, cut_off) = (replicas.servers[0].admin().await, replicas.servers[1].admin().await);
        until("they know each other", || async {
            well.get("/server/health").await.1["checks"]["messenger:replicas"][0]["observedValue"] == 2
        })
        .await;
        proxy.cut();
        until("one is cut off", || async { messenger(&cut_off).await == "warn" }).await;
        cut_off.create_collection("harbours", json!([{ "field": "name", "type": "string" }])).await;
        assert_eq!((messenger(&well).await.as_str(), well.get("/items/harbours").await.0), ("ok", 403));
        proxy.restore();
        until("the others hear of it", || async { well.get("/items/harbours").await.0 == 200 }).await;
    }

    async fn a_store_that_stalls_holds_nobody_up(kind) {
        let store = Store::start(kind).await;
        let proxy = Proxy::start(store.address()).await;
        let settings = store.settings_by(proxy.address());
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let server = Server::start_with(Kind::Sqlite, &settings).await;
        let admin = server.admin().await;
        until("everything is well", || async { admin.get("/server/health").await.1["status"] == "ok" }).await;
        proxy.stall();
        // Each of these publishes.
        let role = admin.create_role("Pilots", false).await;
        for _ in 0..20 {
            let path = format!("/roles/{role}");
            let change = admin.patch(&path, json!({ "description": "busy" }));
            let answer = tokio::time::timeout(std::time::Duration::from_secs(4), change).await;
            assert_eq!(answer.expect("an answer before the store's deadline").0, 200);
        }
        until("the health warns", || async { messenger(&admin).await == "warn" }).await;
        proxy.restore();
        until("everything is well", || async { admin.get("/server/health").await.1["status"] == "ok" }).await;
    }
}
