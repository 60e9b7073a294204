//! Validation of payloads: the rules of permission rows and of fields, and columns that need a
//! value. A rule about a key that the payload lacks passes.

mod check;
mod operator;
mod pattern;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

pub use check::check_rule;

use super::typed::{self, Typed};
use crate::{
    error::{Error, Problem, Result},
    schema::{Collection, Field, FieldType, Special},
};

/// What is done with the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    Create,
    Update,
}

/// Checks one payload against `rule` (with its variables resolved), the columns that need a value
/// and the rules of the fields, whose variables `resolved` puts in.
///
/// # Errors
/// `FAILED_VALIDATION`, one problem per violation.
pub fn validate(
    collection: &Collection,
    occasion: Occasion,
    rule: Option<&Value>,
    resolved: &dyn Fn(&Value) -> Value,
    row: &Map<String, Value>,
) -> Result<()> {
    let mut problems = Vec::new();
    let payload = Payload { collection: Some(collection), row };
    if let Some(rule) = rule {
        check::rule(rule, &payload, &mut problems);
    }
    for field in collection.fields.values() {
        if !crate::system::derives(collection, &field.name) {
            missing(field, occasion, row, &mut problems);
        }
    }
    for field in collection.fields.values() {
        let Some(rule) = &field.validation else { continue };
        let from = problems.len();
        check::rule(&resolved(rule), &payload, &mut problems);
        if let Some(message) = &field.validation_message {
            problems.iter_mut().skip(from).for_each(|problem| problem.message.clone_from(message));
        }
    }
    match Error::from_problems(problems) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Whether a row fulfils a rule.
#[must_use]
pub fn holds(rule: &Value, row: &Map<String, Value>) -> bool {
    let mut problems = Vec::new();
    check::rule(rule, &Payload { collection: None, row }, &mut problems);
    problems.is_empty()
}

/// NOT NULL columns without default need a value on create; none of them may be set to null.
fn missing(field: &Field, occasion: Occasion, row: &Map<String, Value>, problems: &mut Vec<Problem>) {
    const FILLED: [Special; 4] = [Special::Uuid, Special::DateCreated, Special::UserCreated, Special::RoleCreated];
    let Some(column) = &field.column else { return };
    if column.nullable || column.generated || FILLED.into_iter().any(|special| field.special.has(special)) {
        return;
    }
    // A null key asks for a generated one.
    let made = column.auto_increment && occasion == Occasion::Create;
    match row.get(&*field.name) {
        Some(Value::Null) if !made => problems.push(Problem::failed_validation(
            &field.name,
            Some("nnull"),
            format!("The field \"{}\" can't be empty.", field.name),
        )),
        None if occasion == Occasion::Create && !column.has_default && !column.auto_increment => {
            problems.push(Problem::failed_validation(
                &field.name,
                Some("required"),
                format!("The field \"{}\" is required.", field.name),
            ));
        }
        _ => {}
    }
}

/// The values a rule looks at.
struct Payload<'a> {
    /// Where the values go; `None` below the first level.
    collection: Option<&'a Collection>,
    row: &'a Map<String, Value>,
}

impl Payload<'_> {
    /// The value as it will be stored, so that a rule can't be passed by writing `"1"` for 1.
    fn get(&self, name: &str) -> Option<Value> {
        let value = self.row.get(name)?;
        let field = self.collection.and_then(|collection| collection.field(name));
        Some(field.and_then(|field| stored(field, value)).unwrap_or_else(|| value.clone()))
    }
}

fn stored(field: &Field, value: &Value) -> Option<Value> {
    use FieldType as Type;
    let canonical = matches!(
        field.kind,
        Type::Integer | Type::BigInteger | Type::Boolean | Type::Float | Type::Uuid | Type::String | Type::Text
    );
    if !canonical || field.column.is_none() {
        return None;
    }
    match typed::for_storage(field, value).ok()? {
        Typed::Bool(flag) => Some(flag.into()),
        Typed::Int(number) => Some(number.into()),
        Typed::Float(number) => Some(number.into()),
        Typed::Text(text) => Some(text.into()),
        Typed::Uuid(id) => Some(id.to_string().into()),
        _ => None,
    }
}
