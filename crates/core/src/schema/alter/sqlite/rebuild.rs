//! Building a table anew with its rows, indexes, triggers and counter, as SQLite's documentation
//! ("Making Other Kinds Of Table Schema Changes") describes. Runs in a [`Change`]: one transaction on
//! a connection that doesn't enforce foreign keys, so nothing cascades when the old table goes.

use super::{
    super::{
        Change,
        catalogue::{ask, optional_text_at, text_at},
        sql,
    },
    definition::{Definition, Edit},
};
use crate::{
    error::{Code, Error, Result},
    store::{Dialect, Executor},
};

/// An index of a table.
#[derive(Debug)]
pub struct Index {
    pub name: String,
    pub unique: bool,
    /// Made by `CREATE INDEX`, not by a constraint.
    pub standalone: bool,
    pub columns: Vec<String>,
}

fn ident(name: &str) -> String {
    sql::ident(Dialect::Sqlite, name)
}

/// The indexes of a table with their columns (expressions are left out).
pub async fn indexes(executor: Executor<'_>, table: &str) -> Result<Vec<Index>> {
    let list = "SELECT name, CAST(\"unique\" AS text), origin FROM pragma_index_list(?)";
    let mut indexes = Vec::new();
    for row in &ask(executor, list, vec![table.into()]).await? {
        let name = text_at(row, 0)?;
        let rows =
            ask(executor, "SELECT name FROM pragma_index_info(?) ORDER BY seqno", vec![name.as_str().into()]).await?;
        let mut columns = Vec::new();
        for row in &rows {
            columns.extend(optional_text_at(row, 0)?);
        }
        indexes.push(Index { name, unique: text_at(row, 1)? == "1", standalone: text_at(row, 2)? == "c", columns });
    }
    Ok(indexes)
}

/// Changes a table by building it anew. Does nothing when the changes change nothing.
///
/// # Errors
/// `INVALID_PAYLOAD` when the table can't be changed so; `INVALID_FOREIGN_KEY` when rows would point
/// nowhere; `RECORD_NOT_UNIQUE` and the like when the rows don't fit the new table.
pub async fn rebuild(change: &mut Change, table: &str, edits: &[Edit]) -> Result<()> {
    let executor = change.ddl();
    let found =
        ask(executor, "SELECT sql, name FROM sqlite_master WHERE type = 'table' AND name = ?", vec![table.into()])
            .await?;
    let statement = match found.first() {
        Some(row) => text_at(row, 0)?,
        None => return Err(Error::invalid_payload(format!("There is no table \"{table}\"."))),
    };
    let refuse = || Error::invalid_payload("The database can't make this change.");
    let before = Definition::read(&statement).ok_or_else(refuse)?;
    let mut after = before.clone();
    for edit in edits {
        after.apply(edit).ok_or_else(refuse)?;
    }
    if before.create(table) == after.create(table) {
        return Ok(());
    }

    let dropped: Vec<&str> = edits
        .iter()
        .filter_map(|edit| match edit {
            Edit::DropColumn(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let belongings = belongings(executor, table, &dropped).await?;
    let counter = counter(executor, table).await?;

    let temporary = format!("waymark_rebuild_{}", uuid::Uuid::new_v4().simple());
    let kept = after.stored_columns();
    let columns: Vec<String> =
        before.stored_columns().iter().filter(|name| kept.contains(name)).map(|name| ident(name)).collect();
    let columns = columns.join(", ");
    change.run(&after.create(&temporary)).await?;
    change
        .run(&format!("INSERT INTO {0} ({columns}) SELECT {columns} FROM {1}", ident(&temporary), ident(table)))
        .await?;
    change.run(&format!("DROP TABLE {}", ident(table))).await?;
    change.run(&format!("ALTER TABLE {} RENAME TO {}", ident(&temporary), ident(table))).await?;
    if let Some(counter) = counter {
        let name = sql::text(Dialect::Sqlite, table);
        change
            .run(&format!("UPDATE sqlite_sequence SET seq = {counter} WHERE name = {name} AND seq < {counter}"))
            .await?;
        // An emptied table has no row of its own yet.
        change
            .run(&format!(
                "INSERT INTO sqlite_sequence (name, seq) SELECT {name}, {counter} \
                 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = {name})"
            ))
            .await?;
    }
    for statement in &belongings {
        change.run(statement).await?;
    }
    check_foreign_keys(change.ddl(), table).await
}

/// The statements of indexes and triggers to make again: all but indexes over dropped columns.
async fn belongings(executor: Executor<'_>, table: &str, dropped: &[&str]) -> Result<Vec<String>> {
    let gone: Vec<String> = indexes(executor, table)
        .await?
        .into_iter()
        .filter(|index| index.columns.iter().any(|column| dropped.contains(&column.as_str())))
        .map(|index| index.name)
        .collect();
    let rows = ask(
        executor,
        "SELECT name, sql FROM sqlite_master WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL",
        vec![table.into()],
    )
    .await?;
    let mut statements = Vec::new();
    for row in &rows {
        if !gone.contains(&text_at(row, 0)?) {
            statements.push(text_at(row, 1)?);
        }
    }
    Ok(statements)
}

/// The last key an `AUTOINCREMENT` table has given.
async fn counter(executor: Executor<'_>, table: &str) -> Result<Option<i64>> {
    let exists = ask(executor, "SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'", Vec::new()).await?;
    if exists.is_empty() {
        return Ok(None);
    }
    let rows =
        ask(executor, "SELECT CAST(seq AS text) FROM sqlite_sequence WHERE name = ?", vec![table.into()]).await?;
    match rows.first() {
        Some(row) => Ok(text_at(row, 0)?.parse().ok()),
        None => Ok(None),
    }
}

/// Refuses when a row of the table points to a row that isn't there.
async fn check_foreign_keys(executor: Executor<'_>, table: &str) -> Result<()> {
    let rows = ask(
        executor,
        "SELECT f.\"from\" FROM pragma_foreign_key_check(?) AS c JOIN pragma_foreign_key_list(?) AS f ON f.id = c.fkid LIMIT 1",
        vec![table.into(), table.into()],
    )
    .await
    .map_err(super::super::refusal::refused)?;
    match rows.first() {
        Some(row) => Err(Error::new(Code::InvalidForeignKey).with("collection", table).with("field", text_at(row, 0)?)),
        None => Ok(()),
    }
}
