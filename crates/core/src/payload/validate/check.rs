//! Walking a rule: logic, fields, functions of values; and the check of a rule that is saved.

use chrono::{Datelike, NaiveDateTime, Timelike};
use serde_json::{Map, Value};

use super::{Payload, operator};
use crate::{
    error::{Error, Problem, Result},
    payload::typed,
    query::ast::Function,
};

/// Applies a rule; what it finds is added to `problems`.
pub(super) fn rule(rule: &Value, payload: &Payload<'_>, problems: &mut Vec<Problem>) {
    let Value::Object(members) = rule else { return };
    for (key, operand) in members {
        match key.as_str() {
            "_and" => branches(operand).for_each(|branch| self::rule(branch, payload, problems)),
            "_or" => any(operand, problems, |branch, found| self::rule(branch, payload, found)),
            name => field(name, operand, payload, problems),
        }
    }
}

fn branches(operand: &Value) -> impl Iterator<Item = &Value> {
    operand.as_array().into_iter().flatten()
}

/// `_or`: one branch without problems is enough; otherwise the problems of all are reported.
fn any(operand: &Value, problems: &mut Vec<Problem>, check: impl Fn(&Value, &mut Vec<Problem>)) {
    let mut all = Vec::new();
    for branch in branches(operand) {
        let from = all.len();
        check(branch, &mut all);
        if all.len() == from {
            return;
        }
    }
    problems.append(&mut all);
}

fn field(name: &str, operand: &Value, payload: &Payload<'_>, problems: &mut Vec<Problem>) {
    let (function, plain) = split_function(name);
    let raw = payload.row.get(plain);
    let value = match function {
        None => payload.get(plain),
        Some(function) => raw.map(|value| apply(function, value)),
    };
    let subject = Subject { field: plain, raw, value: value.as_ref() };
    operators(operand, &subject, problems);
}

/// The value under test.
pub(super) struct Subject<'a> {
    /// The top-level key, for the answer.
    pub field: &'a str,
    /// As submitted.
    pub raw: Option<&'a Value>,
    /// As it will be stored, or the function of it; `None` when absent.
    pub value: Option<&'a Value>,
}

fn operators(rule: &Value, subject: &Subject<'_>, problems: &mut Vec<Problem>) {
    let Value::Object(members) = rule else {
        // `{"field": 5}` is short for `_eq`.
        if !rule.is_array() {
            operator::check("_eq", rule, subject, problems);
        }
        return;
    };
    for (key, operand) in members {
        match key.as_str() {
            "_and" => branches(operand).for_each(|branch| operators(branch, subject, problems)),
            "_or" => any(operand, problems, |branch, found| operators(branch, subject, found)),
            name if name.starts_with('_') => operator::check(name, operand, subject, problems),
            name => nested(name, operand, subject, problems),
        }
    }
}

/// A rule about a nested row: checked when the payload brings that row along.
fn nested(name: &str, operand: &Value, subject: &Subject<'_>, problems: &mut Vec<Problem>) {
    let Some(Value::Object(row)) = subject.raw else { return };
    let mut found = Vec::new();
    field(name, operand, &Payload { collection: None, row }, &mut found);
    for mut problem in found {
        problem.extensions.insert("field".to_owned(), subject.field.into());
        problems.push(problem);
    }
}

/// `year(published)` → the function and `published`.
fn split_function(name: &str) -> (Option<Function>, &str) {
    let call = name.strip_suffix(')').and_then(|rest| rest.split_once('('));
    match call.and_then(|(function, field)| Function::from_name(function).map(|function| (function, field))) {
        Some((function, field)) => (Some(function), field),
        None => (None, name),
    }
}

/// The function of a submitted value; null where it has none.
fn apply(function: Function, value: &Value) -> Value {
    if function == Function::Count {
        return match value {
            Value::Array(items) => items.len().into(),
            Value::Object(members) => members.len().into(),
            _ => Value::Null,
        };
    }
    let Some(moment) = typed::moment_of(value) else { return Value::Null };
    part(function, moment).map_or(Value::Null, Value::from)
}

fn part(function: Function, moment: NaiveDateTime) -> Option<i64> {
    Some(match function {
        Function::Year => moment.year().into(),
        Function::Month => moment.month().into(),
        Function::Week => moment.iso_week().week().into(),
        Function::Day => moment.day().into(),
        Function::Weekday => moment.weekday().num_days_from_sunday().into(),
        Function::Hour => moment.hour().into(),
        Function::Minute => moment.minute().into(),
        Function::Second => moment.second().into(),
        Function::Count => return None,
    })
}

/// Checks a rule that is about to be saved: its shape and its operators.
///
/// # Errors
/// `INVALID_PAYLOAD`.
pub fn check_rule(value: &Value) -> Result<()> {
    match value {
        Value::Null => Ok(()),
        Value::Object(members) => saved(members, false),
        _ => Err(Error::invalid_payload("A validation rule has to be an object.")),
    }
}

fn saved(members: &Map<String, Value>, in_field: bool) -> Result<()> {
    for (key, operand) in members {
        match key.as_str() {
            "_and" | "_or" => {
                let Value::Array(items) = operand else {
                    return Err(Error::invalid_payload(format!("\"{key}\" takes an array of rules.")));
                };
                for item in items {
                    match item {
                        Value::Object(members) => saved(members, in_field)?,
                        _ => return Err(Error::invalid_payload(format!("\"{key}\" takes an array of rules."))),
                    }
                }
            }
            name if in_field && name.starts_with('_') => operator::check_saved(name, operand)?,
            _ => match operand {
                Value::Object(members) => saved(members, true)?,
                Value::Array(_) => {
                    return Err(Error::invalid_payload(format!("The rule of \"{key}\" has to be an object.")));
                }
                _ => {}
            },
        }
    }
    Ok(())
}
