//! MySQL and MariaDB: `information_schema` of the current database. Texts are cast, because the two
//! disagree on the types of these columns.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::{
    super::{Column, FieldType, ForeignKey, TableInfo},
    RawColumn, RawTable, column_mut, defaults,
    defaults::Spelling,
    get, rows, set_foreign_key, types,
};
use crate::{
    error::Result,
    store::{Dialect, Executor},
};

const TABLES: &str = "SELECT CAST(TABLE_NAME AS CHAR), CAST(TABLE_SCHEMA AS CHAR), CAST(TABLE_COMMENT AS CHAR), \
                      CAST(TABLE_COLLATION AS CHAR), CAST(ENGINE AS CHAR) FROM information_schema.TABLES WHERE \
                      TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'";
const COLUMNS: &str = "SELECT CAST(TABLE_NAME AS CHAR), CAST(COLUMN_NAME AS CHAR), CAST(COLUMN_TYPE AS CHAR), \
                       CAST(IS_NULLABLE AS CHAR), CAST(COLUMN_DEFAULT AS CHAR), CAST(COLUMN_KEY AS CHAR), CAST(EXTRA \
                       AS CHAR), CAST(COLUMN_COMMENT AS CHAR), CAST(COLLATION_NAME AS CHAR), \
                       CAST(CHARACTER_MAXIMUM_LENGTH AS SIGNED), CAST(NUMERIC_PRECISION AS SIGNED), \
                       CAST(NUMERIC_SCALE AS SIGNED), CAST(GENERATION_EXPRESSION AS CHAR) FROM \
                       information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, \
                       ORDINAL_POSITION";
/// MariaDB spells `json` as a long text with this check.
const JSON_CHECKS: &str = "SELECT CAST(TABLE_NAME AS CHAR), CAST(CHECK_CLAUSE AS CHAR) FROM \
                           information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE() AND CHECK_CLAUSE \
                           LIKE '%json_valid(%'";
const UNIQUE: &str = "SELECT CAST(TABLE_NAME AS CHAR), CAST(MIN(COLUMN_NAME) AS CHAR) FROM \
                      information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0 GROUP BY \
                      TABLE_NAME, INDEX_NAME HAVING COUNT(*) = 1 AND COUNT(SUB_PART) = 0 AND COUNT(COLUMN_NAME) = 1";
const FOREIGN_KEYS: &str = "SELECT CAST(k.TABLE_NAME AS CHAR), CAST(MIN(k.COLUMN_NAME) AS CHAR), \
                            CAST(MIN(k.REFERENCED_TABLE_NAME) AS CHAR), CAST(MIN(k.REFERENCED_COLUMN_NAME) AS CHAR), \
                            CAST(k.CONSTRAINT_NAME AS CHAR), CAST(MIN(r.UPDATE_RULE) AS CHAR), \
                            CAST(MIN(r.DELETE_RULE) AS CHAR) FROM information_schema.KEY_COLUMN_USAGE k JOIN \
                            information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = \
                            k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = \
                            k.TABLE_NAME WHERE k.TABLE_SCHEMA = DATABASE() AND r.CONSTRAINT_SCHEMA = DATABASE() AND \
                            k.REFERENCED_TABLE_SCHEMA = DATABASE() GROUP BY k.TABLE_NAME, k.CONSTRAINT_NAME HAVING \
                            COUNT(*) = 1";

pub(super) async fn tables(connection: Executor<'_>) -> Result<IndexMap<String, RawTable>> {
    let mariadb = connection.db().is_mariadb();
    let mut tables = IndexMap::new();
    for row in rows(connection, TABLES).await? {
        let info = TableInfo {
            schema: get(&row, 1)?,
            comment: get::<Option<String>>(&row, 2)?.filter(|comment| !comment.is_empty()),
            collation: get(&row, 3)?,
            engine: get(&row, 4)?,
            sql: None,
        };
        tables.insert(get::<String>(&row, 0)?, RawTable { info, columns: IndexMap::new() });
    }
    let json = if mariadb { json_columns(connection).await? } else { HashSet::new() };
    for row in rows(connection, COLUMNS).await? {
        let (table, name): (String, String) = (get(&row, 0)?, get(&row, 1)?);
        let Some(raw) = tables.get_mut(&table) else { continue };
        let mut declared = types::declared(&get::<String>(&row, 2)?);
        if declared.name == "longtext" && json.contains(&(table, name.clone())) {
            declared.name = "json".to_owned();
        }
        let kind = types::field_type(Dialect::Mysql, &declared.name, &declared.arguments);
        let extra = get::<String>(&row, 6)?.to_uppercase();
        let generated = extra.contains("VIRTUAL") || extra.contains("STORED") || extra.contains("PERSISTENT");
        let collation: Option<String> = get(&row, 8)?;
        let mut column = Column {
            nullable: get::<String>(&row, 3)? == "YES",
            unsigned: declared.name.contains("unsigned"),
            primary_key: get::<String>(&row, 5)? == "PRI",
            auto_increment: extra.contains("AUTO_INCREMENT"),
            generated,
            generation_expression: get::<Option<String>>(&row, 12)?.filter(|_| generated),
            comment: get::<Option<String>>(&row, 7)?.filter(|comment| !comment.is_empty()),
            case_insensitive: collation.is_some_and(|name| name.ends_with("_ci")),
            ..Column::default()
        };
        let size = |index| get::<Option<i64>>(&row, index).map(|size| size.and_then(|size| u32::try_from(size).ok()));
        match kind {
            FieldType::String => column.max_length = size(9)?,
            FieldType::Decimal => {
                column.numeric_precision = size(10)?;
                column.numeric_scale = size(11)?;
            }
            _ => {}
        }
        column.data_type = declared.name;
        if !generated {
            let default: Option<String> = get(&row, 4)?;
            if mariadb {
                defaults::apply(&mut column, kind, default.as_deref(), Spelling::Backslash);
            } else if extra.contains("DEFAULT_GENERATED") {
                // The expression is stored with its quotes escaped once more.
                let text = default.map(|text| text.replace("\\'", "'"));
                defaults::apply(&mut column, kind, text.as_deref(), Spelling::Backslash);
            } else {
                defaults::apply(&mut column, kind, default.as_deref(), Spelling::Bare);
            }
        }
        column.has_default |= column.auto_increment;
        raw.columns.insert(name, RawColumn { kind, column });
    }
    for row in rows(connection, UNIQUE).await? {
        let column: Option<String> = get(&row, 1)?;
        if let Some(column) = column_mut(&mut tables, &get::<String>(&row, 0)?, &column.unwrap_or_default()) {
            column.unique = true;
        }
    }
    for row in rows(connection, FOREIGN_KEYS).await? {
        let key = ForeignKey {
            table: get(&row, 2)?,
            column: get(&row, 3)?,
            constraint: get(&row, 4)?,
            on_update: get(&row, 5)?,
            on_delete: get(&row, 6)?,
        };
        set_foreign_key(&mut tables, &get::<String>(&row, 0)?, &get::<String>(&row, 1)?, key);
    }
    Ok(tables)
}

/// Table and column of each `json_valid(`column`)` check.
async fn json_columns(connection: Executor<'_>) -> Result<HashSet<(String, String)>> {
    let mut columns = HashSet::new();
    for row in rows(connection, JSON_CHECKS).await? {
        let clause: String = get(&row, 1)?;
        let column = clause.split_once("json_valid(`").and_then(|(_, rest)| rest.split_once('`'));
        if let Some((column, _)) = column {
            columns.insert((get(&row, 0)?, column.to_owned()));
        }
    }
    Ok(columns)
}
