//! Creating and dropping tables.

use super::{
    Change,
    columns::column_sql,
    names::unique_name,
    sql,
    types::{ColumnSpec, Flavor},
    uniques,
};
use crate::{
    error::{Error, Result},
    store::Dialect,
};

/// Creates a table with these columns; at most one may be the primary key.
///
/// # Errors
/// `INVALID_PAYLOAD` when the description makes no table.
pub async fn create_table(change: &mut Change, table: &str, columns: &[ColumnSpec]) -> Result<()> {
    let flavor = change.flavor();
    if columns.is_empty() {
        return Err(Error::invalid_payload("A collection needs at least one field with a column."));
    }
    if columns.iter().filter(|column| column.primary_key).count() > 1 {
        return Err(Error::invalid_payload("A collection has one primary key."));
    }
    let undo = format!("DROP TABLE {}", sql::ident(flavor.dialect, table));
    change.run_undoable(&create_table_sql(flavor, table, columns), undo).await?;
    if flavor.dialect == Dialect::Sqlite {
        // As an index it can be dropped later without rebuilding the table.
        for column in columns.iter().filter(|column| column.unique && !column.primary_key) {
            uniques::add_unique(change, table, &column.name).await?;
        }
    }
    Ok(())
}

pub(super) fn create_table_sql(flavor: Flavor, table: &str, columns: &[ColumnSpec]) -> String {
    let dialect = flavor.dialect;
    let ident = |name: &str| sql::ident(dialect, name);
    let mut parts: Vec<String> = columns.iter().map(|column| column_sql(flavor, column)).collect();
    if dialect != Dialect::Sqlite {
        for column in columns.iter().filter(|column| column.unique && !column.primary_key) {
            let name = ident(&unique_name(dialect, table, &column.name));
            parts.push(format!("CONSTRAINT {name} UNIQUE ({})", ident(&column.name)));
        }
    }
    let options = match dialect {
        Dialect::Mysql => format!(" ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {}", flavor.binary_collation()),
        Dialect::Sqlite | Dialect::Postgres => String::new(),
    };
    format!("CREATE TABLE {} ({}){options}", ident(table), parts.join(", "))
}

/// Drops a table. Foreign keys of other tables that point to it have to be gone.
///
/// # Errors
/// `INVALID_PAYLOAD` when the database refuses.
pub async fn drop_table(change: &mut Change, table: &str) -> Result<()> {
    let sql = format!("DROP TABLE {}", sql::ident(change.flavor().dialect, table));
    change.run(&sql).await
}
