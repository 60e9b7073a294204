//! One operator against one value, and what is told of a violation.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::{check::Subject, pattern};
use crate::{
    error::{Error, Problem, Result},
    payload::typed,
};

const KNOWN: &[&str] = &[
    "_eq",
    "_neq",
    "_contains",
    "_icontains",
    "_ncontains",
    "_nicontains",
    "_starts_with",
    "_nstarts_with",
    "_istarts_with",
    "_nistarts_with",
    "_ends_with",
    "_nends_with",
    "_iends_with",
    "_niends_with",
    "_ieq",
    "_nieq",
    "_in",
    "_nin",
    "_gt",
    "_gte",
    "_lt",
    "_lte",
    "_null",
    "_nnull",
    "_empty",
    "_nempty",
    "_between",
    "_nbetween",
    "_submitted",
    "_regex",
];

/// Checks the operator of a rule that is about to be saved.
pub(super) fn check_saved(name: &str, operand: &Value) -> Result<()> {
    if !KNOWN.contains(&name) {
        let name: String = name.chars().take(40).collect();
        return Err(Error::invalid_payload(format!("\"{name}\" is no validation operator.")));
    }
    if name == "_regex" && operand.as_str().and_then(pattern::compile).is_none() {
        return Err(Error::invalid_payload("\"_regex\" takes a pattern that can be understood."));
    }
    Ok(())
}

/// Adds a problem when the value breaks the operator. Unknown operators pass: rules are checked
/// when they are saved.
pub(super) fn check(name: &str, operand: &Value, subject: &Subject<'_>, problems: &mut Vec<Problem>) {
    let Some(value) = subject.value else {
        if name == "_submitted" && *operand != Value::Bool(false) {
            problems.push(problem(subject, Some("required"), []));
        }
        return;
    };
    let inverted = *operand == Value::Bool(false);
    let name = match (name, inverted) {
        ("_null", true) => "_nnull",
        ("_nnull", true) => "_null",
        ("_empty", true) => "_nempty",
        ("_nempty", true) => "_empty",
        _ => name,
    };
    let found = match name {
        "_eq" if !equal(value, operand) => Some(equal_problem(subject, operand)),
        "_neq" if equal(value, operand) => Some(problem(subject, Some("neq"), [("invalid", operand.clone())])),
        "_ieq" if !folded_equal(value, operand) => Some(problem(subject, Some("eq"), [("valid", operand.clone())])),
        "_nieq" if folded_equal(value, operand) => Some(problem(subject, Some("neq"), [("invalid", operand.clone())])),
        "_in" if !among(value, operand) => Some(in_problem(subject, operand)),
        "_nin" if among(value, operand) => Some(problem(subject, Some("nin"), [("invalid", operand.clone())])),
        "_null" if !value.is_null() => Some(problem(subject, Some("null"), [])),
        "_nnull" if value.is_null() => Some(problem(subject, Some("nnull"), [])),
        "_empty" if !empty(value) => Some(problem(subject, Some("empty"), [])),
        "_nempty" if empty(value) => Some(problem(subject, Some("nempty"), [])),
        "_gt" | "_gte" | "_lt" | "_lte" => ordered(name, value, operand, subject),
        "_between" => between(value, operand, subject),
        "_nbetween" => not_between(value, operand, subject),
        "_regex" => regex(value, operand, subject),
        _ => text(name, value, operand, subject),
    };
    problems.extend(found);
}

fn problem<const N: usize>(subject: &Subject<'_>, kind: Option<&str>, extra: [(&str, Value); N]) -> Problem {
    let field = subject.field;
    let message = match kind {
        Some(kind) => format!("The value of \"{field}\" breaks the rule \"{kind}\"."),
        None => format!("The value of \"{field}\" breaks a rule."),
    };
    let mut problem = Problem::failed_validation(field, kind, message);
    problem.extensions.extend(extra.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>());
    problem
}

/// A numeric text stands for the number as well.
fn equal_problem(subject: &Subject<'_>, operand: &Value) -> Problem {
    let number = operand.as_str().filter(|text| !text.is_empty()).and_then(|text| serde_json::from_str(text).ok());
    match number {
        Some(number @ Value::Number(_)) => {
            problem(subject, Some("in"), [("valid", Value::Array(vec![operand.clone(), number]))])
        }
        _ => problem(subject, Some("eq"), [("valid", operand.clone())]),
    }
}

fn in_problem(subject: &Subject<'_>, operand: &Value) -> Problem {
    match list(operand).as_slice() {
        [one] => problem(subject, Some("eq"), [("valid", one.clone())]),
        many => problem(subject, Some("in"), [("valid", Value::Array(many.to_vec()))]),
    }
}

/// A list, or the comma-separated text of one.
fn list(operand: &Value) -> Vec<Value> {
    match operand {
        Value::Array(items) => items.clone(),
        Value::String(text) => text.split(',').map(|item| item.trim().into()).collect(),
        Value::Null => Vec::new(),
        other => vec![other.clone()],
    }
}

