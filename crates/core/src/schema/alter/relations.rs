//! Foreign keys.

use super::{
    Change,
    catalogue::{ask, text_at},
    mysql, names, sql, sqlite,
};
use crate::{
    error::{Error, Result},
    store::Dialect,
};

/// What happens to a row when the row it points to goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDelete {
    #[default]
    NoAction,
    SetNull,
    SetDefault,
    Cascade,
    Restrict,
}

impl OnDelete {
    /// # Errors
    /// `INVALID_PAYLOAD` for anything but one of the five rules.
    pub fn parse(name: &str) -> Result<Self> {
        [Self::NoAction, Self::SetNull, Self::SetDefault, Self::Cascade, Self::Restrict]
            .into_iter()
            .find(|rule| rule.sql() == name)
            .ok_or_else(|| {
                Error::invalid_payload("\"on_delete\" is NO ACTION, SET NULL, SET DEFAULT, CASCADE or RESTRICT.")
            })
    }

    #[must_use]
    pub const fn sql(self) -> &'static str {
        match self {
            Self::NoAction => "NO ACTION",
            Self::SetNull => "SET NULL",
            Self::SetDefault => "SET DEFAULT",
            Self::Cascade => "CASCADE",
            Self::Restrict => "RESTRICT",
        }
    }
}

/// A foreign key to be made: `table.column` points to `target.target_column`, a primary key.
#[derive(Clone, Debug)]
pub struct Reference {
    pub table: String,
    pub column: String,
    pub target: String,
    pub target_column: String,
    pub on_delete: OnDelete,
}

impl Reference {
    /// `CONSTRAINT … FOREIGN KEY …`.
    pub(super) fn constraint_sql(&self, dialect: Dialect) -> String {
        let ident = |name: &str| sql::ident(dialect, name);
        format!(
            "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({}) ON DELETE {}",
            ident(&names::foreign_key_name(dialect, &self.table, &self.column)),
            ident(&self.column),
            ident(&self.target),
            ident(&self.target_column),
            self.on_delete.sql(),
        )
    }
}

/// Makes a foreign key; on MySQL the column first takes the exact type of the key it points to.
///
/// # Errors
/// `INVALID_FOREIGN_KEY` when a row points nowhere; `INVALID_PAYLOAD` when the database refuses.
pub async fn add_foreign_key(change: &mut Change, reference: &Reference) -> Result<()> {
    let dialect = change.flavor().dialect;
    let constraint = reference.constraint_sql(dialect);
    match dialect {
        Dialect::Sqlite => {
            let edits =
                [sqlite::Edit::DropForeignKey(reference.column.clone()), sqlite::Edit::AddConstraint(constraint)];
            sqlite::rebuild(change, &reference.table, &edits).await
        }
        Dialect::Postgres => {
            change.run(&format!("ALTER TABLE {} ADD {constraint}", sql::ident(dialect, &reference.table))).await
        }
        Dialect::Mysql => {
            mysql::match_type(change, reference).await?;
            let table = sql::ident(dialect, &reference.table);
            let name = sql::ident(dialect, &names::foreign_key_name(dialect, &reference.table, &reference.column));
            let undo = format!("ALTER TABLE {table} DROP FOREIGN KEY {name}");
            change.run_undoable(&format!("ALTER TABLE {table} ADD {constraint}"), undo).await
        }
    }
}

/// Drops every foreign key over exactly this column; the column stays. None is fine.
///
/// # Errors
/// `INVALID_PAYLOAD` when the database refuses.
pub async fn drop_foreign_key(change: &mut Change, table: &str, column: &str) -> Result<()> {
    let dialect = change.flavor().dialect;
    let query = match dialect {
        Dialect::Sqlite => {
            return sqlite::rebuild(change, table, &[sqlite::Edit::DropForeignKey(column.to_owned())]).await;
        }
        Dialect::Postgres => {
            "SELECT k.conname::text FROM pg_catalog.pg_constraint k \
             JOIN pg_catalog.pg_class t ON t.oid = k.conrelid \
             JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace \
             JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.conkey[1] \
             WHERE k.contype = 'f' AND n.nspname = current_schema() AND t.relname = $1 AND a.attname = $2 \
             AND cardinality(k.conkey) = 1"
        }
        Dialect::Mysql => {
            "SELECT constraint_name FROM information_schema.key_column_usage \
             WHERE table_schema = DATABASE() AND table_name = ? AND referenced_table_name IS NOT NULL \
             GROUP BY constraint_name HAVING COUNT(*) = 1 AND MAX(column_name) = ?"
        }
    };
    let what = if dialect == Dialect::Mysql { "FOREIGN KEY" } else { "CONSTRAINT" };
    for row in &ask(change.ddl(), query, vec![table.into(), column.into()]).await? {
        let name = text_at(row, 0)?;
        let (table, name) = (sql::ident(dialect, table), sql::ident(dialect, &name));
        change.run(&format!("ALTER TABLE {table} DROP {what} {name}")).await?;
    }
    Ok(())
}
