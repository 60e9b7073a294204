//! Unique constraints of single columns, found in the live catalogue whatever their name.

use super::{
    Change,
    catalogue::{ask, text_at},
    names::unique_name,
    sql, sqlite,
};
use crate::{error::Result, store::Dialect};

/// # Errors
/// `RECORD_NOT_UNIQUE` when the rows hold doubles; `INVALID_PAYLOAD` when the database refuses.
pub(super) async fn add_unique(change: &mut Change, table: &str, column: &str) -> Result<()> {
    let dialect = change.flavor().dialect;
    let ident = |name: &str| sql::ident(dialect, name);
    let (name, table, column) = (ident(&unique_name(dialect, table, column)), ident(table), ident(column));
    match dialect {
        Dialect::Sqlite => change.run(&format!("CREATE UNIQUE INDEX {name} ON {table} ({column})")).await,
        Dialect::Postgres => change.run(&format!("ALTER TABLE {table} ADD CONSTRAINT {name} UNIQUE ({column})")).await,
        Dialect::Mysql => {
            let sql = format!("ALTER TABLE {table} ADD CONSTRAINT {name} UNIQUE ({column})");
            change.run_undoable(&sql, format!("ALTER TABLE {table} DROP INDEX {name}")).await
        }
    }
}

/// Drops every unique constraint and index over exactly this column.
///
/// # Errors
/// `INVALID_PAYLOAD` when the database refuses.
pub(super) async fn drop_unique(change: &mut Change, table: &str, column: &str) -> Result<()> {
    let dialect = change.flavor().dialect;
    let ident = |name: &str| sql::ident(dialect, name);
    match dialect {
        Dialect::Sqlite => {
            for index in sqlite::indexes(change.ddl(), table).await? {
                if index.unique && index.standalone && index.columns == [column] {
                    change.run(&format!("DROP INDEX {}", ident(&index.name))).await?;
                }
            }
            sqlite::rebuild(change, table, &[sqlite::Edit::DropUnique(column.to_owned())]).await
        }
        Dialect::Postgres => {
            let found = ask(
                change.ddl(),
                "SELECT i.relname::text, (k.oid IS NOT NULL)::text FROM pg_catalog.pg_index x \
                 JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid \
                 JOIN pg_catalog.pg_class t ON t.oid = x.indrelid \
                 JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace \
                 JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = x.indkey[0] \
                 LEFT JOIN pg_catalog.pg_constraint k ON k.conindid = i.oid AND k.contype = 'u' \
                 WHERE n.nspname = current_schema() AND t.relname = $1 AND a.attname = $2 \
                 AND x.indisunique AND NOT x.indisprimary AND x.indnkeyatts = 1 AND x.indpred IS NULL",
                vec![table.into(), column.into()],
            )
            .await?;
            for row in &found {
                let name = ident(&text_at(row, 0)?);
                let sql = match text_at(row, 1)?.as_str() {
                    "true" => format!("ALTER TABLE {} DROP CONSTRAINT {name}", ident(table)),
                    _ => format!("DROP INDEX {name}"),
                };
                change.run(&sql).await?;
            }
            Ok(())
        }
        Dialect::Mysql => {
            let found = ask(
                change.ddl(),
                "SELECT index_name FROM information_schema.statistics \
                 WHERE table_schema = DATABASE() AND table_name = ? AND index_name <> 'PRIMARY' AND non_unique = 0 \
                 GROUP BY index_name HAVING COUNT(*) = 1 AND MAX(column_name) = ?",
                vec![table.into(), column.into()],
            )
            .await?;
            for row in &found {
                change.run(&format!("ALTER TABLE {} DROP INDEX {}", ident(table), ident(&text_at(row, 0)?))).await?;
            }
            Ok(())
        }
    }
}
