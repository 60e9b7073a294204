//! Reading items: authorise, plan, run, shape.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    hooks::{self, Seen},
    json::Json,
};
use crate::{
    access::{
        Action, AuthorizedQuery,
        read::{authorise, authorise_keys, authorise_selection},
        resolved::{OutputValue, Scalar, Shape},
    },
    context::Ctx,
    error::{Code, Error, Result},
    ident::Key,
    plan::select,
    query::{Query, ast::Limit},
    schema::Collection,
    store::{Executor, decode::RowRef, run, shape},
    system,
};

/// Keys of one read; more are read in parts.
const KEYS_PER_READ: usize = 10_000;

/// The answer to a list query.
#[derive(Debug)]
pub struct Page {
    /// A JSON array of items (an object for singletons).
    pub data: Json,
    /// Rows visible to the caller, when asked for.
    pub total_count: Option<u64>,
    /// Of these the ones that the filter and the search want, when asked for.
    pub filter_count: Option<u64>,
}

/// Reads a list (a singleton's object for singletons). `keys` restricts to these rows.
///
/// # Errors
/// `FORBIDDEN` for unknown collections and missing rights, `INVALID_QUERY`.
pub async fn read(ctx: &Ctx<'_>, collection: &str, query: &Query, keys: Option<&[Key]>) -> Result<Page> {
    let collection = known(ctx, collection)?;
    let query = hooks::query(ctx, &collection.name, query).await?;
    let authorized = authorise(ctx, &collection, &query, keys).await?;
    let seen = Seen::of(ctx, &collection.name);
    let grouped = matches!(authorized.root().shape, Shape::Groups { .. });
    let mut out = Vec::with_capacity(1024);
    let data;
    if collection.singleton && !grouped {
        let fetched = fetch(ctx, &authorized).await?;
        if !fetched.as_ref().map_or(Ok(false), |fetched| shape::write_first(fetched, &mut out))? {
            default_object(&collection, &authorized, &mut out);
        }
        data = seen.row(Json::written(out)?).await?.ok_or_else(Error::forbidden)?;
    } else {
        match fetch(ctx, &authorized).await? {
            Some(fetched) => shape::write_list(&fetched, &mut out)?,
            None => out.extend_from_slice(b"[]"),
        }
        if keys.is_none() && !grouped {
            append(&mut out, &system::further_rows(ctx, &collection, &query).await?)?;
        }
        data = seen.rows(Json::written(out)?).await?;
    }
    let meta = authorized.meta();
    let total_count = if meta.total_count { Some(count(ctx, &authorized, false).await?) } else { None };
    let filter_count = if meta.filter_count { Some(count(ctx, &authorized, true).await?) } else { None };
    Ok(Page { data, total_count, filter_count })
}

/// Reads back items that were written; without a `limit` in the query all of them. Of more items than one
/// statement takes, each part is sorted by itself, and with a `limit` only the first part counts.
///
/// # Errors
/// As [`read`].
pub async fn read_written(ctx: &Ctx<'_>, collection: &str, query: &Query, keys: &[Key]) -> Result<Json> {
    let limited = query.limit.is_some();
    let mut parts = keys.chunks(KEYS_PER_READ);
    let one = |keys: &[Key]| Query { limit: query.limit.or(Some(Limit::Rows(keys.len() as u64))), ..query.clone() };
    let first = parts.next().unwrap_or_default();
    let mut data = read(ctx, collection, &one(first), Some(first)).await?.data;
    for part in parts.take_while(|_| !limited) {
        data = data.joined(&read(ctx, collection, &one(part), Some(part)).await?.data);
    }
    Ok(data)
}

/// Whether a query can be answered: everything but the rows. For writes that are answered by a read,
/// so that nothing is written for a question that makes no sense.
///
/// # Errors
/// As [`read`], but for `FORBIDDEN`: who may not see what was written gets no answer, and no error.
pub async fn check(ctx: &Ctx<'_>, collection: &str, query: &Query) -> Result<()> {
    let collection = known(ctx, collection)?;
    let checked = async {
        let query = hooks::query(ctx, &collection.name, query).await?;
        authorise(ctx, &collection, &query, None).await
    };
    match checked.await {
        Err(error) if error.code() != Code::Forbidden => Err(error),
        _ => Ok(()),
    }
}

