//! Which field broke a foreign key. SQLite doesn't say it; the rows that are referred to do.

use sea_query::{Alias, Expr, ExprTrait, Func, Query};

use super::TypedRow;
use crate::{
    error::{Code, Error, database::in_collection},
    payload::typed::Typed,
    plan::dialect::bind,
    schema::{Collection, Field, Side},
    store::{Dialect, Executor},
};

/// The error of a write, with the collection, and the field where it can be found out.
pub(super) async fn named<'a>(
    conn: Executor<'_>,
    collection: &Collection,
    rows: impl Iterator<Item = &'a TypedRow<'a>> + Send,
    error: Error,
) -> Error {
    let error = in_collection(error, collection, false);
    if error.code() != Code::InvalidForeignKey || conn.dialect() != Dialect::Sqlite {
        return error;
    }
    for row in rows.collect::<Vec<_>>() {
        for (field, value) in &row.0 {
            if is_missing(conn, collection, field, value).await {
                return error.with("field", &*field.name);
            }
        }
    }
    error
}

/// Whether the value refers to a row that isn't there. When in doubt it doesn't.
async fn is_missing(conn: Executor<'_>, collection: &Collection, field: &Field, value: &Typed) -> bool {
    let link = collection.link(&field.name).filter(|link| link.side == Side::ManyToOne);
    let Some(key) = link.and_then(|link| link.relation.foreign_key.as_ref()).filter(|_| *value != Typed::Null) else {
        return false;
    };
    let mut select = Query::select();
    select
        .expr(Func::count(Expr::col(Alias::new(&*key.column))))
        .from(Alias::new(&*key.table))
        .and_where(Expr::col(Alias::new(&*key.column)).eq(bind(conn.dialect(), field, value.clone())));
    let row = conn.query_one(conn.build(&select)).await.ok().flatten();
    row.and_then(|row| row.try_get_by_index::<i64>(0).ok()) == Some(0)
}
