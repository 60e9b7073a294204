//! Changing the operator's tables: creating and dropping tables, columns, unique constraints and
//! foreign keys on every engine, from descriptions of our own. Not here: stored metadata, rights and
//! request shapes (`system::{collections, fields, relations}`).

mod catalogue;
mod change;
mod columns;
mod defaults;
mod mysql;
mod names;
mod refusal;
mod relations;
mod sql;
mod sqlite;
mod tables;
mod types;
mod uniques;

#[cfg(test)]
mod tests;

pub use catalogue::table_exists;
pub use change::Change;
pub use columns::{add_column, change_column, drop_column};
pub use names::{check_collection_name, check_field_name, foreign_key_name, unique_name};
pub use relations::{OnDelete, Reference, add_foreign_key, drop_foreign_key};
pub use tables::{create_table, drop_table};
pub use types::{ColumnDefault, ColumnSpec, Flavor, GeometryKind};
