//! Who the replicas are, and whether they belong together.

use serde_json::Value;
use waymark_tests::{Kind, Replicas, StoreKind, each_store, until};

each_store! {
    async fn admins_see_the_live_replicas_and_the_public_only_a_status(store) {
        let mut replicas = Replicas::start(Kind::Sqlite, store, 3, &[]).await;
        let admin = replicas.servers[0].admin().await;
        let (_, health) = admin.get("/server/health").await;
        let check = &health["checks"]["messenger:replicas"][0];
        let listed = check["replicas"].as_array().expect("a list");
        let ids: std::collections::BTreeSet<&str> = listed.iter().filter_map(|replica| replica["id"].as_str()).collect();
        assert_eq!((ids.len(), check["status"].as_str()), (3, Some("ok")), "{check}");
        assert_eq!(listed.iter().filter(|replica| replica["own"] == true).count(), 1, "{check}");
        assert!(listed.iter().all(|replica| replica["version"].is_string() && replica["started"].is_string()), "{check}");
        assert_eq!(replicas.servers[0].client().get("/server/health").await.1, serde_json::json!({ "status": "ok" }));
        replicas.servers.pop().expect("a server").stop();
        until("a stopped replica leaves", || async {
            admin.get("/server/health").await.1["checks"]["messenger:replicas"][0]["observedValue"] == 2
        })
        .await;
    }

    async fn another_deployment_in_the_namespace_is_reported(store) {
        let mut replicas = Replicas::start(Kind::Sqlite, store, 1, &[]).await;
        let settings = replicas.store.settings();
        replicas.add(&settings, &[("KEY", "of-somebody-else")]).await;
        reported(&replicas, "deployment").await;
    }

    async fn another_time_zone_is_reported(store) {
        let mut replicas = Replicas::start(Kind::Sqlite, store, 1, &[("SCHEDULE_TIMEZONE", "Europe/Berlin")]).await;
        let settings = replicas.store.settings();
        replicas.add(&settings, &[("SCHEDULE_TIMEZONE", "America/Santiago")]).await;
        reported(&replicas, "zone").await;
    }
}

/// The system's own variable counts like the setting; names of one zone don't differ.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_zone_of_the_machine_counts_too() {
    let mut replicas = Replicas::start(Kind::Sqlite, StoreKind::Redis, 1, &[("TZ", "Etc/UTC")]).await;
    let settings = replicas.store.settings();
    replicas.add(&settings, &[]).await;
    let admin = replicas.servers[0].admin().await;
    until("the replicas know each other", || async {
        let (_, health) = admin.get("/server/health").await;
        let check = &health["checks"]["messenger:replicas"][0];
        check["observedValue"] == 2 && check["status"] == "ok"
    })
    .await;
    replicas.add(&settings, &[("TZ", ":Australia/Lord_Howe")]).await;
    reported(&replicas, "Lord_Howe").await;
}

/// Both replicas say what is wrong; they answer all the same, and don't tell the public.
async fn reported(replicas: &Replicas, word: &str) {
    for server in &replicas.servers {
        let admin = server.admin().await;
        until("the problem is reported", || async {
            let (status, health) = admin.get("/server/health").await;
            let check: &Value = &health["checks"]["messenger:replicas"][0];
            status == 200
                && health["status"] == "warn"
                && check["status"] == "error"
                && check["output"].as_str().is_some_and(|output| output.contains(word) && !output.contains("somebody"))
        })
        .await;
        assert_eq!(server.client().get("/server/health").await, (200, serde_json::json!({ "status": "warn" })));
    }
}
