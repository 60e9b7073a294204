//! Rows of `directus_collections`, `directus_fields` and `directus_relations` as the data-model
//! services write and read them. Plain statements: the services have checked rights and shapes.

mod bookkeeping;
mod tables;
mod values;

use sea_query::{Alias, Condition, Expr, ExprTrait, Query, SelectStatement};
use serde_json::{Map, Value};

pub use bookkeeping::{forget_collection, forget_field};
pub use tables::{COLLECTIONS, FIELDS, MetaTable, RELATIONS};
pub use values::Assignment;

use crate::{
    context::Ctx,
    error::{Error, Result},
    store::Executor,
};

/// # Errors
/// `FORBIDDEN` unless an admin (or the server itself) asks.
pub fn require_admin(ctx: &Ctx<'_>) -> Result<()> {
    if ctx.policy.is_unrestricted() { Ok(()) } else { Err(Error::forbidden()) }
}

/// Makes a change of the data model live: the next request sees it. Gives the context after it.
///
/// # Errors
/// When the catalogue can't be read; the change stays.
pub async fn refreshed<'a>(ctx: &Ctx<'a>) -> Result<Ctx<'a>> {
    let schema = ctx.engine.registry.reload(&ctx.engine.db).await;
    ctx.engine.identities.invalidate();
    // The change is there, whether or not this process could read it.
    ctx.engine.sink.schema_changed(schema.is_ok());
    let schema = schema?;
    let mut fresh = ctx.clone();
    fresh.schema = schema;
    Ok(fresh)
}

/// `column = text` for each pair.
pub(super) fn equal(pairs: &[(&str, &str)]) -> Condition {
    pairs.iter().fold(Condition::all(), |all, (column, value)| all.add(Expr::col(Alias::new(*column)).eq(*value)))
}

pub(super) async fn exists(executor: Executor<'_>, table: &str, pairs: &[(&str, &str)]) -> Result<bool> {
    let mut query = Query::select();
    query.expr(Expr::val(1)).from(Alias::new(table)).cond_where(equal(pairs)).limit(1);
    Ok(executor.query_one(executor.build(&query)).await?.is_some())
}

/// Writes the row of these keys: updates it when it is there, else inserts it.
pub(super) async fn upsert(
    executor: Executor<'_>,
    table: &MetaTable,
    keys: &[(&str, &str)],
    assignments: Vec<Assignment>,
) -> Result<()> {
    if exists(executor, table.name, keys).await? {
        if assignments.is_empty() {
            return Ok(());
        }
        let mut update = Query::update();
        update.table(Alias::new(table.name)).cond_where(equal(keys));
        for (column, value) in assignments {
            update.value(Alias::new(column), value);
        }
        executor.execute(executor.build(&update)).await?;
        return Ok(());
    }
    let mut insert = Query::insert();
    let columns = keys.iter().map(|(column, _)| *column).chain(assignments.iter().map(|(column, _)| *column));
    insert.into_table(Alias::new(table.name)).columns(columns.map(Alias::new).collect::<Vec<_>>());
    let values = keys.iter().map(|(_, value)| Expr::val(*value)).collect::<Vec<_>>();
    let values = values.into_iter().chain(assignments.into_iter().map(|(_, value)| value));
    insert.values(values).map_err(Error::internal)?;
    executor.execute(executor.build(&insert)).await?;
    Ok(())
}

/// Sets a column to NULL in the rows of a condition.
pub(super) async fn set_null(executor: Executor<'_>, table: &str, column: &str, condition: Condition) -> Result<()> {
    let mut update = Query::update();
    update.table(Alias::new(table)).value(Alias::new(column), Expr::null()).cond_where(condition);
    executor.execute(executor.build(&update)).await?;
    Ok(())
}

pub(super) async fn delete(executor: Executor<'_>, table: &str, condition: Condition) -> Result<()> {
    let mut delete = Query::delete();
    delete.from_table(Alias::new(table)).cond_where(condition);
    executor.execute(executor.build(&delete)).await?;
    Ok(())
}

/// Rows of one column as text, with a key column as text.
pub(super) async fn texts(executor: Executor<'_>, query: &SelectStatement) -> Result<Vec<(String, String)>> {
    let rows = executor.query(executor.build(query)).await?;
    rows.iter()
        .map(|row| Ok((values::text_at(row, 0)?.unwrap_or_default(), values::text_at(row, 1)?.unwrap_or_default())))
        .collect()
}

/// Whole rows of a metadata table, rendered like the data-model routes show them.
///
/// # Errors
/// When the table can't be read.
pub async fn rows(executor: Executor<'_>, table: &MetaTable) -> Result<Vec<Map<String, Value>>> {
    let mut query = Query::select();
    for (column, _) in table.keys.iter().chain(table.columns) {
        query.expr(Expr::col(Alias::new(*column)).cast_as(Alias::new(values::text_type(executor.dialect()))));
    }
    query.from(Alias::new(table.name));
    let found = executor.query(executor.build(&query)).await?;
    found
        .iter()
        .map(|row| {
            let columns = table.keys.iter().chain(table.columns).enumerate();
            columns
                .map(|(index, (column, kind))| {
                    Ok(((*column).to_owned(), values::rendered(*kind, values::text_at(row, index)?)))
                })
                .collect()
        })
        .collect()
}
