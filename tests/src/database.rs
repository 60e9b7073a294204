//! Fresh databases: a file in a directory of its own, or a database on a running server. Dropped
//! with the value.

use sqlx::{
    AssertSqlSafe, Connection as _, FromRow, MySqlConnection, PgConnection, mysql::MySqlRow, postgres::PgRow,
    sqlite::SqliteRow,
};
use tempfile::TempDir;
use uuid::Uuid;

use crate::Kind;

/// An empty database that nobody else uses.
#[derive(Debug)]
pub struct Database {
    kind: Kind,
    url: String,
    /// The server and the name on it; none for SQLite.
    remote: Option<(String, String)>,
    _directory: Option<TempDir>,
}

impl Database {
    /// Makes an empty database.
    ///
    /// # Panics
    /// When the engine can't be reached or its URL is not set.
    pub async fn create(kind: Kind) -> Self {
        let Some(variable) = kind.url_variable() else {
            let directory = tempfile::tempdir().expect("a temporary directory");
            let url = format!("sqlite://{}", directory.path().join("waymark.db").display());
            return Self { kind, url, remote: None, _directory: Some(directory) };
        };
        let server = std::env::var(variable)
            .unwrap_or_else(|_| panic!("{variable} is not set: run the tests through ./scripts/test"));
        let name = format!("waymark_test_{}", Uuid::new_v4().simple());
        let url = create_on(kind, &server, &name).await;
        Self { kind, url, remote: Some((server, name)), _directory: None }
    }

    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The URL as `DB_CONNECTION_STRING` takes it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The variables that make a server use this database.
    #[must_use]
    pub fn settings(&self) -> Vec<(String, String)> {
        vec![
            ("DB_CLIENT".to_owned(), self.kind.client().to_owned()),
            ("DB_CONNECTION_STRING".to_owned(), self.url.clone()),
        ]
    }

    /// Runs statements as an operator would who makes tables by hand.
    ///
    /// # Panics
    /// When the database refuses.
    pub async fn execute(&self, sql: &str) {
        execute(self.kind, &self.direct_url(), sql).await;
    }

    /// The first column of the first row: a whole number, as `SELECT COUNT(*)` gives it.
    ///
    /// # Panics
    /// When the database refuses, or there is no such row.
    pub async fn number(&self, sql: &str) -> i64 {
        scalar(self.kind, &self.direct_url(), sql).await
    }

    /// The first column of the first row: a text.
    ///
    /// # Panics
    /// As [`Database::number`].
    pub async fn text(&self, sql: &str) -> String {
        scalar(self.kind, &self.direct_url(), sql).await
    }

    fn direct_url(&self) -> String {
        match self.kind {
            Kind::Sqlite => format!("{}?mode=rwc", self.url),
            Kind::Postgres | Kind::Mysql => self.url.clone(),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let Some((server, name)) = self.remote.take() else { return };
        let kind = self.kind;
        // A thread of its own: the runtime of the test may be ending.
        let dropped = std::thread::Builder::new().spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(drop_on(kind, &server, &name));
        });
        if let Ok(thread) = dropped {
            let _ = thread.join();
        }
    }
}

/// Creates a database on a server; gives its URL.
///
/// # Panics
/// When the server can't be reached or refuses.
pub async fn create_on(kind: Kind, server: &str, name: &str) -> String {
    let charset = if kind == Kind::Mysql { " CHARACTER SET utf8mb4" } else { "" };
    execute(kind, server, &format!("CREATE DATABASE {name}{charset}")).await;
    let mut url = reqwest::Url::parse(server).expect("a URL of a database server");
    url.set_path(name);
    url.to_string()
}

/// Drops a database, also one that is in use.
///
/// # Panics
/// When the server can't be reached or refuses.
pub async fn drop_on(kind: Kind, server: &str, name: &str) {
    let force = if kind == Kind::Postgres { " WITH (FORCE)" } else { "" };
    execute(kind, server, &format!("DROP DATABASE IF EXISTS {name}{force}")).await;
}

async fn scalar<T>(kind: Kind, url: &str, sql: &str) -> T
where
    T: Send + Unpin,
    (T,): for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + for<'r> FromRow<'r, MySqlRow>,
{
    let sql = AssertSqlSafe(sql.to_owned());
    let row: (T,) = match kind {
        Kind::Sqlite => {
            let mut connection = sqlx::SqliteConnection::connect(url).await.expect("SQLite opens");
            sqlx::query_as(sql).fetch_one(&mut connection).await.expect("a row of SQLite")
        }
        Kind::Postgres => {
            let mut connection = PgConnection::connect(url).await.expect("PostgreSQL answers");
            sqlx::query_as(sql).fetch_one(&mut connection).await.expect("a row of PostgreSQL")
        }
        Kind::Mysql => {
            let mut connection = MySqlConnection::connect(url).await.expect("MariaDB answers");
            sqlx::query_as(sql).fetch_one(&mut connection).await.expect("a row of MariaDB")
        }
    };
    row.0
}

async fn execute(kind: Kind, url: &str, sql: &str) {
    let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
    match kind {
        Kind::Sqlite => {
            let mut connection = sqlx::SqliteConnection::connect(url).await.expect("SQLite opens");
            sql.execute(&mut connection).await.map(drop).expect("SQLite executes");
        }
        Kind::Postgres => {
            let mut connection = PgConnection::connect(url).await.expect("PostgreSQL answers");
            sql.execute(&mut connection).await.map(drop).expect("PostgreSQL executes");
        }
        Kind::Mysql => {
            let mut connection = MySqlConnection::connect(url).await.expect("MariaDB answers");
            sql.execute(&mut connection).await.map(drop).expect("MariaDB executes");
        }
    }
}
