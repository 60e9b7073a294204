//! PostgreSQL: what the decoder does not read in its binary form is selected as text.

use sea_orm::sea_query::{Expr, ExprTrait};

use crate::{
    query::ast::Function,
    schema::{Field, FieldType},
};

const TEXTS: &[&str] =
    &["", "text", "varchar", "character varying", "char", "character", "bpchar", "name", "citext", "json", "jsonb"];

/// The expression that brings a column back in a form the decoder knows.
pub(super) fn selectable(column: Expr, kind: FieldType, data_type: &str) -> Expr {
    let known = TEXTS.contains(&data_type)
        || match kind {
            FieldType::Integer | FieldType::BigInteger => {
                matches!(data_type, "smallint" | "integer" | "bigint" | "int2" | "int4" | "int8")
            }
            FieldType::Float => matches!(data_type, "real" | "double precision" | "float4" | "float8" | "numeric"),
            FieldType::Decimal => matches!(data_type, "numeric" | "decimal"),
            FieldType::Boolean => matches!(data_type, "boolean" | "bool"),
            FieldType::Date => data_type == "date",
            FieldType::Time => matches!(data_type, "time" | "time without time zone"),
            FieldType::DateTime | FieldType::Timestamp => data_type.starts_with("timestamp"),
            FieldType::Uuid => data_type == "uuid",
            FieldType::Binary => data_type == "bytea",
            _ => false,
        };
    match data_type {
        _ if known => column,
        "money" => column.cast_as("numeric"),
        _ => column.cast_as("text"),
    }
}

pub(super) fn part(function: Function, column: Expr, field: &Field) -> Expr {
    let data_type = field.column.as_ref().map_or("", |column| column.data_type.as_str());
    if function == Function::Count {
        let template = if data_type == "jsonb" {
            "CASE WHEN jsonb_typeof(?) = 'array' THEN jsonb_array_length(?) WHEN ? IS NULL THEN NULL ELSE -1 END"
        } else {
            "CASE WHEN json_typeof(?) = 'array' THEN json_array_length(?) WHEN ? IS NULL THEN NULL ELSE -1 END"
        };
        return custom(template, [column.clone(), column.clone(), column]);
    }
    let zoned = field.kind == FieldType::Timestamp && !matches!(data_type, "timestamp" | "timestamp without time zone");
    let template = match (function, zoned) {
        (Function::Year, false) => "CAST(EXTRACT(YEAR FROM ?) AS integer)",
        (Function::Year, true) => "CAST(EXTRACT(YEAR FROM ? AT TIME ZONE 'UTC') AS integer)",
        (Function::Month, false) => "CAST(EXTRACT(MONTH FROM ?) AS integer)",
        (Function::Month, true) => "CAST(EXTRACT(MONTH FROM ? AT TIME ZONE 'UTC') AS integer)",
        (Function::Week, false) => "CAST(EXTRACT(WEEK FROM ?) AS integer)",
        (Function::Week, true) => "CAST(EXTRACT(WEEK FROM ? AT TIME ZONE 'UTC') AS integer)",
        (Function::Day, false) => "CAST(EXTRACT(DAY FROM ?) AS integer)",
        (Function::Day, true) => "CAST(EXTRACT(DAY FROM ? AT TIME ZONE 'UTC') AS integer)",
        (Function::Weekday, false) => "CAST(EXTRACT(DOW FROM ?) AS integer)",
        (Function::Weekday, true) => "CAST(EXTRACT(DOW FROM ? AT TIME ZONE 'UTC') AS integer)",
        (Function::Hour, false) => "CAST(EXTRACT(HOUR FROM ?) AS integer)",
        (Function::Hour, true) => "CAST(EXTRACT(HOUR FROM ? AT TIME ZONE 'UTC') AS integer)",
        (Function::Minute, false) => "CAST(EXTRACT(MINUTE FROM ?) AS integer)",
        (Function::Minute, true) => "CAST(EXTRACT(MINUTE FROM ? AT TIME ZONE 'UTC') AS integer)",
        // Whole seconds: the extracted value carries the fraction.
        (Function::Second | Function::Count, false) => "CAST(FLOOR(EXTRACT(SECOND FROM ?)) AS integer)",
        (Function::Second | Function::Count, true) => {
            "CAST(FLOOR(EXTRACT(SECOND FROM ? AT TIME ZONE 'UTC')) AS integer)"
        }
    };
    custom(template, [column])
}

/// sea-query numbers the placeholders of custom SQL in this dialect (`$1`).
fn custom<const N: usize>(template: &str, parts: [Expr; N]) -> Expr {
    let mut sql = String::with_capacity(template.len() + 4);
    let mut next = 1;
    for character in template.chars() {
        if character == '?' {
            sql.push('$');
            sql.push_str(&next.to_string());
            next += 1;
        } else {
            sql.push(character);
        }
    }
    Expr::cust_with_exprs(sql, parts)
}
