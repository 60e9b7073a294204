//! UPDATE of many rows. Rows that get the same values share a statement; so do rows that get
//! different values in the same columns, each column then choosing its value by the key.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use sea_query::{Alias, CaseStatement, Query, UpdateStatement};

use super::{MOST_PARAMETERS, MOST_ROWS, TypedRow, has_key, reference};
use crate::{
    access::write::AuthorizedUpdate,
    error::{Code, Error, Result},
    ident::Key,
    plan::dialect::bind,
    schema::Collection,
    store::Executor,
};

/// Different changes in one statement; each costs a comparison per row.
const MOST_CHANGES: usize = 200;

/// The same values for some rows.
struct Change<'a> {
    row: TypedRow<'a>,
    keys: Vec<Key>,
}

/// Writes changes of one collection to their rows, as if one after the other; nothing where a
/// payload has no column.
///
/// # Errors
/// As [`super::insert`].
pub async fn update(conn: Executor<'_>, writes: &[AuthorizedUpdate]) -> Result<()> {
    let mut rest = writes;
    while !rest.is_empty() {
        // A row that is changed again waits for the next round.
        let mut named: HashSet<&Key> = HashSet::new();
        let mut count = 0;
        for write in rest {
            if count > 0 && write.keys().iter().any(|key| named.contains(key)) {
                break;
            }
            named.extend(write.keys());
            count += 1;
        }
        let (round, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        write_round(conn, round).await?;
        rest = after;
    }
    Ok(())
}

/// Writes changes of different rows.
async fn write_round(conn: Executor<'_>, writes: &[AuthorizedUpdate]) -> Result<()> {
    let Some(collection) = writes.first().map(|write| &**write.collection()) else { return Ok(()) };
    let mut changes: Vec<Change<'_>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for write in writes.iter().filter(|write| !write.keys().is_empty()) {
        let text = serde_json::to_string(write.payload()).map_err(Error::internal)?;
        match known.get(&text).and_then(|index| changes.get_mut(*index)) {
            Some(change) => change.keys.extend(write.keys().iter().cloned()),
            None => {
                known.insert(text, changes.len());
                let row = TypedRow::of(conn.dialect(), collection, write.payload())?;
                changes.push(Change { row, keys: write.keys().to_vec() });
            }
        }
    }
    let mut by_columns: IndexMap<Vec<&str>, Vec<&Change<'_>>> = IndexMap::new();
    for change in changes.iter().filter(|change| !change.row.0.is_empty()) {
        let columns = change.row.0.iter().map(|(field, _)| &*field.name).collect();
        by_columns.entry(columns).or_default().push(change);
    }
    for (columns, changes) in by_columns {
        let (large, small): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.keys.len() > MOST_CHANGES);
        for change in large {
            write_one(conn, collection, change).await?;
        }
        // Per key one parameter to find its row, one in each CASE, and one value.
        let most = (MOST_PARAMETERS / (2 * columns.len() + 1)).clamp(1, MOST_ROWS);
        let mut rest = small.as_slice();
        while let [first, others @ ..] = rest {
            let mut keys = first.keys.len();
            let fits = |change: &&&Change<'_>| {
                keys += change.keys.len();
                keys <= most
            };
            let count = 1 + others.iter().take(MOST_CHANGES - 1).take_while(fits).count();
            let (batch, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            match batch {
                [change] => write_one(conn, collection, change).await?,
                changes => write_together(conn, collection, changes).await?,
            }
            rest = after;
        }
    }
    Ok(())
}

/// One change, in one statement or few.
async fn write_one(conn: Executor<'_>, collection: &Collection, change: &Change<'_>) -> Result<()> {
    for keys in change.keys.chunks(MOST_ROWS) {
        let mut statement: UpdateStatement = Query::update();
        statement.table(Alias::new(&*collection.name));
        for (field, value) in &change.row.0 {
            statement.value(Alias::new(&*field.name), bind(conn.dialect(), field, value.clone()));
        }
        statement.and_where(has_key(conn, collection, keys));
        if let Err(error) = conn.execute(conn.build(&statement)).await {
            return Err(reference::named(conn, collection, std::iter::once(&change.row), error).await);
        }
    }
    Ok(())
}

/// Changes of the same columns in one statement. Values may have to move from one row to another, which a
/// unique constraint allows only in the order that was asked for: then one after the other.
async fn write_together(conn: Executor<'_>, collection: &Collection, changes: &[&Change<'_>]) -> Result<()> {
    conn.set_savepoint().await?;
    match conn.execute(conn.build(&together(conn, collection, changes))).await {
        Ok(_) => conn.release_savepoint().await,
        Err(error) if error.code() == Code::RecordNotUnique => {
            conn.roll_back_to_savepoint().await?;
            for change in changes {
                write_one(conn, collection, change).await?;
            }
            Ok(())
        }
        Err(error) => Err(reference::named(conn, collection, changes.iter().map(|change| &change.row), error).await),
    }
}

fn together(conn: Executor<'_>, collection: &Collection, changes: &[&Change<'_>]) -> UpdateStatement {
    let mut statement: UpdateStatement = Query::update();
    statement.table(Alias::new(&*collection.name));
    let columns = changes.first().map_or(0, |change| change.row.0.len());
    for column in 0..columns {
        let values = || changes.iter().filter_map(move |change| Some((change.row.0.get(column)?, &change.keys)));
        let Some(((field, first), _)) = values().next() else { continue };
        let value = if values().all(|((_, value), _)| value == first) {
            bind(conn.dialect(), field, first.clone())
        } else {
            let mut choice = CaseStatement::new();
            for ((field, value), keys) in values() {
                choice = choice.case(has_key(conn, collection, keys), bind(conn.dialect(), field, value.clone()));
            }
            choice.into()
        };
        statement.value(Alias::new(&*field.name), value);
    }
    let keys: Vec<Key> = changes.iter().flat_map(|change| change.keys.iter().cloned()).collect();
    statement.and_where(has_key(conn, collection, &keys));
    statement
}
