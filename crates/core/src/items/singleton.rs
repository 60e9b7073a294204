//! The one row of a singleton: created by the first write, changed by the others.

use sea_orm::sea_query::{Alias, Expr, ExprTrait, Query as Sql};
use serde_json::{Map, Value};

use super::{collection, create, read_keys, update};
use crate::{
    access::Action,
    context::Ctx,
    error::Result,
    ident::Key,
    query::{Query, ast::Limit},
    store::Dialect,
};

/// Writes a singleton; gives the key of its row.
///
/// # Errors
/// As `create` and `update`.
pub async fn upsert_singleton(ctx: &Ctx<'_>, name: &str, payload: Map<String, Value>) -> Result<Key> {
    collection(ctx, name)?;
    let work = ctx.begin().await?;
    let inner = work.ctx(ctx);
    lock(&inner, name).await?;
    let first = Query { limit: Some(Limit::Rows(1)), ..Query::default() };
    let existing = read_keys(&inner.elevated(), name, Action::Read, &first).await?.into_iter().next();
    let key = match existing {
        Some(key) => {
            update(&inner, name, std::slice::from_ref(&key), payload).await?;
            key
        }
        None => {
            let keys = create(&inner, name, vec![payload]).await?;
            keys.into_iter().next().ok_or_else(|| crate::Error::internal("nothing was created"))?
        }
    };
    work.commit(ctx.engine).await?;
    Ok(key)
}

/// Two first writes at once must not make two rows: each waits for the collection's metadata row,
/// which every singleton has. SQLite has one writer at a time anyway.
async fn lock(ctx: &Ctx<'_>, name: &str) -> Result<()> {
    if ctx.conn.dialect() == Dialect::Sqlite {
        return Ok(());
    }
    let column = Alias::new("collection");
    let mut statement = Sql::select();
    statement
        .column(column.clone())
        .from(Alias::new("directus_collections"))
        .and_where(Expr::col(column).eq(name))
        .lock_exclusive();
    ctx.conn.query(ctx.conn.build(&statement)).await?;
    Ok(())
}
