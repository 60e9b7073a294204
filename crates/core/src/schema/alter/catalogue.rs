//! Questions to the live catalogue that a change can't leave to the (older) schema in memory.

use sea_orm::{QueryResult, Statement, Value};

use super::{refusal::refused, sql};
use crate::{
    error::{Error, Result},
    store::{Dialect, Executor},
};

pub(super) async fn ask(executor: Executor<'_>, sql: &str, values: Vec<Value>) -> Result<Vec<QueryResult>> {
    executor.query(Statement::from_sql_and_values(executor.backend(), sql, values)).await
}

pub(super) fn text_at(row: &QueryResult, index: usize) -> Result<String> {
    Ok(optional_text_at(row, index)?.unwrap_or_default())
}

/// Catalogue texts come as text or, on MySQL, as bytes.
pub(super) fn optional_text_at(row: &QueryResult, index: usize) -> Result<Option<String>> {
    row.try_get_by_index::<Option<String>>(index)
        .or_else(|error| {
            row.try_get_by_index::<Option<Vec<u8>>>(index)
                .map(|bytes| bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
                .map_err(|_| error)
        })
        .map_err(Error::internal)
}

/// Whether a table, view or other relation of this name exists, served or not.
///
/// # Errors
/// When the catalogue can't be read.
pub async fn table_exists(executor: Executor<'_>, table: &str) -> Result<bool> {
    let sql = match executor.dialect() {
        Dialect::Sqlite => "SELECT 1 FROM sqlite_master WHERE lower(name) = lower(?)",
        Dialect::Postgres => {
            "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = current_schema() AND c.relname = $1"
        }
        Dialect::Mysql => "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?",
    };
    Ok(!ask(executor, sql, vec![table.into()]).await?.is_empty())
}

/// Whether the table holds rows (`column: None`), or rows with NULL in a column.
pub(super) async fn has_rows(executor: Executor<'_>, table: &str, null_column: Option<&str>) -> Result<bool> {
    let dialect = executor.dialect();
    let mut query = format!("SELECT 1 FROM {}", sql::ident(dialect, table));
    if let Some(column) = null_column {
        query.push_str(&format!(" WHERE {} IS NULL", sql::ident(dialect, column)));
    }
    query.push_str(" LIMIT 1");
    Ok(!ask(executor, &query, Vec::new()).await.map_err(refused)?.is_empty())
}
