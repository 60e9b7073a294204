//! The lock that lets one process migrate at a time. It lives on one connection, the one that also
//! runs the migrations, so a pool of size one will do.

use std::time::Duration;

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, SqliteTransactionMode, Statement,
    TransactionOptions, TransactionTrait,
};

/// Key of the PostgreSQL advisory lock: the letters `waymark` as a number.
const ADVISORY_KEY: i64 = 0x0077_6179_6d61_726b;
/// How long to wait for another process to finish, in seconds.
const PATIENCE: u64 = 600;
const MYSQL_LOCK_NAME: &str = "CONCAT('waymark:', MD5(DATABASE()))";

/// The lock, held until [`Held::release`] or until the connection is gone.
pub(crate) struct Held {
    connection: DatabaseTransaction,
}

/// Waits for the lock.
pub(crate) async fn acquire(pool: &DatabaseConnection) -> Result<Held, DbErr> {
    match pool.get_database_backend() {
        DbBackend::Postgres => {
            let connection = pool.begin().await?;
            // Ends with the transaction, in which the migrations run too.
            connection.execute_unprepared(&format!("SELECT pg_advisory_xact_lock({ADVISORY_KEY})")).await?;
            Ok(Held { connection })
        }
        DbBackend::MySql => {
            let connection = pool.begin().await?;
            let sql = format!("SELECT GET_LOCK({MYSQL_LOCK_NAME}, {PATIENCE}) AS got");
            let row = connection.query_one_raw(Statement::from_string(DbBackend::MySql, sql)).await?;
            let got = row.map(|row| row.try_get_by_index::<Option<i64>>(0)).transpose()?.flatten();
            if got != Some(1) {
                return Err(DbErr::Custom("another process holds the migration lock".to_owned()));
            }
            // DDL commits by itself here, so a transaction is worth nothing and only keeps an old view of the data.
            connection.execute_unprepared("COMMIT").await?;
            Ok(Held { connection })
        }
        _ => sqlite(pool).await,
    }
}

/// Takes SQLite's write lock at once; waits beyond the driver's busy timeout.
async fn sqlite(pool: &DatabaseConnection) -> Result<Held, DbErr> {
    let started = std::time::Instant::now();
    loop {
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        match pool.begin_with_options(options).await {
            Ok(connection) => return Ok(Held { connection }),
            Err(error) if is_busy(&error) && started.elapsed().as_secs() < PATIENCE => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err(error) => return Err(error),
        }
    }
}

fn is_busy(error: &DbErr) -> bool {
    let text = error.to_string();
    text.contains("database is locked") || text.contains("database table is locked")
}

impl Held {
    pub(crate) fn connection(&self) -> &DatabaseTransaction {
        &self.connection
    }

    /// Gives the lock back, keeping or (where the database can) undoing what was done under it.
    pub(crate) async fn release(self, keep: bool) -> Result<(), DbErr> {
        if self.connection.get_database_backend() == DbBackend::MySql {
            self.connection.execute_unprepared(&format!("DO RELEASE_LOCK({MYSQL_LOCK_NAME})")).await?;
        }
        if keep { self.connection.commit().await } else { self.connection.rollback().await }
    }
}
