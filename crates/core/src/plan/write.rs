//! INSERT, UPDATE and DELETE from authorised values. Values are typed and bound here; rows that
//! share their columns go into one statement. Updates of many rows: `write::update`.

mod reference;
mod update;

use sea_query::{Alias, DeleteStatement, Expr, ExprTrait, InsertStatement, Query};
use serde_json::{Map, Value};

pub use update::update;

use super::dialect::{bind, returning, sequence};
use crate::{
    access::{
        read::typed_key,
        write::{AuthorizedCreate, AuthorizedDelete},
    },
    error::{Code, Error, Result, database::in_collection},
    ident::Key,
    payload::typed::{self, Typed},
    schema::{Collection, Field},
    store::{Dialect, Executor},
};

/// Parameters of one statement; every engine takes this many.
const MOST_PARAMETERS: usize = 30_000;
/// Rows of one INSERT, keys of one UPDATE or DELETE.
const MOST_ROWS: usize = 1_000;

/// Whether a moment is outside of what MySQL's `timestamp` columns hold (1970 to 2038); the server
/// would store zeros instead.
fn beyond_timestamp(field: &Field, value: &Typed) -> bool {
    let Typed::Timestamp(moment) = value else { return false };
    let narrow = field.column.as_ref().is_some_and(|column| column.data_type == "timestamp");
    narrow && !(1..=i64::from(i32::MAX)).contains(&moment.timestamp())
}

/// A row whose values fit its columns.
struct TypedRow<'a>(Vec<(&'a Field, Typed)>);

impl<'a> TypedRow<'a> {
    fn of(dialect: Dialect, collection: &'a Collection, row: &Map<String, Value>) -> Result<Self> {
        let mut values = Vec::with_capacity(row.len());
        for (name, value) in row {
            let Some(field) = collection.field(name).filter(|field| field.column.is_some()) else { continue };
            let typed = typed::for_storage(field, value)
                .map_err(|mismatch| mismatch.into_error(&collection.name, &field.name))?;
            if dialect == Dialect::Mysql && beyond_timestamp(field, &typed) {
                return Err(Error::new(Code::ValueOutOfRange)
                    .with("collection", &*collection.name)
                    .with("field", &*field.name));
            }
            values.push((field, typed));
        }
        // Rows that name the same columns in another order share their statement too.
        values.sort_by_key(|(field, _)| collection.fields.get_index_of(&field.name));
        Ok(Self(values))
    }

    fn same_columns(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|((left, _), (right, _))| left.name == right.name)
    }

    fn key(&self, collection: &Collection) -> Option<Key> {
        self.0.iter().find(|(field, _)| field.name == collection.primary).and_then(|(_, value)| key_of(value))
    }
}

/// The key that a typed value of a key field is.
fn key_of(value: &Typed) -> Option<Key> {
    match value {
        Typed::Int(number) => Some(Key::Int(*number)),
        Typed::Uuid(id) => Some(Key::Uuid(*id)),
        Typed::Text(text) | Typed::Decimal(text) => Some(Key::Text(text.clone())),
        Typed::Float(number) => Some(Key::Text(number.to_string())),
        _ => None,
    }
}

/// A key as a parameter.
fn bind_key(conn: Executor<'_>, field: &Field, key: &Key) -> Expr {
    bind(conn.dialect(), field, typed_key(field, key))
}

