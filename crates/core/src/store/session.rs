//! A connection as its database knows it, so that a statement can be ended from outside: dropping
//! its rows does not end it, the driver then takes all of them before it uses the connection again.

use std::time::Duration;

use sea_orm::Statement;

use super::{Db, Executor};
use crate::{
    error::{Error, Result},
    plan::dialect::session,
};

/// How long an interruption may take; a connection may not be free at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// Names the connection of one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    number: i64,
    server: String,
}

impl Session {
    /// The session of a transaction; `None` on engines that need none.
    ///
    /// # Errors
    /// As [`Executor::query`].
    pub async fn of(conn: Executor<'_>) -> Result<Option<Self>> {
        let Some(sql) = session::identity(conn.dialect()) else { return Ok(None) };
        let row = conn.query_one(Statement::from_string(conn.backend(), sql)).await?;
        let row = row.ok_or_else(|| Error::internal("a connection without a number"))?;
        let number = row.try_get_by_index(0).map_err(Error::internal)?;
        let server = row.try_get_by_index(1).map_err(Error::internal)?;
        Ok(Some(Self { number, server }))
    }

    /// Ends the running statement of this session, over another connection. The session has to be held
    /// until this returns. That it fails is no error: the statement then goes on to its own end.
    pub async fn interrupt(&self, db: &Db) {
        match tokio::time::timeout(PATIENCE, self.try_interrupt(db)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a statement could not be ended"),
            Err(_) => tracing::warn!("a statement could not be ended in time"),
        }
    }

    async fn try_interrupt(&self, db: &Db) -> Result<()> {
        let other = db.begin().await?;
        // Something between us and the database may have led this connection to another server.
        if Self::of(other.executor()).await?.is_some_and(|other| other.server == self.server)
            && let Some(sql) = session::interrupt(db.dialect(), self.number)
        {
            other.executor().execute_unprepared(&sql).await?;
        }
        other.rollback().await
    }

    /// Takes an interruption that came too late for the statement it was meant for.
    pub async fn settle(conn: Executor<'_>) {
        // It has no other purpose, and in a transaction that failed it fails too.
        let _ = conn.execute_unprepared("SELECT 1").await;
    }
}
