//! A write whose client goes away comes to its end all the same.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use waymark_core::{
    Ctx, Result,
    items::hooks::{Hooks, ItemAction, ItemHook, Point},
};
use waymark_tests::{Database, Leaving, Server, Unanswered, each_engine};

const DEADLINE: Duration = Duration::from_mins(1);

/// Holds every new letter until it is let go; hears of those that are committed.
struct Desk {
    arrived: Semaphore,
    open: Semaphore,
    committed: Semaphore,
}

#[async_trait]
impl ItemHook for Desk {
    fn points(&self) -> Vec<Point> {
        vec![Point::Create, Point::Committed]
    }

    async fn create(&self, _: &Ctx<'_>, _: &str, payload: Map<String, Value>) -> Result<Map<String, Value>> {
        self.arrived.add_permits(1);
        self.open.acquire().await.expect("an open semaphore").forget();
        Ok(payload)
    }

    fn committed(&self, _: &ItemAction) {
        self.committed.add_permits(1);
    }
}

async fn next(signals: &Semaphore, what: &str) {
    let signal = tokio::time::timeout(DEADLINE, signals.acquire()).await;
    signal.unwrap_or_else(|_| panic!("not in time: {what}")).expect("an open semaphore").forget();
}

each_engine! {
    async fn a_write_outlives_its_connection(kind) {
        let signals = || Semaphore::new(0);
        let desk = Arc::new(Desk { arrived: signals(), open: signals(), committed: signals() });
        let database = Arc::new(Database::create(kind).await);
        let server = Server::start_hooked(database, &[], Hooks::default().on("letters", desk.clone())).await;
        let admin = server.admin().await;
        admin.create_collection("letters", json!([{ "field": "text", "type": "string" }])).await;
        for (number, leaving) in [Leaving::Broken, Leaving::Closed].into_iter().enumerate() {
            let write = Unanswered::send(&server, "POST", "/items/letters", "{\"text\":\"dear\"}").await;
            next(&desk.arrived, "the write").await;
            write.leave(leaving);
            // Time for the server to notice.
            for _ in 0..20 {
                assert_eq!(server.client().get("/server/ping").await.0, 200);
            }
            desk.open.add_permits(1);
            next(&desk.committed, "the commit").await;
            let (_, body) = admin.get("/items/letters?aggregate[count]=*").await;
            assert_eq!(body["data"][0]["count"], json!(number + 1), "{leaving:?}");
        }
    }
}
