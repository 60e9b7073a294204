//! Exports whose reader goes away: reading stops, and their place is free for others.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, MySqlConnection, PgConnection};
use tokio::sync::Semaphore;
use waymark_core::{
    Ctx, Result,
    items::hooks::{Hooks, ItemHook, Point},
};
use waymark_tests::{Client, Database, Kind, Leaving, Server, SqlLog, Unanswered, each_engine};

/// Room for one export at a time, and for what else is asked meanwhile.
const ONE_PLACE: &[(&str, &str)] = &[("DB_POOL__MAX", "3")];
const DEADLINE: Duration = Duration::from_mins(1);

/// Ten thousand readings, one note.
async fn scene(server: &Server, admin: &Client) {
    admin.create_collection("readings", json!([{ "field": "words", "type": "string" }])).await;
    admin.create_collection("notes", json!([{ "field": "words", "type": "string" }])).await;
    admin.must_post("/items/notes", json!({ "words": "short" })).await;
    let digits = "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 \
        UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)";
    let words = "x".repeat(200);
    let rows = format!("SELECT '{words}' FROM {digits} a, {digits} b, {digits} c, {digits} d");
    server.database.execute(&format!("INSERT INTO readings (words) {rows}")).await;
}

/// An export needs the only place; it waits for it at most 20 s.
async fn another_export_is_answered(admin: &Client) {
    let answer = tokio::time::timeout(DEADLINE, admin.get("/items/notes?export=json&fields=words")).await;
    assert_eq!(answer.expect("an answer in time"), (200, json!([{ "words": "short" }])));
}

/// Counts the parts of an export, and holds each until it is let go.
#[derive(Default)]
struct Gate {
    parts: AtomicUsize,
    arrived: Signals,
    open: Signals,
}

/// What is counted up before it is waited for.
struct Signals(Semaphore);

impl Default for Signals {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

#[async_trait]
impl ItemHook for Gate {
    fn points(&self) -> Vec<Point> {
        vec![Point::Read]
    }

    async fn read(&self, _: &Ctx<'_>, _: &str, rows: Vec<Value>) -> Result<Vec<Value>> {
        self.parts.fetch_add(1, Ordering::SeqCst);
        self.arrived.0.add_permits(1);
        self.open.0.acquire().await.expect("an open semaphore").forget();
        Ok(rows)
    }
}

/// Somebody who keeps a table to himself.
enum Owner {
    Postgres(PgConnection),
    Mysql(MySqlConnection),
}

impl Owner {
    async fn of(database: &Database, table: &str) -> Option<Self> {
        let run = |sql: String| sqlx::raw_sql(AssertSqlSafe(sql));
        match database.kind() {
            Kind::Sqlite => None,
            Kind::Postgres => {
                let mut connection = PgConnection::connect(database.url()).await.expect("PostgreSQL answers");
                let sql = format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE");
                run(sql).execute(&mut connection).await.expect("a lock");
                Some(Self::Postgres(connection))
            }
            Kind::Mysql => {
                let mut connection = MySqlConnection::connect(database.url()).await.expect("MariaDB answers");
                run(format!("LOCK TABLES {table} WRITE")).execute(&mut connection).await.expect("a lock");
                Some(Self::Mysql(connection))
            }
        }
    }

    async fn leave(self) {
        match self {
            Self::Postgres(connection) => connection.close().await,
            Self::Mysql(connection) => connection.close().await,
        }
        .expect("the connection closes");
    }
}

each_engine! {
    async fn reading_by_keys_stops_at_the_next_part(kind) {
        for leaving in [Leaving::Closed, Leaving::Broken] {
            let gate = Arc::new(Gate::default());
            let database = Arc::new(Database::create(kind).await);
            let server = Server::start_hooked(database, ONE_PLACE, Hooks::default().on("readings", gate.clone())).await;
            let admin = server.admin().await;
            scene(&server, &admin).await;
            let export = Unanswered::send(&server, "GET", "/items/readings?limit=-1&export=csv", "").await;
            let first = tokio::time::timeout(DEADLINE, gate.arrived.0.acquire()).await;
            first.expect("a part in time").expect("an open semaphore").forget();
            export.leave(leaving);
            gate.open.0.add_permits(1000);
            another_export_is_answered(&admin).await;
            assert_eq!(gate.parts.load(Ordering::SeqCst), 1, "{leaving:?}: parts that were read");
        }
    }

    async fn a_statement_that_nobody_waits_for_is_ended(kind) {
        let sql = SqlLog::start();
        let server = Server::start_with(kind, ONE_PLACE).await;
        let admin = server.admin().await;
        scene(&server, &admin).await;
        for leaving in [Leaving::Closed, Leaving::Broken] {
            let owner = Owner::of(&server.database, "readings").await;
            drop(sql.take());
            let export = Unanswered::send(&server, "GET", "/items/readings?limit=-1&export=xml", "").await;
            let reading = async {
                while !sql.take().iter().any(|sql| sql.starts_with("SELECT") && sql.contains("readings")) {
                    tokio::time::sleep(Duration::from_millis(5)).await; // a pause between questions
                }
            };
            tokio::time::timeout(DEADLINE, reading).await.expect("the export is being read");
            export.leave(leaving);
            another_export_is_answered(&admin).await;
            if let Some(owner) = owner {
                owner.leave().await;
            }
            // The connection is as good as before.
            let count = admin.get("/items/readings?aggregate[count]=*").await;
            assert_eq!(count.1["data"][0]["count"], json!(10_000), "{leaving:?}");
            let (status, whole) = admin.get("/items/readings?limit=-1&export=json&fields=id").await;
            assert_eq!((status, whole.as_array().map(Vec::len)), (200, Some(10_000)), "{leaving:?}");
        }
    }
}
