//! `/server/*` and what happens to a server as a whole.

mod errors;

use serde_json::json;
use waymark_tests::{Kind, Server, SqlLog, each_engine};

each_engine! {
    async fn tells_everybody_the_project_and_admins_the_version(kind) {
        let server = Server::start(kind).await;
        let (status, info) = server.client().get("/server/info").await;
        assert_eq!(status, 200, "{info}");
        assert_eq!(info["data"]["project"]["project_name"], json!("Waymark"));
        assert_eq!(info["data"].get("waymark"), None);
        let (_, info) = server.admin().await.get("/server/info").await;
        assert!(info["data"]["waymark"]["version"].is_string(), "{info}");
    }

    async fn health_is_ok_and_details_are_for_admins(kind) {
        let server = Server::start_with(kind, &[("DB_HEALTHCHECK_THRESHOLD", "60000")]).await;
        assert_eq!(server.client().get("/server/health").await, (200, json!({ "status": "ok" })));
        let (status, health) = server.admin().await.get("/server/health").await;
        assert_eq!((status, &health["status"]), (200, &json!("ok")));
        let check = format!("{}:responseTime", kind.client());
        assert_eq!(health["checks"][&check][0]["status"], json!("ok"), "{health}");
    }

    async fn a_second_server_opens_the_database_of_the_first(kind) {
        let first = Server::start(kind).await;
        let second = Server::start_on(first.database.clone(), &[]).await;
        first.stop();
        assert_eq!(second.admin().await.get("/users/me?fields=email").await.0, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ping_touches_no_table() {
    let sql = SqlLog::start();
    let server = Server::start(Kind::Sqlite).await;
    drop(sql.take());
    for _ in 0..3 {
        assert_eq!(server.client().get("/server/ping").await, (200, json!("pong")));
    }
    assert_eq!(sql.take(), Vec::<String>::new());
}
