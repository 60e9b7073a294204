//! Connections: [`Db`] is the pool, [`Transaction`] one running transaction, [`Executor`] either of
//! them. Every statement of the engine passes through [`Executor`], which counts and logs it
//! (without its values).

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use futures_util::{StreamExt, TryStreamExt, stream::BoxStream};
use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, ExecResult, IsolationLevel,
    QueryResult, SqliteTransactionMode, Statement, StreamTrait, TransactionOptions, TransactionTrait,
};

use crate::error::{Error, Result, database};

/// Values of one statement: SQLite takes 32,766, the others about 65,000.
const MOST_VALUES: usize = 32_700;

/// The SQL dialect spoken; what differs between dialects stands in `plan::dialect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    Sqlite,
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
}

/// The database of one server: a pool and what is known of the engine behind it.
#[derive(Clone, Debug)]
pub struct Db {
    pool: DatabaseConnection,
    dialect: Dialect,
    mariadb: bool,
    statements: Arc<AtomicU64>,
    /// Version of the schema; see [`Db::schema_changed`].
    epoch: Arc<AtomicU64>,
}

impl Db {
    /// Wraps an open pool; asks MySQL whether it is MariaDB.
    ///
    /// # Errors
    /// `INTERNAL_SERVER_ERROR` when the database does not answer.
    pub async fn new(pool: DatabaseConnection) -> Result<Self> {
        let dialect = match pool.get_database_backend() {
            DbBackend::Postgres => Dialect::Postgres,
            DbBackend::MySql => Dialect::Mysql,
            _ => Dialect::Sqlite,
        };
        let mut db = Self { pool, dialect, mariadb: false, statements: Arc::default(), epoch: Arc::default() };
        if dialect == Dialect::Mysql {
            let statement = Statement::from_string(DbBackend::MySql, "SELECT VERSION() AS version");
            let row = db.executor().query_one(statement).await?;
            let version: String = row.and_then(|row| row.try_get_by_index(0).ok()).unwrap_or_default();
            db.mariadb = version.to_ascii_lowercase().contains("mariadb");
        }
        Ok(db)
    }

    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    #[must_use]
    pub fn is_mariadb(&self) -> bool {
        self.mariadb
    }

    /// Tells that tables have changed. PostgreSQL refuses a prepared statement whose result columns
    /// are no longer those it was prepared for ("cached plan must not change result type"), so
    /// statements of a changed schema get a text of their own.
    pub fn schema_changed(&self, version: u64) {
        self.epoch.store(version, Ordering::Release);
    }

    /// The pool itself, for migrations and inspection.
    #[must_use]
    pub fn pool(&self) -> &DatabaseConnection {
        &self.pool
    }

    /// Statements sent since start.
    #[must_use]
    pub fn statement_count(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    #[must_use]
    pub fn executor(&self) -> Executor<'_> {
        Executor::Pool(self)
    }

    /// Starts a transaction; dropping it without commit rolls back.
    /// SQLite takes the write lock at once, so that two writers wait instead of failing half-way.
    ///
    /// # Errors
    /// As [`Executor::query`].
    pub async fn begin(&self) -> Result<Transaction> {
        let options = TransactionOptions {
            sqlite_transaction_mode: (self.dialect == Dialect::Sqlite).then_some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        let inner = self.pool.begin_with_options(options).await.map_err(database::from_driver)?;
        Ok(Transaction { inner, db: self.clone() })
    }

    /// Starts a transaction that only reads, all of it from one snapshot.
    ///
    /// # Errors
    /// As [`Executor::query`].
    pub async fn begin_snapshot(&self) -> Result<Transaction> {
        let options = match self.dialect {
            // Readers have a snapshot anyway.
            Dialect::Sqlite => TransactionOptions {
                sqlite_transaction_mode: Some(SqliteTransactionMode::Deferred),
                ..TransactionOptions::default()
            },
            Dialect::Postgres | Dialect::Mysql => TransactionOptions {
                isolation_level: Some(IsolationLevel::RepeatableRead),
                access_mode: Some(AccessMode::ReadOnly),
                ..TransactionOptions::default()
            },
        };
        let inner = self.pool.begin_with_options(options).await.map_err(database::from_driver)?;
        Ok(Transaction { inner, db: self.clone() })
    }

    /// Closes the pool; running statements end first.
    ///
    /// # Errors
    /// `INTERNAL_SERVER_ERROR` when the driver reports a failure.
    pub async fn close(self) -> Result<()> {
        self.pool.close().await.map_err(database::from_driver)
    }
}

/// A running transaction.
#[derive(Debug)]
pub struct Transaction {
    inner: DatabaseTransaction,
    db: Db,
}

impl Transaction {
    #[must_use]
    pub fn executor(&self) -> Executor<'_> {
        Executor::Transaction(self)
    }

    /// # Errors
    /// As [`Executor::query`]; nothing is written then.
    pub async fn commit(self) -> Result<()> {
        self.inner.commit().await.map_err(database::from_driver)
    }

    /// # Errors
    /// As [`Executor::query`].
    pub async fn rollback(self) -> Result<()> {
        self.inner.rollback().await.map_err(database::from_driver)
    }
}

