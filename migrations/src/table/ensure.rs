//! Creating a described table, or adding what an existing one lacks.

use sea_orm::{
    ConnectionTrait, DbBackend, DbErr, Statement,
    sea_query::{Alias, Table as Sql},
};
use sea_orm_migration::SchemaManager;

use super::{Column, Kind, Table, render};

/// Collations of texts that compare by bytes and don't pad, best first. Keys and tokens must not be
/// equal when they differ in case or in trailing blanks, on no engine.
const EXACT_COLLATIONS: [&str; 3] = ["utf8mb4_0900_bin", "utf8mb4_nopad_bin", "utf8mb4_bin"];

/// The database that tables are made in.
pub(crate) struct Target<'a> {
    pub(crate) manager: &'a SchemaManager<'a>,
    pub(crate) backend: DbBackend,
    /// Collation of texts; MySQL only.
    collation: Option<&'static str>,
}

impl<'a> Target<'a> {
    pub(crate) async fn new(manager: &'a SchemaManager<'a>) -> Result<Self, DbErr> {
        let backend = manager.get_database_backend();
        let mut collation = None;
        if backend == DbBackend::MySql {
            let sql = "SELECT CAST(COLLATION_NAME AS CHAR) FROM information_schema.COLLATIONS WHERE COLLATION_NAME \
                       LIKE 'utf8mb4%bin'";
            let rows = manager.get_connection().query_all_raw(Statement::from_string(backend, sql)).await?;
            let known: Vec<String> = rows.iter().map(|row| row.try_get_by_index(0)).collect::<Result<_, _>>()?;
            collation = EXACT_COLLATIONS.into_iter().find(|name| known.iter().any(|other| other == name));
        }
        Ok(Self { manager, backend, collation })
    }

    /// A foreign key needs the collation of the column it points to, which may be an old one.
    async fn collation_of(&self, table: &Table, column: &Column) -> Result<Option<String>, DbErr> {
        let own = match column.kind {
            Kind::Varchar(_) | Kind::Text => self.collation.map(str::to_owned),
            _ => None,
        };
        let Some(reference) = column.references.filter(|reference| reference.table != table.name) else {
            return Ok(own);
        };
        if self.backend != DbBackend::MySql || !matches!(column.kind, Kind::Varchar(_) | Kind::Uuid) {
            return Ok(own);
        }
        let statement = Statement::from_sql_and_values(
            self.backend,
            "SELECT CAST(COLLATION_NAME AS CHAR) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND \
             TABLE_NAME = ? AND COLUMN_NAME = ?",
            [reference.table.into(), reference.column.into()],
        );
        let row = self.manager.get_connection().query_one_raw(statement).await?;
        Ok(row.map(|row| row.try_get_by_index::<Option<String>>(0)).transpose()?.flatten().or(own))
    }
}

/// Makes the table, or adds the columns it lacks. Columns and tables that exist stay as they are.
pub(crate) async fn ensure(target: &Target<'_>, table: &Table) -> Result<(), DbErr> {
    if target.manager.has_table(table.name).await? {
        complete(target, table).await
    } else {
        create(target, table).await
    }
}

async fn create(target: &Target<'_>, table: &Table) -> Result<(), DbErr> {
    let mut sql = Sql::create();
    sql.table(Alias::new(table.name));
    for column in table.columns {
        let collation = target.collation_of(table, column).await?;
        sql.col(render::column_definition(target.backend, column, collation.as_deref(), false));
        if let Some(reference) = column.references {
            sql.foreign_key(&mut render::foreign_key(table.name, column.name, reference));
        }
    }
    target.manager.create_table(sql).await?;
    for column in table.columns.iter().filter(|column| column.unique) {
        unique(target, table, &render::unique_name(table.name, column.name), &[column.name]).await?;
    }
    for (name, columns) in table.unique {
        unique(target, table, name, columns).await?;
    }
    Ok(())
}

/// Old rows can satisfy neither NOT NULL without default nor a new foreign key, so added columns have neither.
async fn complete(target: &Target<'_>, table: &Table) -> Result<(), DbErr> {
    for column in table.columns.iter().filter(|column| !column.retired && !column.primary) {
        if target.manager.has_column(table.name, column.name).await? {
            continue;
        }
        tracing::info!(table = table.name, column = column.name, "adding a missing system column");
        let mut column = *column;
        if target.backend == DbBackend::Sqlite && matches!(column.default, super::DefaultValue::Now) {
            // SQLite adds no column whose default is an expression.
            column.default = super::DefaultValue::None;
        }
        let collation = target.collation_of(table, &column).await?;
        let mut definition = render::column_definition(target.backend, &column, collation.as_deref(), true);
        let mut sql = Sql::alter();
        sql.table(Alias::new(table.name)).add_column(&mut definition);
        target.manager.alter_table(sql).await?;
    }
    Ok(())
}

/// Makes a unique index; of a table that others read, so its name is fixed.
pub(crate) async fn unique(target: &Target<'_>, table: &Table, name: &str, columns: &[&str]) -> Result<(), DbErr> {
    target.manager.create_index(render::unique_index(table.name, name, columns)).await
}
