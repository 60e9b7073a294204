//! Field paths: `title`, `author.name`, `blocks.item:pages.title`, `author.year(born)`, `*.*`.

use indexmap::IndexSet;
use serde_json::Value;

use super::{
    QueryLimits,
    ast::{FieldPath, Operand, PathStep, SortKey},
    functions::{shorten, split_call},
};
use crate::error::{Error, Result};

/// Different entries one list may have. Names that are repeated count once.
const MOST_ENTRIES: usize = 5_000;

/// Reads a list given as text with commas, or as an array of such texts; repeated entries count once.
///
/// # Errors
/// `INVALID_QUERY` naming the parameter.
pub fn list(parameter: &str, value: &Value) -> Result<Vec<String>> {
    fn push<'v>(out: &mut IndexSet<&'v str>, text: &'v str) {
        out.extend(text.split(',').map(str::trim).filter(|item| !item.is_empty()));
    }
    let mut out = IndexSet::new();
    match value {
        Value::String(text) => push(&mut out, text),
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::String(text) => push(&mut out, text),
                    _ => return Err(not_a_list(parameter)),
                }
            }
        }
        Value::Null => {}
        _ => return Err(not_a_list(parameter)),
    }
    if out.len() > MOST_ENTRIES {
        return Err(Error::invalid_query(format!("\"{parameter}\" has more than {MOST_ENTRIES} entries.")));
    }
    Ok(out.into_iter().map(str::to_owned).collect())
}

fn not_a_list(parameter: &str) -> Error {
    Error::invalid_query(format!("\"{parameter}\" has to be a list of texts."))
}

/// Reads one path; its parts are bounded by the relational depth.
///
/// # Errors
/// `INVALID_QUERY`.
pub fn path(text: &str, limits: &QueryLimits) -> Result<FieldPath> {
    // A function may wrap the last field of the path: `author.year(born)`; or, as some clients
    // write it, the whole path: `year(author.born)`.
    let parts: Vec<&str> = match text.split_once('(') {
        Some((before, _)) if !before.contains('.') && text.contains('.') => return wrapped(text, limits),
        _ => text.split('.').collect(),
    };
    check_depth(text, parts.len(), limits)?;
    parts.into_iter().map(step).collect()
}

fn wrapped(text: &str, limits: &QueryLimits) -> Result<FieldPath> {
    let (function, inner) = split_call(text)?;
    let mut path = path(inner, limits)?;
    if let Some(last) = path.last_mut() {
        last.function = function;
    }
    Ok(path)
}

fn check_depth(text: &str, parts: usize, limits: &QueryLimits) -> Result<()> {
    if parts > limits.relational_depth.max(2) {
        return Err(Error::invalid_query(format!("\"{}\" has too many levels.", shorten(text))));
    }
    Ok(())
}

/// Reads one step: a name, a function of one, or `field:collection`.
///
/// # Errors
/// `INVALID_QUERY`.
pub fn step(text: &str) -> Result<PathStep> {
    let (function, name) = split_call(text)?;
    if name.is_empty() {
        return Err(Error::invalid_query("A field path has an empty part."));
    }
    let (name, scope) = match name.split_once(':') {
        Some((name, scope)) if !name.is_empty() && !scope.is_empty() => (name, Some(scope.to_owned())),
        _ => (name, None),
    };
    Ok(PathStep { name: name.to_owned(), scope, function })
}

/// Reads a sort key: a path, `-` before it for descending order.
///
/// # Errors
/// `INVALID_QUERY`.
pub fn sort_key(text: &str, limits: &QueryLimits) -> Result<SortKey> {
    let (descending, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    Ok(SortKey { path: path(text, limits)?, descending })
}

/// Reads a grouping operand: a field or a function of one.
///
/// # Errors
/// `INVALID_QUERY`.
pub fn operand(text: &str) -> Result<Operand> {
    let (function, name) = split_call(text)?;
    if name.contains('.') {
        return Err(Error::invalid_query(format!(
            "\"{}\": only fields of the collection itself can be grouped.",
            shorten(text)
        )));
    }
    Ok(Operand { name: name.to_owned(), function })
}
