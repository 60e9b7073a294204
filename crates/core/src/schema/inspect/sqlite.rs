//! SQLite: pragma functions joined over the list of tables.

use std::collections::HashMap;

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

/// Ordinary tables only: no views, no virtual tables with their shadows, none of SQLite's own.
const TABLES: &str = "SELECT l.name, l.wr, m.sql FROM pragma_table_list l JOIN sqlite_schema m ON m.name = l.name AND \
                      m.type = 'table' WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE \
                      'sqlite\\_%' ESCAPE '\\'";
const COLUMNS: &str = "SELECT m.name, x.name, x.type, x.\"notnull\", x.dflt_value, x.pk, x.hidden FROM sqlite_schema \
                       m, pragma_table_xinfo(m.name) x WHERE m.type = 'table' AND x.hidden <> 1 ORDER BY m.name, x.cid";
const UNIQUE: &str = "SELECT m.name, min(i.name) FROM sqlite_schema m, pragma_index_list(m.name) l, \
                      pragma_index_info(l.name) i WHERE m.type = 'table' AND l.\"unique\" = 1 AND l.partial = 0 \
                      GROUP BY m.name, l.name HAVING count(*) = 1";
const FOREIGN_KEYS: &str = "SELECT m.name, min(f.\"from\"), min(f.\"table\"), min(f.\"to\"), min(f.on_update), \
                            min(f.on_delete) FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = \
                            'table' GROUP BY m.name, f.id HAVING count(*) = 1 ORDER BY m.name, f.id DESC";

pub(super) async fn tables(connection: Executor<'_>) -> Result<IndexMap<String, RawTable>> {
    let mut tables = IndexMap::new();
    let mut with_rowid = HashMap::new();
    for row in rows(connection, TABLES).await? {
        let name: String = get(&row, 0)?;
        with_rowid.insert(name.clone(), get::<i64>(&row, 1)? == 0);
        let info = TableInfo { sql: get(&row, 2)?, ..TableInfo::default() };
        tables.insert(name, RawTable { info, columns: IndexMap::new() });
    }
    for row in rows(connection, COLUMNS).await? {
        let table: String = get(&row, 0)?;
        let Some(raw) = tables.get_mut(&table) else { continue };
        let declared = types::declared(&get::<Option<String>>(&row, 2)?.unwrap_or_default());
        let kind = types::field_type(Dialect::Sqlite, &declared.name, &declared.arguments);
        let primary_key = get::<i64>(&row, 5)? > 0;
        let mut column = Column {
            nullable: !primary_key && get::<i64>(&row, 3)? == 0,
            unsigned: declared.name.contains("unsigned"),
            primary_key,
            generated: get::<i64>(&row, 6)? > 1,
            ..Column::default()
        };
        match (kind, declared.arguments.as_slice()) {
            (FieldType::String, [length, ..]) => column.max_length = Some(*length),
            (FieldType::Decimal, [precision, scale @ ..]) => {
                column.numeric_precision = Some(*precision);
                column.numeric_scale = Some(scale.first().copied().unwrap_or(0));
            }
            _ => {}
        }
        column.data_type = declared.name;
        defaults::apply(&mut column, kind, get::<Option<String>>(&row, 4)?.as_deref(), Spelling::Sql);
        raw.columns.insert(get(&row, 1)?, RawColumn { kind, column });
    }
    for (name, table) in &mut tables {
        let Some(primary) = table.primary().map(str::to_owned) else { continue };
        if let Some(raw) = table.columns.get_mut(&primary) {
            raw.column.unique = true;
            // Another name of the row id; only this very spelling is.
            raw.column.auto_increment = raw.column.data_type == "integer" && with_rowid.get(name) == Some(&true);
            raw.column.has_default |= raw.column.auto_increment;
        }
    }
    for row in rows(connection, UNIQUE).await? {
        let column: Option<String> = get(&row, 1)?;
        if let Some(column) = column_mut(&mut tables, &get::<String>(&row, 0)?, &column.unwrap_or_default()) {
            column.unique = true;
        }
    }
    // Names in `REFERENCES` may differ in case from those of the tables.
    let spelling: HashMap<String, String> = tables.keys().map(|name| (name.to_lowercase(), name.clone())).collect();
    for row in rows(connection, FOREIGN_KEYS).await? {
        let (table, column): (String, String) = (get(&row, 0)?, get(&row, 1)?);
        let target: String = get(&row, 2)?;
        let target = spelling.get(&target.to_lowercase()).cloned().unwrap_or(target);
        let target_column: Option<String> = get(&row, 3)?;
        let referenced = tables.get(&target);
        let target_column = match (target_column, referenced) {
            (Some(name), Some(table)) => {
                table.columns.keys().find(|other| other.eq_ignore_ascii_case(&name)).cloned().or(Some(name))
            }
            (None, Some(table)) => table.primary().map(str::to_owned),
            (name, None) => name,
        };
        let key = ForeignKey {
            constraint: format!("{table}_{column}_foreign").to_lowercase(),
            table: target,
            column: target_column.unwrap_or_default(),
            on_update: get(&row, 4)?,
            on_delete: get(&row, 5)?,
        };
        set_foreign_key(&mut tables, &table, &column, key);
    }
    Ok(tables)
}
