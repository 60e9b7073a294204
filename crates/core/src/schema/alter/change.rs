//! One change of the data model: its DDL and the rows of its metadata take effect together or not
//! at all, as far as the engine can.
//!
//! PostgreSQL: one transaction, one change at a time across all replicas. SQLite: one transaction on
//! a connection of its own that doesn't enforce foreign keys, because tables have to be rebuilt (the
//! rebuilt tables are checked before the commit). MySQL commits with every DDL statement: DDL runs
//! beside the transaction of the rows, and what can be taken back is taken back by hand.

use std::time::Duration;

use sea_orm::{SqlxSqliteConnector, Statement};
use sqlx::sqlite::SqlitePoolOptions;

use super::{refusal::refused, types::Flavor};
use crate::{
    error::{Error, Result},
    store::{Db, Dialect, Executor, Transaction},
};

/// Key of PostgreSQL's advisory lock that changes of the data model take.
const CHANGE_LOCK: i64 = 0x5741_594d_4444_4c00;

/// See the module.
pub struct Change {
    /// The server's pool, or on SQLite the connection of this change.
    db: Db,
    transaction: Transaction,
    /// MySQL: statements that take back what was done, oldest first.
    undo: Vec<String>,
}

impl Change {
    /// # Errors
    /// When the database can't be reached or is locked too long.
    pub async fn begin(db: &Db) -> Result<Self> {
        let db = if db.dialect() == Dialect::Sqlite { unenforced(db).await? } else { db.clone() };
        let transaction = db.begin().await?;
        if db.dialect() == Dialect::Postgres {
            let executor = transaction.executor();
            let lock = "SELECT pg_advisory_xact_lock($1)";
            executor.execute(Statement::from_sql_and_values(executor.backend(), lock, [CHANGE_LOCK.into()])).await?;
        }
        Ok(Self { db, transaction, undo: Vec::new() })
    }

    #[must_use]
    pub fn flavor(&self) -> Flavor {
        Flavor::of(&self.db)
    }

    /// Where DDL runs, and where the catalogue is asked.
    #[must_use]
    pub fn ddl(&self) -> Executor<'_> {
        match self.db.dialect() {
            Dialect::Mysql => self.db.executor(),
            Dialect::Sqlite | Dialect::Postgres => self.transaction.executor(),
        }
    }

    /// Where rows of the metadata are written. On MySQL to be used after all DDL of the change: it
    /// holds locks that DDL would wait for.
    #[must_use]
    pub fn rows(&self) -> Executor<'_> {
        self.transaction.executor()
    }

    /// Runs one DDL statement; what the database refuses is the client's mistake.
    pub(super) async fn run(&self, sql: &str) -> Result<()> {
        self.ddl().execute_unprepared(sql).await.map(|_| ()).map_err(refused)
    }

    /// Runs a statement that `undo` takes back (where the transaction doesn't).
    pub(super) async fn run_undoable(&mut self, sql: &str, undo: String) -> Result<()> {
        self.run(sql).await?;
        if self.db.dialect() == Dialect::Mysql {
            self.undo.push(undo);
        }
        Ok(())
    }

    /// Commits when the work succeeded, takes everything back when it failed.
    ///
    /// # Errors
    /// The work's error, or the commit's.
    pub async fn finish<T>(self, outcome: Result<T>) -> Result<T> {
        let Self { db, transaction, undo } = self;
        let outcome = match outcome {
            Ok(done) => transaction.commit().await.map(|()| done).map_err(refused),
            Err(error) => {
                if let Err(rollback) = transaction.rollback().await {
                    tracing::warn!(error = %rollback, "a change of the data model could not be rolled back");
                }
                Err(error)
            }
        };
        if outcome.is_err() {
            for sql in undo.iter().rev() {
                if let Err(error) = db.executor().execute_unprepared(sql).await {
                    tracing::error!(%error, %sql, "a half-made change of the data model could not be taken back");
                }
            }
        }
        if db.dialect() == Dialect::Sqlite
            && let Err(error) = db.close().await
        {
            tracing::debug!(%error, "closing the connection of a change failed");
        }
        outcome
    }
}

/// A connection to the same SQLite database that neither enforces foreign keys (dropping a table to
/// rebuild it must not delete the rows that point to it) nor follows renames through other tables.
async fn unenforced(db: &Db) -> Result<Db> {
    let options = db.pool().get_sqlite_connection_pool().connect_options();
    let options = options.as_ref().clone().foreign_keys(false).pragma("legacy_alter_table", "ON");
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_secs(30))
        .connect_with(options)
        .await
        .map_err(Error::internal)?;
    Db::new(SqlxSqliteConnector::from_sqlx_sqlite_pool(pool)).await
}