/// Writes rows; gives their keys in the order of the rows.
///
/// # Errors
/// `INVALID_PAYLOAD`, `VALUE_OUT_OF_RANGE`, `VALUE_TOO_LONG` for values that don't fit, and the
/// constraint codes, with the collection named.
pub async fn insert(conn: Executor<'_>, write: &AuthorizedCreate) -> Result<Vec<Key>> {
    let collection = &**write.collection();
    let rows =
        write.rows().iter().map(|row| TypedRow::of(conn.dialect(), collection, row)).collect::<Result<Vec<_>>>()?;
    let mut keys = Vec::with_capacity(rows.len());
    let mut rest = rows.as_slice();
    while let Some(first) = rest.first() {
        let known = first.key(collection).is_some();
        let most = if known || returning::is_available(conn.db()) { batch_of(first.0.len()) } else { 1 };
        let same = |row: &&TypedRow<'_>| row.same_columns(first) && row.key(collection).is_some() == known;
        let count = if first.0.is_empty() { 1 } else { rest.iter().take(most).take_while(same).count() };
        let (batch, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        if let Err(error) = insert_batch(conn, collection, batch, &mut keys).await {
            return Err(reference::named(conn, collection, batch.iter(), error).await);
        }
        rest = after;
    }
    Ok(keys)
}

fn batch_of(columns: usize) -> usize {
    (MOST_PARAMETERS / columns.max(1)).clamp(1, MOST_ROWS)
}

/// One INSERT of rows with the same columns.
async fn insert_batch(
    conn: Executor<'_>,
    collection: &Collection,
    rows: &[TypedRow<'_>],
    keys: &mut Vec<Key>,
) -> Result<()> {
    let mut statement = Query::insert();
    statement.into_table(Alias::new(&*collection.name)).or_default_values();
    if let Some(first) = rows.first() {
        statement.columns(first.0.iter().map(|(field, _)| Alias::new(&*field.name)));
        for row in rows {
            let values = row.0.iter().map(|(field, value)| bind(conn.dialect(), field, value.clone()));
            if !row.0.is_empty() {
                statement.values(values).map_err(Error::internal)?;
            }
        }
    }
    let known: Option<Vec<Key>> = rows.iter().map(|row| row.key(collection)).collect();
    if let Some(mut known) = known {
        conn.execute(conn.build(&statement)).await?;
        sequence::follow(conn, collection, &known).await?;
        keys.append(&mut known);
        return Ok(());
    }
    generated(conn, collection, &statement, rows.len(), keys).await
}

/// Runs an INSERT whose keys the database makes.
async fn generated(
    conn: Executor<'_>,
    collection: &Collection,
    statement: &InsertStatement,
    count: usize,
    keys: &mut Vec<Key>,
) -> Result<()> {
    let primary = collection.primary_field();
    if let Some(statement) = returning::with_key(conn, statement, &primary.name) {
        let rows = conn.query(statement).await?;
        for row in &rows {
            let text: String = row.try_get_by_index(0).map_err(Error::internal)?;
            keys.push(Key::parse_text(primary, &text).ok_or_else(|| Error::internal("the database made no key"))?);
        }
        return if rows.len() == count { Ok(()) } else { Err(Error::internal("not every key came back")) };
    }
    let done = conn.execute(conn.build(statement)).await?;
    let key = Key::parse_text(primary, &done.last_insert_id().to_string());
    keys.push(key.ok_or_else(|| Error::internal("the database made no key"))?);
    Ok(())
}

/// Deletes rows.
///
/// # Errors
/// `RECORD_STILL_REFERENCED`, with the collection named.
pub async fn delete(conn: Executor<'_>, write: &AuthorizedDelete) -> Result<()> {
    let collection = &**write.collection();
    for keys in write.keys().chunks(MOST_ROWS) {
        let mut statement: DeleteStatement = Query::delete();
        statement.from_table(Alias::new(&*collection.name)).and_where(has_key(conn, collection, keys));
        conn.execute(conn.build(&statement)).await.map_err(|error| in_collection(error, collection, true))?;
    }
    Ok(())
}

fn has_key(conn: Executor<'_>, collection: &Collection, keys: &[Key]) -> Expr {
    let primary = collection.primary_field();
    let column = Expr::col(Alias::new(&*primary.name));
    match keys {
        [key] => column.eq(bind_key(conn, primary, key)),
        keys => column.is_in(keys.iter().map(|key| bind_key(conn, primary, key))),
    }
}
