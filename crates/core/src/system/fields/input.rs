//! A field as a request describes it.

use serde_json::{Map, Value};

use crate::{
    error::{Error, Result},
    schema::{
        FieldType,
        alter::{self, ColumnDefault, ColumnSpec, GeometryKind},
    },
    store::Dialect,
};

/// A field to be made.
#[derive(Clone, Debug)]
pub struct FieldInput {
    pub name: String,
    /// `None` for alias fields.
    pub column: Option<ColumnSpec>,
    pub meta: Option<Map<String, Value>>,
}

/// What a `schema` object says; `None` where it says nothing.
#[derive(Clone, Debug, Default)]
pub struct SchemaInput {
    /// `Some(null)`: no default.
    pub default: Option<Value>,
    pub max_length: Option<u32>,
    pub numeric_precision: Option<u32>,
    pub numeric_scale: Option<u32>,
    pub nullable: Option<bool>,
    pub unique: Option<bool>,
    pub primary_key: Option<bool>,
    pub auto_increment: Option<bool>,
}

/// A type by the name clients use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeInput {
    pub kind: FieldType,
    pub geometry: GeometryKind,
}

impl FieldInput {
    /// # Errors
    /// `INVALID_PAYLOAD` when this describes no field.
    pub fn read(dialect: Dialect, body: &Value) -> Result<Self> {
        let body = body.as_object().ok_or_else(|| Error::invalid_payload("A field has to be an object."))?;
        const KNOWN: [&str; 5] = ["collection", "field", "type", "schema", "meta"];
        if let Some(unknown) = body.keys().find(|key| !KNOWN.contains(&key.as_str())) {
            return Err(Error::invalid_payload(format!("\"{unknown}\" is no part of a field.")));
        }
        let name = text(body, "field")?.ok_or_else(|| Error::invalid_payload("\"field\" is required."))?;
        alter::check_field_name(dialect, name)?;
        let kind = read_type(body)?;
        let schema = object(body, "schema")?;
        let mut meta = object(body, "meta")?.cloned();
        let column = match kind {
            Some(kind) if kind.kind != FieldType::Alias => {
                let input = SchemaInput::read(schema.unwrap_or(&Map::new()))?;
                Some(input.column(name, kind)?)
            }
            _ => None,
        };
        if dialect != Dialect::Postgres && column.as_ref().is_some_and(|column| column.kind == FieldType::Timestamp) {
            mark_timestamp(&mut meta);
        }
        Ok(Self { name: name.to_owned(), column, meta })
    }
}

/// SQLite and MySQL have one fitting type for both kinds of moments; the special tells a timestamp.
fn mark_timestamp(meta: &mut Option<Map<String, Value>>) {
    const MARK: &str = "cast-timestamp";
    let special = meta.get_or_insert_default().entry("special").or_insert(Value::Null);
    let mut names: Vec<Value> = match &*special {
        Value::Array(names) => names.clone(),
        Value::String(names) => names.split(',').filter(|name| !name.is_empty()).map(Value::from).collect(),
        _ => Vec::new(),
    };
    if !names.iter().any(|name| name == MARK) {
        names.push(MARK.into());
    }
    *special = Value::Array(names);
}

/// Reads `type`; `None` when it is absent or null.
///
/// # Errors
/// `INVALID_PAYLOAD` for an unknown type, and for `unknown`.
pub fn read_type(body: &Map<String, Value>) -> Result<Option<TypeInput>> {
    let Some(name) = text(body, "type")? else { return Ok(None) };
    let plain = |kind| TypeInput { kind, geometry: GeometryKind::Any };
    let geometry = |geometry| TypeInput { kind: FieldType::Geometry, geometry };
    Ok(Some(match name {
        "string" => plain(FieldType::String),
        "text" => plain(FieldType::Text),
        "integer" => plain(FieldType::Integer),
        "bigInteger" => plain(FieldType::BigInteger),
        "float" => plain(FieldType::Float),
        "decimal" => plain(FieldType::Decimal),
        "boolean" => plain(FieldType::Boolean),
        "date" => plain(FieldType::Date),
        "time" => plain(FieldType::Time),
        "dateTime" => plain(FieldType::DateTime),
        "timestamp" => plain(FieldType::Timestamp),
        "json" => plain(FieldType::Json),
        "csv" => plain(FieldType::Csv),
        "hash" => plain(FieldType::Hash),
        "uuid" => plain(FieldType::Uuid),
        "binary" => plain(FieldType::Binary),
        "geometry" => geometry(GeometryKind::Any),
        "geometry.Point" => geometry(GeometryKind::Point),
        "geometry.LineString" => geometry(GeometryKind::LineString),
        "geometry.Polygon" => geometry(GeometryKind::Polygon),
        "geometry.MultiPoint" => geometry(GeometryKind::MultiPoint),
        "geometry.MultiLineString" => geometry(GeometryKind::MultiLineString),
        "geometry.MultiPolygon" => geometry(GeometryKind::MultiPolygon),
        "alias" | "o2m" | "m2m" | "m2a" | "o2a" | "files" | "translations" => plain(FieldType::Alias),
        _ => return Err(Error::invalid_payload("\"type\" names no type a field can be made of.")),
    }))
}

