//! MySQL and MariaDB: `MODIFY COLUMN` states a column anew, so what stays has to be read first.

use super::{
    Change,
    catalogue::{ask, optional_text_at, text_at},
    relations::Reference,
    sql,
    types::ColumnSpec,
};
use crate::{
    error::{Error, Result},
    store::Dialect,
};

/// A column as `information_schema` describes it.
struct Present {
    /// Full type: `int(10) unsigned`, `varchar(255)`.
    column_type: String,
    character_set: Option<String>,
    collation: Option<String>,
    nullable: bool,
    /// As SQL.
    default: Option<String>,
    extra: String,
    comment: String,
}

impl Present {
    async fn read(change: &Change, table: &str, column: &str) -> Result<Self> {
        let rows = ask(
            change.ddl(),
            "SELECT column_type, character_set_name, collation_name, is_nullable, column_default, extra, column_comment \
             FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? AND column_name = ?",
            vec![table.into(), column.into()],
        )
        .await?;
        let row = rows.first().ok_or_else(|| Error::invalid_payload(format!("There is no column \"{column}\".")))?;
        let extra = text_at(row, 5)?;
        // MariaDB says NULL where nothing was stated.
        let mariadb = change.flavor().mariadb;
        let stated = optional_text_at(row, 4)?.filter(|default| !(mariadb && default.eq_ignore_ascii_case("NULL")));
        let default = stated.map(|default| default_sql(change.flavor().mariadb, &extra, &default));
        Ok(Self {
            column_type: text_at(row, 0)?,
            character_set: optional_text_at(row, 1)?,
            collation: optional_text_at(row, 2)?,
            nullable: text_at(row, 3)?.eq_ignore_ascii_case("yes"),
            default,
            extra,
            comment: text_at(row, 6)?,
        })
    }

    /// Type with character set and collation: what two sides of a foreign key have to share.
    fn full_type(&self) -> String {
        let mut sql = self.column_type.clone();
        if let (Some(set), Some(collation)) = (&self.character_set, &self.collation) {
            sql.push_str(&format!(" CHARACTER SET {set} COLLATE {collation}"));
        }
        sql
    }

    fn definition(&self, full_type: &str) -> String {
        let mut sql = format!("{full_type} {}", if self.nullable { "NULL" } else { "NOT NULL" });
        if let Some(default) = &self.default {
            sql.push_str(&format!(" DEFAULT {default}"));
        }
        let extra = self.extra.to_ascii_lowercase();
        if extra.contains("auto_increment") {
            sql.push_str(" AUTO_INCREMENT");
        }
        if let Some(at) = extra.find("on update ") {
            sql.push(' ');
            sql.push_str(extra.get(at..).unwrap_or_default());
        }
        if !self.comment.is_empty() {
            sql.push_str(&format!(" COMMENT {}", sql::text(Dialect::Mysql, &self.comment)));
        }
        sql
    }
}

/// MariaDB shows defaults as SQL; MySQL shows constants bare and marks expressions in `extra`.
fn default_sql(mariadb: bool, extra: &str, default: &str) -> String {
    if mariadb || default.to_ascii_uppercase().starts_with("CURRENT_TIMESTAMP") {
        return default.to_owned();
    }
    if extra.to_ascii_uppercase().contains("DEFAULT_GENERATED") {
        return format!("({})", default.replace("\\'", "'"));
    }
    sql::text(Dialect::Mysql, default)
}

async fn modify(change: &Change, table: &str, column: &str, definition: &str) -> Result<()> {
    let ident = |name: &str| sql::ident(Dialect::Mysql, name);
    change.run(&format!("ALTER TABLE {} MODIFY COLUMN {} {definition}", ident(table), ident(column))).await
}

/// States a column anew with the nullability of `spec`, and its type or default where they changed.
pub(super) async fn modify_column(
    change: &Change,
    table: &str,
    spec: &ColumnSpec,
    retyped: bool,
    redefaulted: bool,
) -> Result<()> {
    let flavor = change.flavor();
    let mut present = Present::read(change, table, &spec.name).await?;
    if present.extra.to_ascii_uppercase().contains(" GENERATED")
        && !present.extra.to_ascii_uppercase().contains("DEFAULT_")
    {
        return Err(Error::invalid_payload("A computed column can't be changed."));
    }
    present.nullable = spec.nullable;
    if redefaulted || retyped {
        present.default = spec.default.to_sql(flavor, spec.kind);
    }
    if spec.nullable && present.default.is_none() {
        // Said openly: older servers give the first timestamp of a table a default of their own.
        present.default = Some("NULL".to_owned());
    }
    let full_type = if retyped { flavor.column_type(spec) } else { present.full_type() };
    modify(change, table, &spec.name, &present.definition(&full_type)).await
}

/// Gives the pointing column the exact type of the key, where both are whole numbers or both texts.
pub(super) async fn match_type(change: &Change, reference: &Reference) -> Result<()> {
    let present = Present::read(change, &reference.table, &reference.column).await?;
    let wanted = Present::read(change, &reference.target, &reference.target_column).await?;
    if present.full_type() == wanted.full_type() {
        return Ok(());
    }
    let numbers = is_whole_number(&present.column_type) && is_whole_number(&wanted.column_type);
    let texts = present.collation.is_some() && wanted.collation.is_some();
    if !numbers && !texts {
        return Err(Error::invalid_payload(format!(
            "The field \"{}\" doesn't have the type of the key it would point to.",
            reference.column
        )));
    }
    let definition = present.definition(&wanted.full_type());
    modify(change, &reference.table, &reference.column, &definition).await
}

fn is_whole_number(column_type: &str) -> bool {
    ["tinyint", "smallint", "mediumint", "int", "bigint"].iter().any(|name| column_type.starts_with(name))
}
