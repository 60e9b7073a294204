//! Described columns → sea-query definitions in the words of each engine.

use sea_orm::{
    DbBackend,
    sea_query::{
        Alias, ColumnDef, Expr, ForeignKey, ForeignKeyAction, ForeignKeyCreateStatement, Index, IndexCreateStatement,
    },
};

use super::{Column, DefaultValue, Kind, OnDelete, Reference};

/// The definition of a column. `collation` is for MySQL texts (`None` = the database's own).
/// `permissive` leaves NOT NULL out where existing rows could not satisfy it.
pub(super) fn column_definition(
    backend: DbBackend,
    column: &Column,
    collation: Option<&str>,
    permissive: bool,
) -> ColumnDef {
    let mut definition = ColumnDef::new(Alias::new(column.name));
    definition.custom(Alias::new(type_name(backend, column.kind, collation)));
    let has_default = !matches!(column.default, DefaultValue::None);
    if column.required && (!permissive || has_default) {
        definition.not_null();
    } else {
        definition.null();
    }
    match column.default {
        DefaultValue::None if needs_explicit_timestamp_default(backend, column) => {
            definition.default(Expr::cust("CURRENT_TIMESTAMP"));
        }
        DefaultValue::None => {}
        DefaultValue::Text(text) => {
            definition.default(text);
        }
        DefaultValue::Integer(number) => {
            definition.default(number);
        }
        DefaultValue::Boolean(value) => {
            definition.default(Expr::cust(match (backend, value) {
                (DbBackend::Postgres, true) => "true",
                (DbBackend::Postgres, false) => "false",
                (_, true) => "1",
                (_, false) => "0",
            }));
        }
        DefaultValue::Now => {
            definition.default(Expr::cust("CURRENT_TIMESTAMP"));
        }
    }
    if column.kind == Kind::Increment {
        match backend {
            DbBackend::Postgres => {}
            _ => {
                definition.auto_increment();
            }
        }
    }
    if column.primary {
        definition.primary_key();
    }
    definition
}

/// Older MySQL and MariaDB give the first required timestamp without default an
/// `ON UPDATE CURRENT_TIMESTAMP` of their own; any default of ours prevents that.
fn needs_explicit_timestamp_default(backend: DbBackend, column: &Column) -> bool {
    backend == DbBackend::MySql && column.kind == Kind::Timestamp && column.required
}

fn type_name(backend: DbBackend, kind: Kind, collation: Option<&str>) -> String {
    let collate = |name: String| match collation {
        Some(collation) => format!("{name} CHARACTER SET utf8mb4 COLLATE {collation}"),
        None => name,
    };
    match (kind, backend) {
        (Kind::Increment, DbBackend::Postgres) => "serial".to_owned(),
        (Kind::Increment | Kind::Unsigned, DbBackend::MySql) => "int unsigned".to_owned(),
        (Kind::Increment | Kind::Unsigned | Kind::Integer, _) => "integer".to_owned(),
        (Kind::Varchar(length), _) => collate(format!("varchar({length})")),
        (Kind::Text, _) => collate("text".to_owned()),
        (Kind::Boolean, DbBackend::MySql) => "tinyint(1)".to_owned(),
        (Kind::Boolean, _) => "boolean".to_owned(),
        (Kind::BigInteger, _) => "bigint".to_owned(),
        (Kind::Uuid, DbBackend::Postgres) => "uuid".to_owned(),
        (Kind::Uuid, _) => match collation {
            Some(collation) => format!("char(36) COLLATE {collation}"),
            None => "char(36)".to_owned(),
        },
        (Kind::Json, _) => "json".to_owned(),
        (Kind::Timestamp, DbBackend::Postgres) => "timestamptz".to_owned(),
        (Kind::Timestamp, DbBackend::MySql) => "timestamp".to_owned(),
        (Kind::Timestamp, _) => "datetime".to_owned(),
    }
}

pub(super) fn foreign_key(table: &str, column: &str, reference: Reference) -> ForeignKeyCreateStatement {
    let mut key = ForeignKey::create();
    key.name(format!("{table}_{column}_foreign"))
        .from(Alias::new(table), Alias::new(column))
        .to(Alias::new(reference.table), Alias::new(reference.column))
        .on_update(ForeignKeyAction::NoAction)
        .on_delete(match reference.on_delete {
            OnDelete::NoAction => ForeignKeyAction::NoAction,
            OnDelete::SetNull => ForeignKeyAction::SetNull,
            OnDelete::Cascade => ForeignKeyAction::Cascade,
        });
    key
}

pub(super) fn unique_index(table: &str, name: &str, columns: &[&str]) -> IndexCreateStatement {
    let mut index = Index::create();
    index.name(name).table(Alias::new(table)).unique();
    for column in columns {
        index.col(Alias::new(*column));
    }
    index
}

/// Name of the unique index over one column.
pub(super) fn unique_name(table: &str, column: &str) -> String {
    format!("{table}_{column}_unique")
}