fn among(value: &Value, operand: &Value) -> bool {
    list(operand).iter().any(|item| equal(value, item))
}

fn empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Equal, with numbers and their texts alike.
fn equal(left: &Value, right: &Value) -> bool {
    left == right
        || match (left, right) {
            (Value::Number(_), Value::Number(_) | Value::String(_)) | (Value::String(_), Value::Number(_)) => {
                compare_numbers(left, right) == Some(Ordering::Equal)
            }
            _ => false,
        }
}

fn folded_equal(left: &Value, right: &Value) -> bool {
    match (text_of(left), text_of(right)) {
        (Some(left), Some(right)) => left.to_lowercase() == right.to_lowercase(),
        _ => left == right,
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn whole(value: &Value) -> Option<i128> {
    text_of(value)?.trim().parse().ok()
}

fn number(value: &Value) -> Option<f64> {
    text_of(value)?.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

fn compare_numbers(left: &Value, right: &Value) -> Option<Ordering> {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => number(left)?.partial_cmp(&number(right)?),
    }
}

/// By number when the operand is one, else by moment. `None` when they can't be compared.
fn compare(value: &Value, operand: &Value) -> Option<Ordering> {
    if number(operand).is_some() {
        return compare_numbers(value, operand);
    }
    Some(typed::moment_of(value)?.cmp(&typed::moment_of(operand)?))
}

fn ordered(name: &str, value: &Value, operand: &Value, subject: &Subject<'_>) -> Option<Problem> {
    let Some(ordering) = compare(value, operand) else { return Some(problem(subject, None, [])) };
    let holds = match name {
        "_gt" => ordering.is_gt(),
        "_gte" => ordering.is_ge(),
        "_lt" => ordering.is_lt(),
        _ => ordering.is_le(),
    };
    (!holds).then(|| problem(subject, name.strip_prefix('_'), [("valid", operand.clone())]))
}

fn between(value: &Value, operand: &Value, subject: &Subject<'_>) -> Option<Problem> {
    let bounds = list(operand);
    let [low, high] = bounds.as_slice() else { return Some(problem(subject, None, [])) };
    ordered("_gte", value, low, subject).or_else(|| ordered("_lte", value, high, subject))
}

fn not_between(value: &Value, operand: &Value, subject: &Subject<'_>) -> Option<Problem> {
    let bounds = list(operand);
    let outside = match bounds.as_slice() {
        [low, high] => compare(value, low).zip(compare(value, high)).map(|(low, high)| low.is_lt() || high.is_gt()),
        _ => None,
    };
    match outside {
        Some(true) => None,
        Some(false) => Some(problem(subject, Some("nbetween"), [("invalid", Value::Array(bounds))])),
        None => Some(problem(subject, None, [])),
    }
}

fn regex(value: &Value, operand: &Value, subject: &Subject<'_>) -> Option<Problem> {
    let invalid = || subject.raw.cloned().unwrap_or(Value::Null);
    let Some(text) = value.as_str() else { return Some(problem(subject, None, [])) };
    let matches = operand.as_str().and_then(pattern::compile).is_some_and(|pattern| pattern.is_match(text));
    (!matches).then(|| problem(subject, Some("regex"), [("invalid", invalid())]))
}

/// The operators on texts; those of lists look for an element.
fn text(name: &str, value: &Value, operand: &Value, subject: &Subject<'_>) -> Option<Problem> {
    let (negated, plain) = match name {
        "_contains" | "_icontains" | "_starts_with" | "_istarts_with" | "_ends_with" | "_iends_with" => (false, name),
        "_ncontains" => (true, "_contains"),
        "_nicontains" => (true, "_icontains"),
        "_nstarts_with" => (true, "_starts_with"),
        "_nistarts_with" => (true, "_istarts_with"),
        "_nends_with" => (true, "_ends_with"),
        "_niends_with" => (true, "_iends_with"),
        _ => return None,
    };
    let needle = text_of(operand).unwrap_or_default();
    let fold = plain.starts_with("_i");
    let kind = match plain {
        "_contains" | "_icontains" => name.strip_prefix('_'),
        _ => None,
    };
    let holds = match value {
        Value::Array(items) if kind.is_some() => Some(items.iter().filter_map(text_of).any(|item| item == needle)),
        other => text_of(other).map(|text| {
            let (text, needle) =
                if fold { (text.to_lowercase(), needle.to_lowercase()) } else { (text, needle.clone()) };
            match plain {
                "_contains" | "_icontains" => text.contains(&needle),
                "_starts_with" | "_istarts_with" => text.starts_with(&needle),
                _ => text.ends_with(&needle),
            }
        }),
    };
    match holds {
        Some(holds) if holds != negated => None,
        // Nothing is no text that contains, but it does not contain either.
        None if negated && value.is_null() => None,
        Some(_) if kind.is_some() => Some(problem(subject, kind, [("substring", operand.clone())])),
        _ => Some(problem(subject, None, [])),
    }
}
