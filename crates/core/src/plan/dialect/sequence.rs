//! PostgreSQL's sequences don't notice keys that clients bring along; on the other engines the next
//! generated key always lies behind them. This makes the sequence follow.

use sea_orm::{Statement, Value};

use crate::{
    error::Result,
    ident::Key,
    schema::Collection,
    store::{Dialect, Executor},
};

/// Moves the sequence of a key column forward, never back, and only where that is allowed.
const FOLLOW: &str = "SELECT setval(s.name, $3) FROM (SELECT pg_get_serial_sequence(quote_ident($1), $2)::regclass \
                      AS name) s WHERE s.name IS NOT NULL AND has_sequence_privilege(s.name, 'UPDATE') \
                      AND $3 > COALESCE(pg_sequence_last_value(s.name), 0)";

/// Lets generated keys continue behind those that were just written.
///
/// # Errors
/// As [`Executor::query`].
pub async fn follow(conn: Executor<'_>, collection: &Collection, keys: &[Key]) -> Result<()> {
    let made = collection.primary_field().column.as_ref().is_some_and(|column| column.auto_increment);
    if conn.dialect() != Dialect::Postgres || !made {
        return Ok(());
    }
    let largest = keys.iter().filter_map(|key| if let Key::Int(number) = key { Some(*number) } else { None }).max();
    if let Some(largest) = largest.filter(|largest| *largest > 0) {
        let values: [Value; 3] =
            [collection.name.to_string().into(), collection.primary.to_string().into(), largest.into()];
        conn.query(Statement::from_sql_and_values(conn.backend(), FOLLOW, values)).await?;
    }
    Ok(())
}
