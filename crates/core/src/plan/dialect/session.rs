//! How a database names a connection, and how another connection ends what the first one is doing.
//! SQLite needs neither: a statement ends when nobody takes its rows.

use crate::store::Dialect;

/// Gives one row: the number of this connection, and which server it is a number of.
pub fn identity(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::Sqlite => None,
        Dialect::Postgres => Some("SELECT pg_backend_pid()::bigint, pg_postmaster_start_time()::text"),
        Dialect::Mysql => Some(
            "SELECT CAST(CONNECTION_ID() AS SIGNED), \
             CAST(CONCAT(@@hostname, ':', @@port, ':', @@server_id) AS CHAR)",
        ),
    }
}

/// Ends the statement that the connection of this number is running, if it is running one.
pub fn interrupt(dialect: Dialect, number: i64) -> Option<String> {
    match dialect {
        Dialect::Sqlite => None,
        Dialect::Postgres => Some(format!("SELECT pg_cancel_backend({number}::int)")),
        Dialect::Mysql => Some(format!("KILL QUERY {number}")),
    }
}
