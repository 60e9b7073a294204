//! Sessions: rows of `directus_sessions`, one per login, found by the refresh token. Not here: who
//! may log in or refresh (`login`).

use chrono::{DateTime, Utc};
use rand::RngExt;
use sea_query::{Alias, Condition, Expr, ExprTrait, Func, Query};
use uuid::Uuid;

use super::{AuthSettings, rows, token::session_mark};
use crate::{
    actor::{Actor, Origin},
    error::{Error, Result},
    store::{Dialect, Executor},
};

const TABLE: &str = "directus_sessions";

/// Characters of a refresh token: 64 of them, so that each is six random bits.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const TOKEN_LENGTH: usize = 64;

/// A session that has not expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// `None` for sessions of shares.
    pub user: Option<Uuid>,
}

/// A new refresh token.
#[must_use]
pub fn new_token() -> String {
    let mut random = rand::rng();
    (0..TOKEN_LENGTH)
        .map(|_| ALPHABET.get(random.random_range(0..ALPHABET.len())).copied().map_or('_', char::from))
        .collect()
}

/// Opens a session of a user; gives its refresh token.
///
/// # Errors
/// As statements.
pub async fn open(
    conn: Executor<'_>,
    settings: &AuthSettings,
    user: Uuid,
    origin: &Origin,
    now: DateTime<Utc>,
) -> Result<String> {
    let token = new_token();
    let dialect = conn.dialect();
    let mut insert = Query::insert();
    insert
        .into_table(TABLE)
        .columns(["token", "user", "expires", "ip", "user_agent", "origin"])
        .values([
            Expr::val(token.as_str()),
            rows::uuid(dialect, user),
            rows::moment(dialect, now + settings.refresh_token_ttl),
            rows::short_text(origin.ip.map(|ip| ip.to_string()).as_deref()),
            rows::short_text(origin.user_agent.as_deref()),
            rows::short_text(origin.origin.as_deref()),
        ])
        .map_err(Error::internal)?;
    conn.execute(conn.build(&insert)).await?;
    Ok(token)
}

/// Finds an unexpired session.
///
/// # Errors
/// As statements.
pub async fn find(conn: Executor<'_>, token: &str, now: DateTime<Utc>) -> Result<Option<Session>> {
    if !is_token(token) {
        return Ok(None);
    }
    let select = Query::select()
        .columns(["token", "user", "expires"])
        .from(TABLE)
        .and_where(Expr::col("token").eq(token))
        .to_owned();
    let Some(row) = conn.query_one(conn.build(&select)).await? else { return Ok(None) };
    // Some collations find a token of other case.
    if rows::read_text(&row, "token")?.as_deref() != Some(token) {
        return Ok(None);
    }
    let expires = rows::read_moment(conn.dialect(), &row, "expires")?;
    if expires.is_none_or(|expires| expires <= now) {
        return Ok(None);
    }
    Ok(Some(Session { user: rows::read_uuid(conn.dialect(), &row, "user")? }))
}

/// Replaces the refresh token of a session and begins its lifetime anew. `None` when the token is
/// no longer there: somebody else was faster.
///
/// # Errors
/// As statements.
pub async fn rotate(
    conn: Executor<'_>,
    settings: &AuthSettings,
    token: &str,
    now: DateTime<Utc>,
) -> Result<Option<String>> {
    let new = new_token();
    let update = Query::update()
        .table(TABLE)
        .value("token", new.as_str())
        .value("expires", rows::moment(conn.dialect(), now + settings.refresh_token_ttl))
        .and_where(Expr::col("token").eq(token))
        .to_owned();
    let result = conn.execute(conn.build(&update)).await?;
    Ok((result.rows_affected() == 1).then_some(new))
}

/// Ends one session, if there is one.
///
/// # Errors
/// As statements.
pub async fn close(conn: Executor<'_>, token: &str) -> Result<()> {
    if !is_token(token) {
        return Ok(());
    }
    let delete = Query::delete().from_table(TABLE).and_where(Expr::col("token").eq(token)).to_owned();
    conn.execute(conn.build(&delete)).await.map(drop)
}

/// Ends all sessions of these users, except the one the actor's own access token came from.
///
/// # Errors
/// As statements.
pub async fn close_all_others(
    conn: Executor<'_>,
    settings: &AuthSettings,
    users: &[Uuid],
    actor: &Actor,
) -> Result<()> {
    let of_users = Expr::col("user").is_in(rows::uuids(conn.dialect(), users.iter().copied()));
    let mut delete = Query::delete().from_table(TABLE).and_where(of_users.clone()).to_owned();
    if let Some(mark) = actor.session()
        && actor.user_id().is_some_and(|own| users.contains(&own))
    {
        let select = Query::select().column("token").from(TABLE).and_where(of_users).to_owned();
        for row in conn.query(conn.build(&select)).await? {
            let Some(token) = rows::read_text(&row, "token")? else { continue };
            if session_mark(settings, &token)? == mark {
                delete.and_where(Expr::col("token").ne(token));
            }
        }
    }
    conn.execute(conn.build(&delete)).await.map(drop)
}

/// Removes expired sessions of everybody.
///
/// # Errors
/// As statements.
pub async fn purge(conn: Executor<'_>, now: DateTime<Utc>) -> Result<()> {
    let expires = || Expr::col("expires");
    let expired = match conn.dialect() {
        Dialect::Postgres | Dialect::Mysql => Condition::all().add(expires().lt(rows::moment(conn.dialect(), now))),
        // Databases of other servers hold milliseconds, which sort before all texts.
        Dialect::Sqlite => {
            let kind = || Func::cust(Alias::new("typeof")).arg(expires());
            Condition::any()
                .add(Expr::expr(kind()).eq("text").and(expires().lt(rows::moment(Dialect::Sqlite, now))))
                .add(Expr::expr(kind()).eq("integer").and(expires().lt(now.timestamp_millis())))
        }
    };
    let delete = Query::delete().from_table(TABLE).cond_where(expired).to_owned();
    conn.execute(conn.build(&delete)).await.map(drop)
}

/// Nothing else is worth a statement.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.len() <= TOKEN_LENGTH && text.bytes().all(|byte| ALPHABET.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_differ() {
        let (one, other) = (new_token(), new_token());
        assert_eq!(one.len(), TOKEN_LENGTH);
        assert!(is_token(&one));
        assert_ne!(one, other);
        for text in ["", "a.b", "a b", "ä", &"a".repeat(65)] {
            assert!(!is_token(text), "{text}");
        }
    }
}
