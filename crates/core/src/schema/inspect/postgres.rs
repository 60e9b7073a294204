//! PostgreSQL: the `pg_…` catalogues themselves, which answer far faster than `information_schema`.

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

/// Tables found without a schema name, partitions apart.
macro_rules! visible {
    () => {
        "c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname = ANY (current_schemas(false)) AND \
         pg_table_is_visible(c.oid)"
    };
}

const TABLES: &str = concat!(
    "SELECT c.relname::text, n.nspname::text, d.description FROM pg_class c JOIN pg_namespace n ON n.oid = \
     c.relnamespace LEFT JOIN pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = \
     'pg_class'::regclass WHERE ",
    visible!()
);

const COLUMNS: &str = concat!(
    "SELECT c.relname::text, a.attname::text, lower(format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE \
     t.oid END, NULL)), CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END::int4, a.attnotnull OR \
     t.typnotnull, pg_get_expr(f.adbin, f.adrelid), a.attidentity::text, a.attgenerated::text, d.description, \
     coalesce(NOT o.collisdeterministic, false) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN \
     pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped JOIN pg_type t ON t.oid = \
     a.atttypid LEFT JOIN pg_attrdef f ON f.adrelid = c.oid AND f.adnum = a.attnum LEFT JOIN pg_description d ON \
     d.objoid = c.oid AND d.objsubid = a.attnum AND d.classoid = 'pg_class'::regclass LEFT JOIN pg_collation o ON \
     o.oid = a.attcollation WHERE ",
    visible!(),
    " ORDER BY c.relname, a.attnum"
);

/// Of each column of an index on plain columns: whether it is (part of) the primary key, unique by itself,
/// and the first of an index that finds equal values. Partial indexes promise nothing of the whole table.
const INDEXES: &str = concat!(
    "SELECT c.relname::text, a.attname::text, i.indisprimary, i.indisunique AND i.indnkeyatts = 1, \
     a.attnum = (i.indkey::int2[])[0] AND m.amname IN ('btree', 'hash') FROM pg_index i JOIN pg_class c ON c.oid = \
     i.indrelid JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam JOIN pg_namespace n ON n.oid = \
     c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY \
     ((i.indkey::int2[])[0:i.indnkeyatts - 1]) WHERE (i.indisprimary OR (i.indpred IS NULL AND i.indexprs IS NULL)) AND \
     i.indisvalid AND ",
    visible!()
);

const FOREIGN_KEYS: &str = concat!(
    "SELECT c.relname::text, a.attname::text, r.relname::text, b.attname::text, k.conname::text, \
     k.confupdtype::text, k.confdeltype::text FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN \
     pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1] \
     JOIN pg_class r ON r.oid = k.confrelid JOIN pg_attribute b ON b.attrelid = r.oid AND b.attnum = k.confkey[1] \
     WHERE k.contype = 'f' AND cardinality(k.conkey) = 1 AND pg_table_is_visible(r.oid) AND ",
    visible!(),
    " ORDER BY c.relname, k.conname"
);

pub(super) async fn tables(connection: Executor<'_>) -> Result<IndexMap<String, RawTable>> {
    let mut tables = IndexMap::new();
    for row in rows(connection, TABLES).await? {
        let info = TableInfo { schema: get(&row, 1)?, comment: get(&row, 2)?, ..TableInfo::default() };
        tables.insert(get::<String>(&row, 0)?, RawTable { info, columns: IndexMap::new() });
    }
    for row in rows(connection, COLUMNS).await? {
        let Some(table) = tables.get_mut(&get::<String>(&row, 0)?) else { continue };
        let data_type: String = get(&row, 2)?;
        let kind = types::field_type(Dialect::Postgres, &data_type, &[]);
        let default: Option<String> = get(&row, 5)?;
        let generated = !get::<String>(&row, 7)?.is_empty();
        let mut column = Column {
            nullable: !get::<bool>(&row, 4)?,
            auto_increment: !get::<String>(&row, 6)?.is_empty(),
            generated,
            generation_expression: default.clone().filter(|_| generated),
            comment: get(&row, 8)?,
            case_insensitive: get::<bool>(&row, 9)? || data_type == "citext",
            ..Column::default()
        };
        modifier(&mut column, kind, get(&row, 3)?);
        if !generated {
            defaults::apply(&mut column, kind, default.as_deref(), Spelling::Sql);
        }
        column.has_default |= column.auto_increment;
        column.data_type = data_type;
        table.columns.insert(get(&row, 1)?, RawColumn { kind, column });
    }
    for row in rows(connection, INDEXES).await? {
        if let Some(column) = column_mut(&mut tables, &get::<String>(&row, 0)?, &get::<String>(&row, 1)?) {
            column.primary_key |= get::<bool>(&row, 2)?;
            column.unique |= get::<bool>(&row, 3)?;
            column.indexed |= get::<bool>(&row, 4)?;
        }
    }
    for row in rows(connection, FOREIGN_KEYS).await? {
        let key = ForeignKey {
            table: get(&row, 2)?,
            column: get(&row, 3)?,
            constraint: get(&row, 4)?,
            on_update: rule(&get::<String>(&row, 5)?),
            on_delete: rule(&get::<String>(&row, 6)?),
        };
        set_foreign_key(&mut tables, &get::<String>(&row, 0)?, &get::<String>(&row, 1)?, key);
    }
    Ok(tables)
}

/// Takes length, precision and scale out of a type modifier; -1 is none. Four is the size of a header.
fn modifier(column: &mut Column, kind: FieldType, modifier: i32) {
    let Ok(modifier) = u32::try_from(modifier - 4) else { return };
    match kind {
        FieldType::String => column.max_length = Some(modifier),
        FieldType::Decimal => {
            column.numeric_precision = Some(modifier >> 16);
            column.numeric_scale = Some(modifier & 0xffff);
        }
        _ => {}
    }
}

fn rule(letter: &str) -> String {
    match letter {
        "r" => "RESTRICT",
        "c" => "CASCADE",
        "n" => "SET NULL",
        "d" => "SET DEFAULT",
        _ => "NO ACTION",
    }
    .to_owned()
}
