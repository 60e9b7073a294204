//! Filters: from JSON (or unfolded brackets) to a tree. Names and operand types are checked later,
//! where the schema is known.

use serde_json::Value;

use super::{
    QueryLimits,
    ast::{Filter, Operator, PathStep},
    fields::step,
    follow,
    functions::shorten,
};
use crate::error::{Error, Result};

/// Operands and logical branches one filter may have: what all engines take as statement parameters.
const MOST_OPERANDS: usize = 30_000;
/// Levels of nesting of any kind, fields and logic together.
const MOST_LEVELS: usize = 100;

/// Where a filter comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A client: empty lists and malformed operands are refused.
    Request,
    /// A permission row: an empty `_in` matches nothing.
    Rule,
}

/// Reads a filter.
///
/// # Errors
/// `INVALID_QUERY`.
pub fn parse(value: &Value, source: Source, limits: &QueryLimits) -> Result<Filter> {
    let mut parser = Parser { source, relational_depth: limits.relational_depth.max(2), operands: 0 };
    match value {
        Value::Object(_) => parser.filter(value, Place { levels: 0, fields: 0 }),
        _ => Err(Error::invalid_query("Filter must be an object.")),
    }
}

/// Where in the tree we are.
#[derive(Clone, Copy)]
struct Place {
    levels: usize,
    fields: usize,
}

impl Place {
    fn deeper(self) -> Self {
        Self { levels: self.levels + 1, ..self }
    }
}

struct Parser {
    source: Source,
    relational_depth: usize,
    operands: usize,
}

impl Parser {
    fn filter(&mut self, value: &Value, place: Place) -> Result<Filter> {
        if place.levels > MOST_LEVELS {
            return Err(Error::invalid_query("The filter is nested too deep."));
        }
        let Value::Object(entries) = value else {
            return Err(Error::invalid_query("A filter has to be an object."));
        };
        let mut conditions = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            self.count(1)?;
            conditions.push(self.entry(key, value, place)?);
        }
        Ok(match conditions.len() {
            1 => conditions.pop().unwrap_or(Filter::All(Vec::new())),
            _ => Filter::All(conditions),
        })
    }

    fn entry(&mut self, key: &str, value: &Value, place: Place) -> Result<Filter> {
        match key {
            "_and" => Ok(Filter::All(self.branches(key, value, place)?)),
            "_or" => match self.branches(key, value, place)? {
                // A rule that names no alternative grants nothing.
                none if none.is_empty() && self.source == Source::Rule => Ok(Filter::Nothing),
                branches => Ok(Filter::Any(branches)),
            },
            "_some" if place.fields > 0 => Ok(Filter::Some(Box::new(self.filter(value, place.deeper())?))),
            "_none" if place.fields > 0 => Ok(Filter::None(Box::new(self.filter(value, place.deeper())?))),
            _ if place.fields > 0 && key.starts_with('_') => match Operator::from_name(key) {
                Some(operator) => self.operand(operator, value),
                // The field's type belongs into the message: whoever knows it refuses.
                None => Ok(Filter::UnknownOperator(shorten(key))),
            },
            _ => self.field(key, value, place),
        }
    }

    fn branches(&mut self, key: &str, value: &Value, place: Place) -> Result<Vec<Filter>> {
        let Value::Array(items) = value else {
            return Err(Error::invalid_query(format!("\"{key}\" has to be an array of filters.")));
        };
        items
            .iter()
            .map(|item| {
                self.count(1)?;
                self.filter(item, place.deeper())
            })
            .collect()
    }

    fn field(&mut self, key: &str, value: &Value, place: Place) -> Result<Filter> {
        let place = Place { levels: place.levels + 1, fields: place.fields + 1 };
        if place.fields > self.relational_depth {
            return Err(Error::invalid_query("The filter goes through too many relations."));
        }
        let step = match follow::is_follow(key) {
            true => follow::parse(key).map(|_| PathStep { name: key.to_owned(), scope: None, function: None })?,
            false => step(key)?,
        };
        let inner = match value {
            Value::Object(_) => self.filter(value, place)?,
            Value::Null | Value::Array(_) => {
                return Err(Error::invalid_query(format!("The filter of \"{}\" has to be an object.", shorten(key))));
            }
            scalar => self.operand(Operator::Eq, scalar)?,
        };
        Ok(Filter::Field { step, inner: Box::new(inner) })
    }

    fn operand(&mut self, operator: Operator, value: &Value) -> Result<Filter> {
        let name = operator.name();
        let value = match operator {
            Operator::In | Operator::Nin => {
                let items = list(value)
                    .ok_or_else(|| Error::invalid_query(format!("\"{name}\" has to be an array of values")))?;
                if items.is_empty() && self.source == Source::Request {
                    return Err(Error::invalid_query(format!("\"{name}\" has to be an array of values")));
                }
                self.count(items.len())?;
                Value::Array(items)
            }
            Operator::Between | Operator::Nbetween => match list(value) {
                Some(items) if items.len() == 2 && items.iter().all(|item| !item.is_null()) => Value::Array(items),
                _ => return Err(Error::invalid_query(format!("\"{name}\" takes exactly two values."))),
            },
            Operator::Null | Operator::Nnull | Operator::Empty | Operator::Nempty => Value::Bool(flag(name, value)?),
            Operator::Intersects | Operator::Nintersects | Operator::IntersectsBbox | Operator::NintersectsBbox => {
                value.clone()
            }
            _ => {
                let value = literal(value);
                match &value {
                    Value::Object(_) | Value::Array(_) => {
                        return Err(Error::invalid_query(format!("\"{name}\" has to be a single value.")));
                    }
                    Value::String(text) if text.is_empty() => {
                        return Err(Error::invalid_query(format!(
                            "You can't filter for an empty string in \"{name}\". Use \"_empty\" or \"_nempty\" instead"
                        )));
                    }
                    Value::Null
                        if !matches!(operator, Operator::Eq | Operator::Neq) && self.source == Source::Request =>
                    {
                        return Err(Error::invalid_query(format!("\"{name}\" takes no null.")));
                    }
                    _ => value,
                }
            }
        };
        Ok(Filter::Is(operator, value))
    }

    fn count(&mut self, more: usize) -> Result<()> {
        self.operands = self.operands.saturating_add(more);
        if self.operands > MOST_OPERANDS {
            return Err(Error::invalid_query(format!("The filter has more than {MOST_OPERANDS} conditions.")));
        }
        Ok(())
    }
}

/// In filters the texts `true`, `false` and `null` stand for the literals (query strings know no other).
fn literal(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" | "NULL" => Value::Null,
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

/// An array of scalars, or a text with commas.
fn list(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => {
            items.iter().map(|item| (!item.is_object() && !item.is_array()).then(|| literal(item))).collect()
        }
        Value::String(text) => Some(
            text.split(',')
                .filter(|item| !item.is_empty())
                .map(|item| literal(&Value::String(item.to_owned())))
                .collect(),
        ),
        Value::Number(_) | Value::Bool(_) => Some(vec![value.clone()]),
        Value::Null | Value::Object(_) => None,
    }
}

fn flag(name: &str, value: &Value) -> Result<bool> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::Null => Ok(true),
        Value::String(text) => match text.as_str() {
            "" | "true" | "1" | "null" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(Error::invalid_query(format!("\"{name}\" has to be true or false."))),
        },
        Value::Number(number) if number.as_u64() == Some(1) => Ok(true),
        Value::Number(number) if number.as_u64() == Some(0) => Ok(false),
        _ => Err(Error::invalid_query(format!("\"{name}\" has to be true or false."))),
    }
}
