//! Writes at the same time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, MySqlConnection, PgConnection};
use tokio::task::JoinSet;
use uuid::Uuid;
use waymark_tests::{Kind, Server, each_engine};

use super::column;

/// Another program at work on the database.
enum Other {
    Postgres(PgConnection),
    Mysql(MySqlConnection),
}

impl Other {
    async fn open(server: &Server) -> Option<Self> {
        let url = server.database.url();
        match server.database.kind() {
            Kind::Sqlite => None,
            Kind::Postgres => Some(Self::Postgres(PgConnection::connect(url).await.expect("PostgreSQL answers"))),
            Kind::Mysql => Some(Self::Mysql(MySqlConnection::connect(url).await.expect("MariaDB answers"))),
        }
    }

    async fn run(&mut self, sql: &str) -> Result<(), sqlx::Error> {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        match self {
            Self::Postgres(connection) => sql.execute(connection).await.map(drop),
            Self::Mysql(connection) => sql.execute(connection).await.map(drop),
        }
    }
}

each_engine! {
    async fn two_first_writes_of_a_singleton_make_one_row(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let key = json!({ "field": "id", "type": "integer", "schema": { "is_primary_key": true, "has_auto_increment": true } });
        let fields = json!([key, { "field": "motto", "type": "string" }]);
        admin.must_post("/collections", json!({ "collection": "front", "schema": {}, "meta": { "singleton": true }, "fields": fields })).await;
        let write = |motto: &'static str| {
            let admin = admin.clone();
            async move { admin.patch("/items/front", json!({ "motto": motto })).await }
        };
        let writes: JoinSet<_> = ["a", "b", "c", "d", "e"].into_iter().map(write).collect();
        for (status, body) in writes.join_all().await {
            assert_eq!(status, 200, "{body}");
        }
        assert_eq!(server.database.number("SELECT COUNT(*) FROM front").await, 1);
    }

    async fn of_two_writers_that_wait_for_each_other_one_gives_way(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        // Nobody else waits for a table of this name.
        let name = format!("seats_{}", Uuid::new_v4().simple());
        admin.create_collection(&name, json!([{ "field": "name", "type": "string" }])).await;
        let rows: Vec<Value> = (0..9).map(|_| json!({ "name": "free" })).collect();
        admin.must_post(&format!("/items/{name}"), json!(rows)).await;
        // SQLite has one writer at a time: nobody can wait for each other.
        let Some(mut other) = Other::open(&server).await else { return };
        other.run("BEGIN").await.expect("a transaction");
        // More than the server has at stake, which MariaDB looks at.
        other.run(&format!("UPDATE {name} SET name = 'other' WHERE id > 1")).await.expect("a lock");
        let (client, path) = (admin.clone(), format!("/items/{name}"));
        let mut request = JoinSet::new();
        request.spawn(async move {
            client.request("PATCH", &path, Some(json!({ "keys": [1, 2], "data": { "name": "server" } }))).await
        });
        let waiting = match kind {
            // InnoDB's own tables show what they showed before to whoever asks often. A change of two rows that
            // takes a second waits for somebody.
            Kind::Mysql => format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND TIME >= 1 AND INFO LIKE 'UPDATE%{name}%'"),
            _ => "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()".to_owned(),
        };
        let began = Instant::now();
        while server.database.number(&waiting).await == 0 {
            assert!(began.elapsed() < Duration::from_secs(20), "the server does not wait");
        }
        let outcome = other.run(&format!("UPDATE {name} SET name = 'other' WHERE id = 1")).await;
        let end = if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" };
        other.run(end).await.expect("the end");
        let answer = request.join_next().await.expect("one request").expect("an answer");
        let names = column(&admin, &name, "name").await;
        if outcome.is_ok() {
            assert_eq!((answer.status, answer.codes()), (409, vec!["CONCURRENCY_CONFLICT"]), "{}", answer.body);
            assert!(names.iter().all(|name| name == "other"), "{names:?}");
        } else {
            assert_eq!(answer.status, 200, "{}", answer.body);
            assert_eq!(names.iter().filter(|name| *name == "server").count(), 2, "{names:?}");
        }
    }

    async fn dates_beyond_2038_are_kept_or_refused_but_never_bent(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let fields = json!([{ "field": "day", "type": "date" }, { "field": "wall", "type": "dateTime" }, { "field": "moment", "type": "timestamp" }]);
        admin.create_collection("epochs", fields).await;
        let far = json!({ "day": "2199-12-31", "wall": "2199-12-31T23:59:59" });
        let made = admin.must_post("/items/epochs?fields=day,wall", far.clone()).await;
        assert_eq!(made, far);
        let answer = admin.request("POST", "/items/epochs?fields=moment", Some(json!({ "moment": "2199-12-31T23:59:59.000Z" }))).await;
        if answer.status == 200 {
            assert_eq!(answer.body["data"]["moment"], json!("2199-12-31T23:59:59.000Z"));
        } else {
            assert_eq!((kind, answer.status, answer.codes()), (Kind::Mysql, 400, vec!["VALUE_OUT_OF_RANGE"]), "{}", answer.body);
            assert_eq!(answer.body["errors"][0]["extensions"]["field"], json!("moment"));
        }
        let near = json!({ "moment": "2038-01-19T03:14:07.000Z" });
        assert_eq!(admin.must_post("/items/epochs?fields=moment", near.clone()).await, near);
    }
}
