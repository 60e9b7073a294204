//! Defaults of columns: read from a request, and written as SQL constants.

use serde_json::Value;

use super::{
    sql,
    types::{ColumnDefault, ColumnSpec, Flavor},
};
use crate::{
    error::{Error, Result},
    payload::typed::{self, Typed},
    schema::{Column, Field, FieldType, SpecialSet},
    store::Dialect,
};

impl ColumnDefault {
    /// Reads `default_value` for a column described so far. Texts meaning the database's own clock
    /// (`now()`, `CURRENT_TIMESTAMP`, with or without precision) are that clock in date and time fields.
    ///
    /// # Errors
    /// `INVALID_PAYLOAD` (or `VALUE_…`) when the value can't be one of this column.
    pub fn read(spec: &ColumnSpec, value: &Value) -> Result<Self> {
        if value.is_null() {
            return Ok(Self::None);
        }
        let kind = spec.kind;
        if matches!(kind, FieldType::Binary | FieldType::Geometry | FieldType::Alias | FieldType::Unknown) {
            return Err(Error::invalid_payload(format!("The field \"{}\" can't have a default value.", spec.name)));
        }
        if spec.auto_increment {
            // Clients send back what they read: a sequence is no default of ours.
            return Ok(Self::None);
        }
        let temporal = matches!(kind, FieldType::Date | FieldType::Time | FieldType::DateTime | FieldType::Timestamp);
        if temporal && value.as_str().is_some_and(means_now) {
            return Ok(Self::Now);
        }
        let field = Field {
            name: spec.name.as_str().into(),
            kind,
            special: SpecialSet::default(),
            column: Some(Column {
                nullable: true,
                max_length: (kind == FieldType::String).then(|| spec.max_length.unwrap_or(255)),
                numeric_precision: spec.numeric_precision,
                numeric_scale: spec.numeric_scale,
                ..Column::default()
            }),
            validation: None,
            validation_message: None,
            meta: None,
        };
        match typed::for_storage(&field, value) {
            Ok(Typed::Null) => Ok(Self::None),
            Ok(constant) => Ok(Self::Constant(constant)),
            Err(mismatch) => Err(Error::with_message(
                mismatch.code,
                format!("The default value of \"{}\" has to be {}.", spec.name, mismatch.expected),
            )
            .with("field", spec.name.as_str())),
        }
    }

    /// The expression after `DEFAULT`; `None` without default.
    #[must_use]
    pub fn to_sql(&self, flavor: Flavor, kind: FieldType) -> Option<String> {
        match self {
            Self::None => None,
            Self::Now => Some(now(flavor.dialect, kind)),
            Self::Constant(constant) => {
                let constant = constant_sql(flavor.dialect, constant);
                let wrapped = flavor.dialect == Dialect::Mysql && matches!(kind, FieldType::Text | FieldType::Json);
                // MySQL takes no plain constant for texts without length, but an expression.
                Some(if wrapped { format!("({constant})") } else { constant })
            }
        }
    }
}

fn means_now(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    let name = text.split('(').next().unwrap_or_default().trim_end();
    let rest = text.get(name.len()..).unwrap_or_default().trim();
    let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    match name {
        "now" => inner.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())),
        "current_timestamp" => {
            rest.is_empty() || inner.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        }
        _ => false,
    }
}

fn now(dialect: Dialect, kind: FieldType) -> String {
    let expression = match (dialect, kind) {
        (Dialect::Mysql, FieldType::Date) => "(CURRENT_DATE)",
        (Dialect::Mysql, FieldType::Time) => "(CURRENT_TIME)",
        (Dialect::Mysql, _) => "CURRENT_TIMESTAMP(3)",
        (_, FieldType::Date) => "CURRENT_DATE",
        (_, FieldType::Time) => "CURRENT_TIME",
        _ => "CURRENT_TIMESTAMP",
    };
    expression.to_owned()
}

fn constant_sql(dialect: Dialect, constant: &Typed) -> String {
    let text = |value: &str| sql::text(dialect, value);
    match constant {
        Typed::Null => "NULL".to_owned(),
        Typed::Bool(flag) => match dialect {
            Dialect::Postgres => flag.to_string(),
            Dialect::Sqlite | Dialect::Mysql => u8::from(*flag).to_string(),
        },
        Typed::Int(number) => number.to_string(),
        // Shortest text that reads back as the same number; infinities never get here.
        Typed::Float(number) => format!("{number:?}"),
        // Checked digits.
        Typed::Decimal(digits) => digits.clone(),
        Typed::Text(value) => text(value),
        Typed::Uuid(id) => text(&id.to_string()),
        Typed::Date(date) => text(&date.to_string()),
        Typed::Time(time) => text(&time.format("%H:%M:%S%.f").to_string()),
        Typed::DateTime(moment) => text(&moment.format("%Y-%m-%dT%H:%M:%S%.f").to_string()),
        Typed::Timestamp(moment) => match dialect {
            // MySQL reads no zone; connections speak UTC.
            Dialect::Mysql => text(&moment.format("%Y-%m-%d %H:%M:%S%.3f").to_string()),
            Dialect::Sqlite | Dialect::Postgres => text(&moment.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()),
        },
        Typed::Json(value) => text(&value.to_string()),
        Typed::Bytes(_) => "NULL".to_owned(),
    }
}
