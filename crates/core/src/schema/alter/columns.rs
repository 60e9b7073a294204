//! Adding, changing and dropping columns.

use super::{
    Change, catalogue, mysql, sql, sqlite,
    types::{ColumnDefault, ColumnSpec, Flavor},
    uniques,
};
use crate::{
    error::{Code, Error, Result},
    store::Dialect,
};

/// A column as `CREATE TABLE` and `ADD COLUMN` take it, without unique constraint.
pub(super) fn column_sql(flavor: Flavor, spec: &ColumnSpec) -> String {
    let dialect = flavor.dialect;
    let mut sql = format!("{} {}", sql::ident(dialect, &spec.name), flavor.column_type(spec));
    sql.push_str(if spec.nullable && !spec.primary_key { " NULL" } else { " NOT NULL" });
    if !spec.auto_increment
        && let Some(default) = spec.default.to_sql(flavor, spec.kind)
    {
        sql.push_str(" DEFAULT ");
        sql.push_str(&default);
    }
    if dialect == Dialect::Mysql && spec.auto_increment {
        sql.push_str(" AUTO_INCREMENT");
    }
    if spec.primary_key {
        sql.push_str(" PRIMARY KEY");
        if dialect == Dialect::Sqlite && spec.auto_increment {
            sql.push_str(" AUTOINCREMENT");
        }
    }
    sql
}

/// Adds a column to a table.
///
/// # Errors
/// `CONTAINS_NULL_VALUES` when it must not be empty, has no default and there are rows;
/// `INVALID_PAYLOAD` when the database refuses.
pub async fn add_column(change: &mut Change, table: &str, spec: &ColumnSpec) -> Result<()> {
    let flavor = change.flavor();
    if spec.primary_key || spec.auto_increment {
        return Err(Error::invalid_payload("A primary key can only be made together with its collection."));
    }
    let bare = !spec.nullable && spec.default == ColumnDefault::None;
    if bare && catalogue::has_rows(change.ddl(), table, None).await? {
        return Err(contains_nulls(table, &spec.name));
    }
    let (table_name, column_name) = (sql::ident(flavor.dialect, table), sql::ident(flavor.dialect, &spec.name));
    if flavor.dialect == Dialect::Sqlite && (bare || spec.default == ColumnDefault::Now) {
        // SQLite adds neither such column to a table as it stands.
        sqlite::rebuild(change, table, &[sqlite::Edit::AddColumn(column_sql(flavor, spec))]).await?;
    } else {
        let sql = format!("ALTER TABLE {table_name} ADD COLUMN {}", column_sql(flavor, spec));
        change.run_undoable(&sql, format!("ALTER TABLE {table_name} DROP COLUMN {column_name}")).await?;
    }
    if spec.unique {
        uniques::add_unique(change, table, &spec.name).await?;
    }
    Ok(())
}

/// Drops a column with its unique constraint. A foreign key of it has to be gone, except on SQLite.
///
/// # Errors
/// `INVALID_PAYLOAD` when the database refuses.
pub async fn drop_column(change: &mut Change, table: &str, column: &str) -> Result<()> {
    let dialect = change.flavor().dialect;
    if dialect == Dialect::Sqlite {
        return sqlite::rebuild(change, table, &[sqlite::Edit::DropColumn(column.to_owned())]).await;
    }
    change.run(&format!("ALTER TABLE {} DROP COLUMN {}", sql::ident(dialect, table), sql::ident(dialect, column))).await
}

/// Changes a column from one description to another: type and length, nullability, default, unique
/// constraint. The values stay, converted by the database where the type changes.
///
/// # Errors
/// `CONTAINS_NULL_VALUES`, `RECORD_NOT_UNIQUE` when the rows don't allow it; `INVALID_PAYLOAD` when
/// the database refuses.
pub async fn change_column(change: &mut Change, table: &str, before: &ColumnSpec, after: &ColumnSpec) -> Result<()> {
    let flavor = change.flavor();
    if before.nullable && !after.nullable && catalogue::has_rows(change.ddl(), table, Some(&after.name)).await? {
        return Err(contains_nulls(table, &after.name));
    }
    let retyped = flavor.column_type(before) != flavor.column_type(after);
    let renulled = before.nullable != after.nullable;
    let redefaulted = before.default != after.default;
    if retyped || renulled || redefaulted {
        match flavor.dialect {
            Dialect::Postgres => {
                for part in postgres_parts(flavor, before, after) {
                    change.run(&format!("ALTER TABLE {} {part}", sql::ident(flavor.dialect, table))).await?;
                }
            }
            Dialect::Mysql => mysql::modify_column(change, table, after, retyped, redefaulted).await?,
            Dialect::Sqlite => {
                let edit = sqlite::Edit::ChangeColumn {
                    name: after.name.clone(),
                    type_name: retyped.then(|| flavor.column_type(after)),
                    nullable: after.nullable,
                    default: redefaulted.then(|| after.default.to_sql(flavor, after.kind)),
                };
                sqlite::rebuild(change, table, &[edit]).await?;
            }
        }
    }
    match (before.unique, after.unique) {
        (false, true) => uniques::add_unique(change, table, &after.name).await,
        (true, false) => uniques::drop_unique(change, table, &after.name).await,
        _ => Ok(()),
    }
}

pub(super) fn postgres_parts(flavor: Flavor, before: &ColumnSpec, after: &ColumnSpec) -> Vec<String> {
    let column = sql::ident(flavor.dialect, &after.name);
    let mut parts = Vec::new();
    let kind = flavor.column_type(after);
    if flavor.column_type(before) != kind {
        // A default of the old type may have no cast; it is set again below.
        parts.push(format!("ALTER COLUMN {column} DROP DEFAULT"));
        parts.push(format!("ALTER COLUMN {column} TYPE {kind} USING {column}::{kind}"));
        if let Some(default) = after.default.to_sql(flavor, after.kind) {
            parts.push(format!("ALTER COLUMN {column} SET DEFAULT {default}"));
        }
    } else if before.default != after.default {
        parts.push(match after.default.to_sql(flavor, after.kind) {
            Some(default) => format!("ALTER COLUMN {column} SET DEFAULT {default}"),
            None => format!("ALTER COLUMN {column} DROP DEFAULT"),
        });
    }
    if before.nullable != after.nullable {
        parts.push(format!("ALTER COLUMN {column} {} NOT NULL", if after.nullable { "DROP" } else { "SET" }));
    }
    parts
}

#[track_caller]
fn contains_nulls(table: &str, column: &str) -> Error {
    Error::new(Code::ContainsNullValues).with("collection", table).with("field", column)
}
