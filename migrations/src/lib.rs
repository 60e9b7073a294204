//! Ordered migrations of the system tables, and nothing else: no engine code, no settings. A merged
//! migration is frozen; later changes are later migrations.
//!
//! A database of the same layout that another server made opens in place: what exists is kept, what
//! is missing and needed is added. Its own bookkeeping table (`directus_migrations`) is left to
//! its owner; ours is `waymark_migrations`.

mod lock;
mod m20261129_000001_system_tables;
mod table;
#[cfg(test)]
mod tests;

use sea_orm::{
    DatabaseConnection, DbErr, DynIden,
    sea_query::{Alias, IntoIden},
};
use sea_orm_migration::{MigrationTrait, MigratorTrait};

/// Name of the table that records which of our migrations have been applied.
pub const BOOKKEEPING_TABLE: &str = "waymark_migrations";

struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(m20261129_000001_system_tables::Migration)]
    }

    fn migration_table_name() -> DynIden {
        Alias::new(BOOKKEEPING_TABLE).into_iden()
    }
}

/// Applies the pending migrations and tells how many there were. Runs under a lock of the whole
/// database: of many processes that call this at once, one migrates and the others wait and find
/// nothing to do.
///
/// # Errors
/// The driver's error; on SQLite and PostgreSQL nothing is changed then.
pub async fn run(pool: &DatabaseConnection) -> Result<usize, DbErr> {
    if pending(pool).await?.is_empty() {
        return Ok(0);
    }
    let held = lock::acquire(pool).await?;
    let applied = apply(held.connection()).await;
    held.release(applied.is_ok()).await?;
    applied
}

async fn apply(connection: &sea_orm::DatabaseTransaction) -> Result<usize, DbErr> {
    let count = Migrator::get_pending_migrations(connection).await?.len();
    if count > 0 {
        Migrator::up(connection, None).await?;
    }
    Ok(count)
}

/// Names of the migrations that have not been applied; all of them for an empty database. Changes
/// nothing.
///
/// # Errors
/// The driver's error, or an error naming a recorded migration that this version does not know.
pub async fn pending(pool: &DatabaseConnection) -> Result<Vec<String>, DbErr> {
    let migrations = Migrator::get_pending_migrations_read_only(pool).await?;
    Ok(migrations.iter().map(|migration| migration.name().to_owned()).collect())
}
