//! What a column is to be, and the SQL type that stands for it on each engine.

use crate::{
    schema::FieldType,
    store::{Db, Dialect},
};

/// The engine as far as DDL differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flavor {
    pub dialect: Dialect,
    pub mariadb: bool,
}

/// A column to be made.
#[derive(Clone, Debug)]
pub struct ColumnSpec {
    pub name: String,
    pub kind: FieldType,
    /// For [`FieldType::Geometry`].
    pub geometry: GeometryKind,
    /// Characters of a `string`; 255 when not given.
    pub max_length: Option<u32>,
    pub numeric_precision: Option<u32>,
    pub numeric_scale: Option<u32>,
    pub nullable: bool,
    pub unique: bool,
    pub primary_key: bool,
    pub auto_increment: bool,
    pub default: ColumnDefault,
}

/// The default of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnDefault {
    None,
    /// The moment of the insert.
    Now,
    /// A constant, already of the column's type.
    Constant(crate::payload::typed::Typed),
}

/// Which geometries a column takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GeometryKind {
    #[default]
    Any,
    Point,
    LineString,
    Polygon,
    MultiPoint,
    MultiLineString,
    MultiPolygon,
}

impl GeometryKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Any => "geometry",
            Self::Point => "point",
            Self::LineString => "linestring",
            Self::Polygon => "polygon",
            Self::MultiPoint => "multipoint",
            Self::MultiLineString => "multilinestring",
            Self::MultiPolygon => "multipolygon",
        }
    }
}

impl ColumnSpec {
    /// A nullable column without default.
    #[must_use]
    pub fn new(name: &str, kind: FieldType) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            geometry: GeometryKind::Any,
            max_length: None,
            numeric_precision: None,
            numeric_scale: None,
            nullable: true,
            unique: false,
            primary_key: false,
            auto_increment: false,
            default: ColumnDefault::None,
        }
    }
}

impl Flavor {
    #[must_use]
    pub fn of(db: &Db) -> Self {
        Self { dialect: db.dialect(), mariadb: db.is_mariadb() }
    }

    /// The collation of new text columns on MySQL: bytes compare as bytes and trailing spaces count,
    /// as on the other engines.
    #[must_use]
    pub const fn binary_collation(self) -> &'static str {
        if self.mariadb { "utf8mb4_nopad_bin" } else { "utf8mb4_0900_bin" }
    }

    /// The column's type, with character set and collation where the engine has them per column.
    #[must_use]
    pub fn column_type(self, spec: &ColumnSpec) -> String {
        match self.dialect {
            Dialect::Sqlite => sqlite_type(spec),
            Dialect::Postgres => postgres_type(spec),
            Dialect::Mysql => self.mysql_type(spec),
        }
    }

    fn mysql_type(self, spec: &ColumnSpec) -> String {
        let texts = |name: String| format!("{name} CHARACTER SET utf8mb4 COLLATE {}", self.binary_collation());
        match spec.kind {
            FieldType::String => texts(format!("varchar({})", spec.max_length.unwrap_or(255))),
            FieldType::Csv | FieldType::Hash => texts("varchar(255)".to_owned()),
            // As long as elsewhere: `text` ends at 64 KiB.
            FieldType::Text => texts("longtext".to_owned()),
            FieldType::Uuid => texts("char(36)".to_owned()),
            FieldType::Integer if spec.auto_increment => "int unsigned".to_owned(),
            FieldType::Integer => "int".to_owned(),
            FieldType::BigInteger if spec.auto_increment => "bigint unsigned".to_owned(),
            FieldType::BigInteger => "bigint".to_owned(),
            // Not the reference's float(10,5): a value like 1e10 has to fit, as it does elsewhere.
            FieldType::Float => "float".to_owned(),
            FieldType::Decimal => decimal(spec),
            FieldType::Boolean => "tinyint(1)".to_owned(),
            FieldType::Date => "date".to_owned(),
            FieldType::Time => "time".to_owned(),
            // Milliseconds survive, as they do on PostgreSQL.
            FieldType::DateTime => "datetime(3)".to_owned(),
            // A timestamp is told apart by its special: the type of that name ends in 2038.
            FieldType::Timestamp => "datetime(3)".to_owned(),
            FieldType::Json => "json".to_owned(),
            FieldType::Binary => "longblob".to_owned(),
            FieldType::Geometry => spec.geometry.name().to_owned(),
            FieldType::Alias | FieldType::Unknown => texts("longtext".to_owned()),
        }
    }
}

fn decimal(spec: &ColumnSpec) -> String {
    format!("decimal({},{})", spec.numeric_precision.unwrap_or(10), spec.numeric_scale.unwrap_or(5))
}

fn postgres_type(spec: &ColumnSpec) -> String {
    let name = match spec.kind {
        FieldType::String => return format!("varchar({})", spec.max_length.unwrap_or(255)),
        FieldType::Csv | FieldType::Hash => "varchar(255)",
        FieldType::Uuid => "uuid",
        FieldType::Integer if spec.auto_increment => "serial",
        FieldType::Integer => "integer",
        FieldType::BigInteger if spec.auto_increment => "bigserial",
        FieldType::BigInteger => "bigint",
        FieldType::Float => "real",
        FieldType::Decimal => return decimal(spec),
        FieldType::Boolean => "boolean",
        FieldType::Date => "date",
        FieldType::Time => "time",
        FieldType::DateTime => "timestamp without time zone",
        FieldType::Timestamp => "timestamp with time zone",
        FieldType::Json => "json",
        FieldType::Binary => "bytea",
        FieldType::Geometry => return format!("geometry({},4326)", spec.geometry.name()),
        FieldType::Text | FieldType::Alias | FieldType::Unknown => "text",
    };
    name.to_owned()
}

fn sqlite_type(spec: &ColumnSpec) -> String {
    let name = match spec.kind {
        FieldType::String => return format!("varchar({})", spec.max_length.unwrap_or(255)),
        FieldType::Csv | FieldType::Hash => "varchar(255)",
        FieldType::Uuid => "char(36)",
        FieldType::Integer => "integer",
        // Only the type `integer` can count by itself.
        FieldType::BigInteger if spec.auto_increment => "integer",
        FieldType::BigInteger => "bigint",
        FieldType::Float => "float",
        FieldType::Decimal => return decimal(spec),
        FieldType::Boolean => "boolean",
        FieldType::Date => "date",
        FieldType::Time => "time",
        // A timestamp is told apart by its special.
        FieldType::DateTime | FieldType::Timestamp => "datetime",
        FieldType::Json => "json",
        FieldType::Binary => "blob",
        FieldType::Geometry => spec.geometry.name(),
        FieldType::Text | FieldType::Alias | FieldType::Unknown => "text",
    };
    name.to_owned()
}
