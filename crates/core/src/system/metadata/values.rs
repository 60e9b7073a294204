//! Values of metadata columns: from a request's `meta` to SQL, and back.

use sea_orm::QueryResult;
use sea_query::{Alias, Expr, ExprTrait};
use serde_json::{Map, Value};

use super::tables::{Kind, MetaTable};
use crate::{
    error::{Code, Error, Result},
    store::Dialect,
};

/// A column and what is written to it.
pub type Assignment = (&'static str, Expr);

impl MetaTable {
    /// Reads the members of `meta` that are columns; others (`id`, `system`, what a newer client
    /// sends) are left out.
    ///
    /// # Errors
    /// `INVALID_PAYLOAD` when a value doesn't fit its column; `VALUE_TOO_LONG`.
    pub fn assignments(&self, dialect: Dialect, meta: &Map<String, Value>) -> Result<Vec<Assignment>> {
        let given = self.columns.iter().filter_map(|(name, kind)| meta.get(*name).map(|value| (*name, *kind, value)));
        given.map(|(name, kind, value)| Ok((name, assigned(dialect, name, kind, value)?))).collect()
    }
}

fn assigned(dialect: Dialect, name: &str, kind: Kind, value: &Value) -> Result<Expr> {
    let refuse = |expected: &str| Error::invalid_payload(format!("\"meta.{name}\" has to be {expected}."));
    Ok(match (kind, value) {
        (Kind::Flag(standard), Value::Null) => Expr::val(standard),
        (Kind::Flag(_), Value::Bool(flag)) => Expr::val(*flag),
        (Kind::Flag(_), _) => return Err(refuse("true or false")),
        // Three columns can't be empty.
        (Kind::Text(_), Value::Null) if name == "collapse" => Expr::val("open"),
        (Kind::Text(_), Value::Null) if name == "one_deselect_action" => Expr::val("nullify"),
        (_, Value::Null) => Expr::null(),
        (Kind::Integer, value) => match value.as_i64().and_then(|number| i32::try_from(number).ok()) {
            Some(number) => Expr::val(number),
            None => return Err(refuse("a whole number")),
        },
        (Kind::Text(longest), Value::String(text)) => Expr::val(checked(name, longest, text)?),
        (Kind::Text(longest), Value::Number(_) | Value::Bool(_)) => {
            Expr::val(checked(name, longest, &value.to_string())?)
        }
        (Kind::Text(_), _) => return Err(refuse("a text")),
        (Kind::List(longest), Value::String(text)) => Expr::val(checked(name, longest, text)?),
        (Kind::List(longest), Value::Array(items)) => {
            let names: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            let Some(names) = names.filter(|names| !names.iter().any(|item| item.contains(','))) else {
                return Err(refuse("a list of names"));
            };
            if names.is_empty() { Expr::null() } else { Expr::val(checked(name, longest, &names.join(","))?) }
        }
        (Kind::List(_), _) => return Err(refuse("a list of names")),
        (Kind::Json, value) => {
            let text = value.to_string();
            if text.contains("\\u0000") {
                return Err(refuse("free of NUL characters"));
            }
            let text = Expr::val(text);
            if dialect == Dialect::Postgres { text.cast_as(Alias::new("json")) } else { text }
        }
    })
}

fn checked(name: &str, longest: usize, text: &str) -> Result<String> {
    if text.contains('\0') {
        return Err(Error::invalid_payload(format!("\"meta.{name}\" holds a NUL character.")));
    }
    if longest > 0 && text.chars().count() > longest {
        return Err(Error::with_message(
            Code::ValueTooLong,
            format!("\"meta.{name}\" has more than {longest} characters."),
        )
        .with("field", name));
    }
    Ok(text.to_owned())
}

/// The name of the engine's type of unbounded texts in a cast.
pub const fn text_type(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Mysql => "char",
        Dialect::Sqlite | Dialect::Postgres => "text",
    }
}

pub fn text_at(row: &QueryResult, index: usize) -> Result<Option<String>> {
    row.try_get_by_index(index).map_err(Error::internal)
}

/// A stored value, read as text, the way clients see it.
pub fn rendered(kind: Kind, text: Option<String>) -> Value {
    match (kind, text) {
        (Kind::Flag(standard), None) => Value::Bool(standard),
        (_, None) => Value::Null,
        (Kind::Flag(_), Some(text)) => Value::Bool(matches!(text.as_str(), "1" | "true" | "t")),
        (Kind::Text(_), Some(text)) => Value::String(text),
        (Kind::Integer, Some(text)) => text.parse::<i64>().map_or(Value::Null, Value::from),
        (Kind::Json, Some(text)) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        (Kind::List(_), Some(text)) => {
            text.split(',').filter(|name| !name.is_empty()).map(|name| Value::from(name.trim())).collect()
        }
    }
}