impl SchemaInput {
    /// # Errors
    /// `INVALID_PAYLOAD` when a member has the wrong type.
    pub fn read(schema: &Map<String, Value>) -> Result<Self> {
        Ok(Self {
            default: schema.get("default_value").cloned(),
            max_length: number(schema, "max_length")?,
            numeric_precision: number(schema, "numeric_precision")?,
            numeric_scale: number(schema, "numeric_scale")?,
            nullable: flag(schema, "is_nullable")?,
            unique: flag(schema, "is_unique")?,
            primary_key: flag(schema, "is_primary_key")?,
            auto_increment: flag(schema, "has_auto_increment")?,
        })
    }

    /// The column this describes.
    ///
    /// # Errors
    /// `INVALID_PAYLOAD` when the members contradict each other or the type.
    pub fn column(&self, name: &str, kind: TypeInput) -> Result<ColumnSpec> {
        let primary_key = self.primary_key == Some(true);
        let auto_increment = self.auto_increment == Some(true);
        if auto_increment && (!primary_key || !matches!(kind.kind, FieldType::Integer | FieldType::BigInteger)) {
            return Err(Error::invalid_payload("Only a primary key of whole numbers can count by itself."));
        }
        let mut spec = ColumnSpec {
            geometry: kind.geometry,
            nullable: !primary_key && self.nullable != Some(false),
            unique: self.unique == Some(true),
            primary_key,
            auto_increment,
            ..ColumnSpec::new(name, kind.kind)
        };
        self.size(&mut spec)?;
        if let Some(default) = &self.default {
            spec.default = ColumnDefault::read(&spec, default)?;
        }
        Ok(spec)
    }

    /// Length, precision and scale, where the type has them.
    ///
    /// # Errors
    /// `INVALID_PAYLOAD` when no engine could hold such a column.
    pub fn size(&self, spec: &mut ColumnSpec) -> Result<()> {
        let refuse = |text: &str| Err(Error::invalid_payload(format!("{text} (field \"{}\").", spec.name)));
        if spec.kind == FieldType::String && self.max_length.is_some() {
            // The longest every engine takes.
            if !matches!(self.max_length, Some(1..=16383)) {
                return refuse("\"max_length\" has to be between 1 and 16383");
            }
            spec.max_length = self.max_length;
        }
        if spec.kind == FieldType::Decimal {
            let precision = self.numeric_precision.or(spec.numeric_precision);
            let scale = self.numeric_scale.or(spec.numeric_scale);
            let (precision_or, scale_or) = (precision.unwrap_or(10), scale.unwrap_or(5));
            if !(1..=65).contains(&precision_or) || scale_or > 30 || scale_or > precision_or {
                return refuse(
                    "\"numeric_precision\" has to be 1 to 65, \"numeric_scale\" 0 to 30 and not more than that",
                );
            }
            (spec.numeric_precision, spec.numeric_scale) = (precision, scale);
        }
        Ok(())
    }
}

/// A text member; null counts as absent.
pub fn text<'a>(body: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Error::invalid_payload(format!("\"{name}\" has to be a text."))),
    }
}

/// An object member; null counts as absent.
pub fn object<'a>(body: &'a Map<String, Value>, name: &str) -> Result<Option<&'a Map<String, Value>>> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(Error::invalid_payload(format!("\"{name}\" has to be an object."))),
    }
}

fn flag(schema: &Map<String, Value>, name: &str) -> Result<Option<bool>> {
    match schema.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(Error::invalid_payload(format!("\"schema.{name}\" has to be true or false."))),
    }
}

fn number(schema: &Map<String, Value>, name: &str) -> Result<Option<u32>> {
    let number = match schema.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(number)) => number.to_string().parse().ok(),
        Some(Value::String(text)) => text.parse().ok(),
        Some(_) => None,
    };
    number.map(Some).ok_or_else(|| Error::invalid_payload(format!("\"schema.{name}\" has to be a whole number.")))
}
