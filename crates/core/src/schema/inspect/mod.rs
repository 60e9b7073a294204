//! The catalogue of the database → plain tables: columns with types, defaults, keys, foreign keys.
//! A fixed number of statements for the whole database, however many tables there are. Stored
//! metadata, specials and which tables are served are not decided here (`overlay`).

mod defaults;
mod mysql;
mod postgres;
mod sqlite;
#[cfg(test)]
mod tests;
mod types;

use indexmap::IndexMap;
use sea_orm::{QueryResult, Statement, TryGetable};

use super::{Column, FieldType, ForeignKey, TableInfo};
use crate::{
    error::{Result, database},
    store::{Dialect, Executor},
};

pub(crate) use defaults::retyped;

/// A table as the catalogue describes it.
#[derive(Clone, Debug, Default)]
pub struct RawTable {
    pub info: TableInfo,
    /// In table order.
    pub columns: IndexMap<String, RawColumn>,
}

/// A column with the type its database type stands for.
#[derive(Clone, Debug)]
pub struct RawColumn {
    pub kind: FieldType,
    pub column: Column,
}

impl RawTable {
    /// The only primary-key column; `None` without or with several.
    #[must_use]
    pub fn primary(&self) -> Option<&str> {
        let mut keys = self.columns.iter().filter(|(_, raw)| raw.column.primary_key);
        match (keys.next(), keys.next()) {
            (Some((name, _)), None) => Some(name),
            _ => None,
        }
    }
}

/// All tables of the database (PostgreSQL: those found without a schema name), in name order. Views are left out.
///
/// # Errors
/// As [`Executor::query`].
pub async fn tables(connection: Executor<'_>) -> Result<IndexMap<String, RawTable>> {
    let mut tables = match connection.dialect() {
        Dialect::Sqlite => sqlite::tables(connection).await,
        Dialect::Postgres => postgres::tables(connection).await,
        Dialect::Mysql => mysql::tables(connection).await,
    }?;
    tables.sort_unstable_keys();
    Ok(tables)
}

async fn rows(connection: Executor<'_>, sql: &str) -> Result<Vec<QueryResult>> {
    connection.query(Statement::from_string(connection.backend(), sql)).await
}

/// A value of a catalogue row by its position.
fn get<T: TryGetable>(row: &QueryResult, index: usize) -> Result<T> {
    row.try_get_by_index(index).map_err(database::from_driver)
}

fn column_mut<'a>(tables: &'a mut IndexMap<String, RawTable>, table: &str, column: &str) -> Option<&'a mut Column> {
    tables.get_mut(table)?.columns.get_mut(column).map(|raw| &mut raw.column)
}

/// Notes a foreign key; of several on one column the first counts.
fn set_foreign_key(tables: &mut IndexMap<String, RawTable>, table: &str, column: &str, key: ForeignKey) {
    if let Some(column) = column_mut(tables, table, column) {
        column.foreign_key.get_or_insert(key);
    }
}