/// Where a statement runs.
#[derive(Clone, Copy, Debug)]
pub enum Executor<'a> {
    Pool(&'a Db),
    Transaction(&'a Transaction),
}

impl<'a> Executor<'a> {
    #[must_use]
    pub fn db(self) -> &'a Db {
        match self {
            Executor::Pool(db) => db,
            Executor::Transaction(transaction) => &transaction.db,
        }
    }

    #[must_use]
    pub fn dialect(self) -> Dialect {
        self.db().dialect
    }

    #[must_use]
    pub fn backend(self) -> DbBackend {
        match self.dialect() {
            Dialect::Sqlite => DbBackend::Sqlite,
            Dialect::Postgres => DbBackend::Postgres,
            Dialect::Mysql => DbBackend::MySql,
        }
    }

    /// Builds a sea-query statement in this executor's dialect.
    #[must_use]
    pub fn build(self, statement: &impl sea_orm::sea_query::QueryStatementWriter) -> Statement {
        let (mut sql, values) = match self.dialect() {
            Dialect::Sqlite => statement.build_any(&sea_orm::sea_query::SqliteQueryBuilder),
            Dialect::Postgres => statement.build_any(&sea_orm::sea_query::PostgresQueryBuilder),
            Dialect::Mysql => statement.build_any(&sea_orm::sea_query::MysqlQueryBuilder),
        };
        if self.dialect() == Dialect::Postgres {
            let epoch = self.db().epoch.load(Ordering::Acquire);
            if epoch > 1 {
                sql.push_str(" /* ");
                sql.push_str(&epoch.to_string());
                sql.push_str(" */");
            }
        }
        Statement::from_sql_and_values(self.backend(), sql, values)
    }

    /// Counts and logs a statement.
    ///
    /// # Errors
    /// `INVALID_QUERY` for one with more values than its engine takes.
    fn note(self, statement: &Statement) -> Result<()> {
        let values = statement.values.as_ref().map_or(0, |values| values.0.len());
        if values > MOST_VALUES {
            return Err(Error::invalid_query("The request and the rules of its reader name too many values."));
        }
        self.db().statements.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(target: "waymark::sql", sql = %statement.sql);
        Ok(())
    }

    /// # Errors
    /// The driver's error, translated by [`database::from_driver`].
    pub async fn query(self, statement: Statement) -> Result<Vec<QueryResult>> {
        self.note(&statement)?;
        match self {
            Executor::Pool(db) => db.pool.query_all_raw(statement).await,
            Executor::Transaction(transaction) => transaction.inner.query_all_raw(statement).await,
        }
        .map_err(database::from_driver)
    }

    /// The rows one by one, as they come; a connection is held until the stream is dropped.
    ///
    /// # Errors
    /// As [`Executor::query`], also for each row.
    pub async fn stream(self, statement: Statement) -> Result<BoxStream<'a, Result<QueryResult>>> {
        self.note(&statement)?;
        Ok(match self {
            Executor::Pool(db) => {
                let rows = db.pool.stream_raw(statement).await.map_err(database::from_driver)?;
                rows.map_err(database::from_driver).boxed()
            }
            Executor::Transaction(transaction) => {
                let rows = transaction.inner.stream_raw(statement).await.map_err(database::from_driver)?;
                rows.map_err(database::from_driver).boxed()
            }
        })
    }

    /// # Errors
    /// As [`Executor::query`].
    pub async fn query_one(self, statement: Statement) -> Result<Option<QueryResult>> {
        self.note(&statement)?;
        match self {
            Executor::Pool(db) => db.pool.query_one_raw(statement).await,
            Executor::Transaction(transaction) => transaction.inner.query_one_raw(statement).await,
        }
        .map_err(database::from_driver)
    }

    /// # Errors
    /// As [`Executor::query`].
    pub async fn execute(self, statement: Statement) -> Result<ExecResult> {
        self.note(&statement)?;
        match self {
            Executor::Pool(db) => db.pool.execute_raw(statement).await,
            Executor::Transaction(transaction) => transaction.inner.execute_raw(statement).await,
        }
        .map_err(database::from_driver)
    }

    /// Runs SQL that takes no parameters and can't be prepared (DDL).
    ///
    /// # Errors
    /// As [`Executor::query`].
    pub async fn execute_unprepared(self, sql: &str) -> Result<ExecResult> {
        self.db().statements.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(target: "waymark::sql", %sql);
        match self {
            Executor::Pool(db) => db.pool.execute_unprepared(sql).await,
            Executor::Transaction(transaction) => transaction.inner.execute_unprepared(sql).await,
        }
        .map_err(database::from_driver)
    }

    /// Marks where the transaction can go on after a refused statement. Only PostgreSQL gives up the
    /// whole transaction; the others take back the statement by themselves.
    ///
    /// # Errors
    /// As [`Executor::query`].
    pub async fn set_savepoint(self) -> Result<()> {
        self.at_savepoint("SAVEPOINT attempt").await
    }

    /// # Errors
    /// As [`Executor::query`].
    pub async fn release_savepoint(self) -> Result<()> {
        self.at_savepoint("RELEASE SAVEPOINT attempt").await
    }

    /// # Errors
    /// As [`Executor::query`].
    pub async fn roll_back_to_savepoint(self) -> Result<()> {
        self.at_savepoint("ROLLBACK TO SAVEPOINT attempt").await
    }

    async fn at_savepoint(self, sql: &str) -> Result<()> {
        match self {
            Executor::Transaction(_) if self.dialect() == Dialect::Postgres => {
                self.execute_unprepared(sql).await.map(drop)
            }
            _ => Ok(()),
        }
    }
}