/// Reads one item.
///
/// # Errors
/// `FORBIDDEN` when it is missing or not visible, else as [`read`].
pub async fn read_one(ctx: &Ctx<'_>, collection: &str, key: &Key, query: &Query) -> Result<Json> {
    let collection = known(ctx, collection)?;
    let query = hooks::query(ctx, &collection.name, query).await?.into_owned();
    let one = Query { limit: Some(Limit::Rows(1)), offset: None, page: None, ..query };
    let authorized = authorise(ctx, &collection, &one, Some(std::slice::from_ref(key))).await?;
    let mut out = Vec::with_capacity(512);
    let fetched = fetch(ctx, &authorized).await?.ok_or_else(Error::forbidden)?;
    if !shape::write_first(&fetched, &mut out)? {
        return Err(Error::forbidden());
    }
    Seen::of(ctx, &collection.name).row(Json::written(out)?).await?.ok_or_else(Error::forbidden)
}

/// The keys of the rows that a query selects, for an `action` the caller may do at all; whether it
/// may do it to each of them is [`permitted_keys`]. Without a `limit` in the query: all of them.
///
/// # Errors
/// As [`read`].
pub async fn read_keys(ctx: &Ctx<'_>, collection: &str, action: Action, query: &Query) -> Result<Vec<Key>> {
    let collection = known(ctx, collection)?;
    let query = hooks::query(ctx, &collection.name, query).await?;
    let authorized = authorise_selection(ctx, &collection, action, &query).await?;
    keys(ctx.conn, &authorized).await
}

/// Of these keys those that exist and that the caller may `action`, in any order.
///
/// # Errors
/// As [`read`].
pub async fn permitted_keys(ctx: &Ctx<'_>, collection: &str, action: Action, keys_wanted: &[Key]) -> Result<Vec<Key>> {
    let collection = known(ctx, collection)?;
    let mut found = Vec::with_capacity(keys_wanted.len());
    for chunk in keys_wanted.chunks(KEYS_PER_READ) {
        let authorized = authorise_keys(ctx, &collection, action, chunk).await?;
        found.extend(keys(ctx.conn, &authorized).await?);
    }
    Ok(found)
}

/// Adds rows to a written list.
fn append(list: &mut Vec<u8>, rows: &[Value]) -> Result<()> {
    for row in rows {
        list.pop();
        if list.len() > 1 {
            list.push(b',');
        }
        serde_json::to_writer(&mut *list, row).map_err(Error::internal)?;
        list.push(b']');
    }
    Ok(())
}

fn known(ctx: &Ctx<'_>, collection: &str) -> Result<Arc<Collection>> {
    ctx.schema.collection(collection).cloned().ok_or_else(Error::forbidden)
}

async fn fetch(ctx: &Ctx<'_>, authorized: &AuthorizedQuery) -> Result<Option<run::Fetched>> {
    let grouped = matches!(authorized.root().shape, Shape::Groups { .. });
    if !grouped && select::is_never(authorized) {
        return Ok(None);
    }
    run::run(ctx.conn, select::root(ctx.conn.dialect(), authorized)).await.map(Some)
}

/// The keys of a selection of keys.
pub(super) async fn keys(conn: Executor<'_>, authorized: &AuthorizedQuery) -> Result<Vec<Key>> {
    if select::is_never(authorized) {
        return Ok(Vec::new());
    }
    let kind = authorized.root().collection.primary_field().kind;
    run::keys(conn, select::root(conn.dialect(), authorized), kind).await
}

async fn count(ctx: &Ctx<'_>, authorized: &AuthorizedQuery, wanted: bool) -> Result<u64> {
    let statement = select::count(ctx.conn.dialect(), authorized, wanted);
    let row = ctx.conn.query_one(ctx.conn.build(&statement)).await?;
    let row = row.ok_or_else(|| Error::internal("a count without a row"))?;
    RowRef::of(&row)?.count(0)
}

/// A singleton without a row: its columns' defaults, a null key, and nothing for fields without default.
fn default_object(collection: &Collection, authorized: &AuthorizedQuery, out: &mut Vec<u8>) {
    let mut object = Map::new();
    if let Shape::Items(outputs) = &authorized.root().shape {
        for output in outputs {
            let OutputValue::Scalar(Scalar::Column(field)) = &output.value else { continue };
            let field = field.field();
            let default = field.column.as_ref().and_then(|column| column.default.clone());
            if field.name == collection.primary {
                object.insert(output.name.clone(), Value::Null);
            } else if let Some(default) = default {
                object.insert(output.name.clone(), default);
            }
        }
    }
    // Writing to a Vec can't fail.
    let _ = serde_json::to_writer(out, &object);
}
