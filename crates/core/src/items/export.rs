//! Reading lists of any length without holding them: part by part, each a JSON array of rows.
//!
//! A list of one statement is streamed as the database gives it. One with levels below (to-many,
//! many-to-any) is read by its keys: all of them first, in order, then the rows of some hundred keys
//! at a time with what hangs on them, everything in one snapshot. Only the keys are held.

use std::pin::pin;

use async_trait::async_trait;
use futures_util::{TryStreamExt, future::BoxFuture};
use serde_json::Value;

use super::{
    collection,
    hooks::{self, Seen},
    json::Json,
    read,
};
use crate::{
    access::{
        AuthorizedQuery,
        read::{authorise, keys_only, restrict_to},
    },
    context::Ctx,
    error::{Code, Error, Result},
    ident::Key,
    plan::select,
    query::Query,
    store::{Executor, run, session::Session, shape},
    system,
};

/// Bytes of JSON that a part has at least, but for the last.
const BYTES_PER_PART: usize = 256 * 1024;
/// Rows read at a time when they are read by keys: as many as make a part of the size above.
const FEWEST_ROWS: usize = 10;
const FIRST_ROWS: usize = 200;
const MOST_ROWS: usize = 2_000;

/// Receives an export.
#[async_trait]
pub trait Parts: Send {
    /// Takes the next part: a JSON array of rows, or the object of a singleton. The next part is not
    /// read before this one is taken.
    ///
    /// # Errors
    /// Ends the export.
    async fn take(&mut self, part: Json) -> Result<()>;

    /// Ends when nobody wants the export any more; [`Parts::take`] has to fail from then on. Reading
    /// stops then, also in the middle of a statement.
    fn abandoned(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

/// Reads what [`super::read()`] would, part by part. Nothing is taken when the caller may not read.
///
/// # Errors
/// As [`super::read()`], and those of `parts`.
pub async fn export(
    ctx: &Ctx<'_>,
    name: &str,
    query: &Query,
    keys: Option<&[Key]>,
    parts: &mut (dyn Parts + '_),
) -> Result<()> {
    let known = collection(ctx, name)?;
    let grouped = !query.aggregate.is_empty() || !query.group.is_empty();
    if known.singleton || grouped {
        // One row; or few, and nothing to read them by.
        return parts.take(super::read(ctx, name, query, keys).await?.data).await;
    }
    let query = hooks::query(ctx, &known.name, query).await?;
    let mut authorized = authorise(ctx, &known, &query, keys).await?;
    if !select::is_never(&authorized) {
        in_snapshot(ctx, &known.name, &mut authorized, parts).await?;
    }
    let further = if keys.is_none() { system::further_rows(ctx, &known, &query).await? } else { Vec::new() };
    if further.is_empty() { Ok(()) } else { parts.take(Json::of(&Value::Array(further))).await }
}

/// Reads over one connection, everything in one snapshot: a row that moves meanwhile is neither lost nor
/// told twice. Hooks see the same snapshot. When this returns the connection is free, whatever happened.
async fn in_snapshot(
    ctx: &Ctx<'_>,
    name: &str,
    authorized: &mut AuthorizedQuery,
    parts: &mut (dyn Parts + '_),
) -> Result<()> {
    let Executor::Pool(db) = ctx.conn else {
        return read_parts(ctx, name, authorized, None, parts).await;
    };
    let snapshot = db.begin_snapshot().await?;
    let inner = ctx.over(snapshot.executor());
    let session = Session::of(inner.conn).await?;
    let abandoned = parts.abandoned();
    let result = {
        let mut reading = pin!(read_parts(&inner, name, authorized, session.as_ref(), parts));
        tokio::select! {
            biased;
            result = &mut reading => result,
            () = abandoned => {
                interrupt(inner.conn, session.as_ref()).await;
                // It ends by the interruption, or by the next part that is not taken.
                drop(reading.await);
                Err(Error::with_message(Code::ServiceUnavailable, "Nobody waits for this export any more."))
            }
        }
    };
    if result.is_err() && session.is_some() {
        Session::settle(inner.conn).await;
    }
    drop(inner);
    let freed = snapshot.rollback().await;
    result.and(freed)
}

async fn read_parts(
    ctx: &Ctx<'_>,
    name: &str,
    authorized: &mut AuthorizedQuery,
    session: Option<&Session>,
    parts: &mut (dyn Parts + '_),
) -> Result<()> {
    let seen = Seen::of(ctx, name);
    let whole = select::root(ctx.conn.dialect(), authorized).children.is_empty();
    if whole && !seen.is_active() {
        stream(ctx.conn, authorized, session, parts).await
    } else {
        by_keys(ctx.conn, authorized, &seen, parts).await
    }
}

async fn interrupt(conn: Executor<'_>, session: Option<&Session>) {
    if let Some(session) = session {
        session.interrupt(conn.db()).await;
    }
}

async fn stream(
    conn: Executor<'_>,
    authorized: &AuthorizedQuery,
    session: Option<&Session>,
    parts: &mut (dyn Parts + '_),
) -> Result<()> {
    let plan = select::root(conn.dialect(), authorized);
    let statement = conn.build(&plan.statement);
    let frame = run::Fetched { rows: Vec::new(), renders: plan.renders, layout: plan.row, children: Vec::new() };
    let mut rows = conn.stream(statement).await?;
    let mut part = Vec::new();
    while let Some(row) = rows.try_next().await? {
        part.push(if part.is_empty() { b'[' } else { b',' });
        shape::write_one(&frame, &row, &mut part)?;
        if part.len() < BYTES_PER_PART {
            continue;
        }
        part.push(b']');
        if let Err(error) = parts.take(Json::written(std::mem::take(&mut part))?).await {
            if session.is_some() {
                interrupt(conn, session).await;
                // What has come already stands before the end.
                while let Ok(Some(_)) = rows.try_next().await {}
            }
            return Err(error);
        }
    }
    if part.is_empty() {
        return Ok(());
    }
    part.push(b']');
    parts.take(Json::written(part)?).await
}

async fn by_keys(
    conn: Executor<'_>,
    authorized: &mut AuthorizedQuery,
    seen: &Seen<'_>,
    parts: &mut (dyn Parts + '_),
) -> Result<()> {
    let keys = read::keys(conn, &keys_only(authorized)).await?;
    let mut rest = keys.as_slice();
    let mut rows = FIRST_ROWS;
    while !rest.is_empty() {
        let (some, after) = rest.split_at_checked(rows).unwrap_or((rest, &[]));
        rest = after;
        restrict_to(authorized, some)?;
        let fetched = run::run(conn, select::root(conn.dialect(), authorized)).await?;
        let mut part = Vec::with_capacity(BYTES_PER_PART);
        shape::write_list(&fetched, &mut part)?;
        drop(fetched);
        rows = match part.len() {
            bytes if bytes > 2 * BYTES_PER_PART => (rows / 2).max(FEWEST_ROWS),
            bytes if bytes < BYTES_PER_PART / 2 => (rows * 2).min(MOST_ROWS),
            _ => rows,
        };
        parts.take(seen.rows(Json::written(part)?).await?).await?;
    }
    Ok(())
}
