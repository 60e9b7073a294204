//! The system tables, their foreign keys and the public role.

mod access;
mod data_model;
mod files;
mod flows;
mod history;
mod identity;
mod insights;
mod project;
mod rows;

use sea_orm::DbErr;
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

use crate::table::{Table, Target, ensure};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m20261129_000001_system_tables"
    }
}

/// In the order of their foreign keys.
const TABLES: &[&Table] = &[
    &data_model::COLLECTIONS,
    &identity::ROLES,
    &identity::USERS,
    &data_model::FIELDS,
    &history::ACTIVITY,
    &files::FOLDERS,
    &files::FILES,
    &access::PERMISSIONS,
    &project::PRESETS,
    &data_model::RELATIONS,
    &history::REVISIONS,
    &access::SHARES,
    &identity::SESSIONS,
    &project::SETTINGS,
    &insights::DASHBOARDS,
    &insights::PANELS,
    &insights::NOTIFICATIONS,
    &flows::FLOWS,
    &flows::OPERATIONS,
    &project::MIGRATIONS,
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let target = Target::new(manager).await?;
        for table in TABLES {
            ensure(&target, table).await?;
        }
        rows::role_keys(&target).await?;
        rows::public_role(&target).await
    }

    /// The tables hold the operator's work and may be older than this server: nothing is taken back.
    async fn down(&self, _manager: &SchemaManager) -> Result<(), DbErr> {
        Err(DbErr::Migration("the system tables are not dropped".to_owned()))
    }
}
