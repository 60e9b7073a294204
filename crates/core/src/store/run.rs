//! Running a plan: the top statement, then one statement per to-many level below it (for each
//! collection of a many-to-any level), keyed by the rows above. Levels beside each other run at the
//! same time where the connection allows it.

use std::collections::HashMap;

use futures_util::future::{BoxFuture, FutureExt, try_join_all};
use sea_orm::QueryResult;

use super::{Executor, decode::RowRef};
use crate::{
    error::{Error, Result},
    ident::Key,
    plan::select::{self, Child, RowLayout, Select, Target},
    schema::FieldType,
    store::render::Render,
};

/// Keys of one statement's IN list; more rows above are split over several statements.
const KEYS_PER_STATEMENT: usize = 10_000;

/// Rows of one statement with everything below them.
pub(crate) struct Fetched {
    pub rows: Vec<QueryResult>,
    pub renders: Vec<Render>,
    pub layout: RowLayout,
    pub children: Vec<FetchedChild>,
}

/// The rows below, by the key of the row above.
pub(crate) struct FetchedChild {
    pub key: usize,
    pub key_kind: FieldType,
    pub discriminator: Option<usize>,
    pub many: bool,
    pub targets: Vec<FetchedTarget>,
}

pub(crate) struct FetchedTarget {
    pub collection: std::sync::Arc<str>,
    /// How the key of the row above is looked up in this collection.
    pub key_field: crate::access::resolved::FieldRef,
    pub parts: Vec<FetchedPart>,
}

/// What one statement brought: rows by key.
pub(crate) struct FetchedPart {
    pub fetched: Fetched,
    pub by_key: HashMap<Key, Vec<usize>>,
}

/// Runs a plan.
///
/// # Errors
/// What the database refuses.
pub(crate) fn run<'a>(conn: Executor<'a>, plan: Select<'a>) -> BoxFuture<'a, Result<Fetched>> {
    async move {
        let Select { statement, renders, row, children } = plan;
        let rows = conn.query(conn.build(&statement)).await?;
        let children = if children.is_empty() {
            Vec::new()
        } else {
            let mut fetched = Vec::with_capacity(children.len());
            match conn {
                Executor::Pool(_) => {
                    let below = children.into_iter().map(|child| run_child(conn, child, &rows));
                    fetched.extend(try_join_all(below).await?);
                }
                // One connection: one statement after the other.
                Executor::Transaction(_) => {
                    for child in children {
                        fetched.push(run_child(conn, child, &rows).await?);
                    }
                }
            }
            fetched
        };
        Ok(Fetched { rows, renders, layout: row, children })
    }
    .boxed()
}

async fn run_child<'a>(conn: Executor<'a>, child: Child<'a>, rows: &[QueryResult]) -> Result<FetchedChild> {
    let mut targets = Vec::with_capacity(child.targets.len());
    for target in child.targets {
        let keys = keys_above(rows, child.key, child.key_kind, child.discriminator, &target)?;
        let mut parts = Vec::new();
        for keys in keys.chunks(KEYS_PER_STATEMENT) {
            let plan = select::related(conn.dialect(), &target, keys, child.many);
            let fetched = run(conn, plan).await?;
            let mut by_key: HashMap<Key, Vec<usize>> = HashMap::with_capacity(fetched.rows.len());
            let kind = target.key_field.field().kind;
            for (position, row) in fetched.rows.iter().enumerate() {
                if let Some(key) = RowRef::of(row)?.key(0, kind)? {
                    by_key.entry(key).or_default().push(position);
                }
            }
            parts.push(FetchedPart { fetched, by_key });
        }
        let collection = std::sync::Arc::clone(&target.level.collection.name);
        targets.push(FetchedTarget { collection, key_field: target.key_field, parts });
    }
    Ok(FetchedChild {
        key: child.key,
        key_kind: child.key_kind,
        discriminator: child.discriminator,
        many: child.many,
        targets,
    })
}

/// The distinct keys of the rows above that lead to a target.
fn keys_above(
    rows: &[QueryResult],
    index: usize,
    kind: FieldType,
    discriminator: Option<usize>,
    target: &Target<'_>,
) -> Result<Vec<Key>> {
    let mut seen = std::collections::HashSet::with_capacity(rows.len());
    let mut keys = Vec::with_capacity(rows.len());
    for row in rows {
        let row = RowRef::of(row)?;
        if let Some(discriminator) = discriminator
            && row.key(discriminator, FieldType::String)? != Some(Key::Text(target.level.collection.name.to_string()))
        {
            continue;
        }
        let Some(key) = row.key(index, kind)?.and_then(|key| as_key_of(&key, &target.key_field)) else { continue };
        if seen.insert(key.clone()) {
            keys.push(key);
        }
    }
    Ok(keys)
}

/// A key as a value of the field it is looked up in: many-to-any keys are stored as text.
pub(crate) fn as_key_of(key: &Key, field: &crate::access::resolved::FieldRef) -> Option<Key> {
    match key {
        Key::Text(text) => Key::parse_text(field.field(), text),
        other => match field.field().kind {
            FieldType::Integer | FieldType::BigInteger | FieldType::Uuid => Some(other.clone()),
            _ => Some(Key::Text(other.to_string())),
        },
    }
}

/// The keys of a plan whose rows are bare keys.
///
/// # Errors
/// What the database refuses.
pub(crate) async fn keys(conn: Executor<'_>, plan: Select<'_>, kind: FieldType) -> Result<Vec<Key>> {
    let RowLayout::Value(index) = plan.row else { return Err(Error::internal("a selection of keys selects no keys")) };
    let rows = conn.query(conn.build(&plan.statement)).await?;
    let mut keys = Vec::with_capacity(rows.len());
    for row in &rows {
        keys.extend(RowRef::of(row)?.key(index, kind)?);
    }
    Ok(keys)
}
