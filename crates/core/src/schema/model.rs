//! The immutable model a request works with: collections, fields, relations. Built by `inspect`
//! (catalogue) and `overlay` (stored metadata), swapped by `registry`. No database access here.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

use super::{CollectionMeta, FieldMeta, RelationMeta, SpecialSet};

/// Everything the server knows of the operator's tables at one moment. A request keeps the one it
/// began with.
#[derive(Debug, Default)]
pub struct Schema {
    /// Grows with every change; part of cache keys.
    pub version: u64,
    pub collections: IndexMap<Arc<str>, Arc<Collection>>,
    pub relations: Vec<Arc<Relation>>,
}

/// A table that can be served: exactly one primary-key column.
#[derive(Debug)]
pub struct Collection {
    pub name: Arc<str>,
    /// Name of the primary-key field.
    pub primary: Arc<str>,
    /// Columns in table order, then alias fields.
    pub fields: IndexMap<Arc<str>, Field>,
    pub singleton: bool,
    pub accountability: Accountability,
    /// Field of the default sort, when configured.
    pub sort_field: Option<Arc<str>>,
    /// One of the server's own (`directus_…`) collections.
    pub system: bool,
    /// The stored metadata row, if any (for the data-model routes).
    pub meta: Option<CollectionMeta>,
    /// What the catalogue says of the table (for the data-model routes).
    pub table: TableInfo,
    /// Indexes into [`Schema::relations`] of the relations that this collection's fields stand for,
    /// by field name.
    pub links: IndexMap<Arc<str>, Link>,
}

/// What a relational field of a collection stands for.
#[derive(Clone, Debug)]
pub struct Link {
    pub relation: Arc<Relation>,
    pub side: Side,
}

/// Which end of a relation a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The field holds the key of one row of `one_collection` (m2o, file).
    ManyToOne,
    /// The field holds the key of one row of a collection named by a sibling field (m2a).
    ManyToAny,
    /// The field is an alias for the rows of `many_collection` that point here (o2m, m2m, files, translations).
    OneToMany,
}

/// What is recorded of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accountability {
    /// Activity and revisions.
    #[default]
    All,
    /// Activity only.
    Activity,
    None,
}

/// A column or an alias.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: Arc<str>,
    pub kind: FieldType,
    pub special: SpecialSet,
    /// `None` for alias fields.
    pub column: Option<Column>,
    /// Rule of `meta.validation`, enforced on writes.
    pub validation: Option<Value>,
    pub validation_message: Option<String>,
    pub meta: Option<FieldMeta>,
}

/// A column as the catalogue describes it.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The database's own type name, lower case, without length (`varchar`, `int unsigned`, `timestamptz` …).
    pub data_type: String,
    pub nullable: bool,
    /// The default as a JSON value of the field's type; `None` without default or with an expression.
    pub default: Option<Value>,
    /// A default exists, constant or expression.
    pub has_default: bool,
    /// The default's text as `/fields` shows it when it is an expression (`CURRENT_TIMESTAMP`).
    pub default_expression: Option<String>,
    /// Characters.
    pub max_length: Option<u32>,
    pub numeric_precision: Option<u32>,
    pub numeric_scale: Option<u32>,
    pub unsigned: bool,
    pub unique: bool,
    /// An index of the whole table starts with the column. Asked of PostgreSQL only, where plans differ by it.
    pub indexed: bool,
    pub primary_key: bool,
    pub auto_increment: bool,
    pub generated: bool,
    pub generation_expression: Option<String>,
    pub comment: Option<String>,
    /// Set when equality or order of texts in this column ignore case or accents (MySQL `…_ci`).
    pub case_insensitive: bool,
    pub foreign_key: Option<ForeignKey>,
}

/// Where a column points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    pub table: String,
    pub column: String,
    pub constraint: String,
    /// `NO ACTION`, `SET NULL`, `SET DEFAULT`, `CASCADE`, `RESTRICT`.
    pub on_update: String,
    pub on_delete: String,
}

/// What the catalogue says of a table; shown by `/collections`.
#[derive(Clone, Debug, Default)]
pub struct TableInfo {
    pub schema: Option<String>,
    pub comment: Option<String>,
    pub collation: Option<String>,
    pub engine: Option<String>,
    pub sql: Option<String>,
}

/// The type of a field, independent of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldType {
    String,
    Text,
    Integer,
    BigInteger,
    Float,
    Decimal,
    Boolean,
    Date,
    Time,
    DateTime,
    Timestamp,
    Json,
    Csv,
    Hash,
    Uuid,
    Binary,
    Geometry,
    Alias,
    Unknown,
}

impl FieldType {
    /// The name clients see as `type`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Text => "text",
            Self::Integer => "integer",
            Self::BigInteger => "bigInteger",
            Self::Float => "float",
            Self::Decimal => "decimal",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::Time => "time",
            Self::DateTime => "dateTime",
            Self::Timestamp => "timestamp",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Hash => "hash",
            Self::Uuid => "uuid",
            Self::Binary => "binary",
            Self::Geometry => "geometry",
            Self::Alias => "alias",
            Self::Unknown => "unknown",
        }
    }
}

/// How two collections hang together. `one_collection` is `None` for many-to-any.
#[derive(Clone, Debug)]
pub struct Relation {
    pub many_collection: Arc<str>,
    pub many_field: Arc<str>,
    pub one_collection: Option<Arc<str>>,
    /// Alias field on the one side, if it has one.
    pub one_field: Option<Arc<str>>,
    /// Sibling field that names the collection (many-to-any).
    pub one_collection_field: Option<Arc<str>>,
    pub one_allowed_collections: Vec<Arc<str>>,
    /// The other foreign key of a junction table.
    pub junction_field: Option<Arc<str>>,
    pub sort_field: Option<Arc<str>>,
    pub deselect: Deselect,
    pub foreign_key: Option<ForeignKey>,
    pub meta: Option<RelationMeta>,
    pub system: bool,
}

/// What happens to a child that is taken out of a to-many list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deselect {
    #[default]
    Nullify,
    Delete,
}

impl Schema {
    #[must_use]
    pub fn collection(&self, name: &str) -> Option<&Arc<Collection>> {
        self.collections.get(name)
    }
}

impl Collection {
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.get(name)
    }

    /// The field of the primary key.
    ///
    /// # Panics
    /// Never: a collection is only built with its primary-key field.
    #[must_use]
    pub fn primary_field(&self) -> &Field {
        match self.fields.get(&self.primary) {
            Some(field) => field,
            None => unreachable!("collection built without its primary key"),
        }
    }

    /// The relation a field stands for, if it is relational.
    #[must_use]
    pub fn link(&self, field: &str) -> Option<&Link> {
        self.links.get(field)
    }
}
