//! The stages of one read, each to be measured alone. Behind the feature `bench`; only the benchmarks
//! use it, and what it gives is no interface.

use crate::{
    access::{AuthorizedQuery, read},
    context::Ctx,
    error::{Error, Result},
    plan::select,
    query::Query,
    store::{run, shape},
};

/// Fetched rows that are not written as JSON yet.
pub struct Rows(run::Fetched);

/// Names looked up, rights checked.
///
/// # Errors
/// As [`crate::items::read()`].
pub async fn authorise(ctx: &Ctx<'_>, collection: &str, query: &Query) -> Result<AuthorizedQuery> {
    let collection = ctx.schema.collection(collection).ok_or_else(Error::forbidden)?;
    read::authorise(ctx, collection, query, None).await
}

/// The statement of the top level; gives the length of its SQL.
pub fn plan(ctx: &Ctx<'_>, query: &AuthorizedQuery) -> usize {
    let plan = select::root(ctx.conn.dialect(), query);
    ctx.conn.build(&plan.statement).sql.len()
}

/// Plans and runs.
///
/// # Errors
/// As [`crate::items::read()`].
pub async fn fetch(ctx: &Ctx<'_>, query: &AuthorizedQuery) -> Result<Rows> {
    run::run(ctx.conn, select::root(ctx.conn.dialect(), query)).await.map(Rows)
}

/// Writes rows as JSON behind what `out` holds.
///
/// # Errors
/// As [`crate::items::read()`].
pub fn decode(rows: &Rows, out: &mut Vec<u8>) -> Result<()> {
    shape::write_list(&rows.0, out)
}
