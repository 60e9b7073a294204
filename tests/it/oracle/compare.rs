//! Whether an answer is what it must be, and what must hold of every answer whatever was asked.

use serde_json::Value;

use super::{
    ask::Ask,
    holds::View,
    totals::{ABOUT, ABOUT_TEXT},
    world::{Cell, KEY, MARK},
};

/// Whether two answers say the same: members in any order, numbers by their value.
pub fn same(wanted: &Value, got: &Value) -> bool {
    match (wanted, got) {
        (Value::Object(wanted), _) if wanted.contains_key(ABOUT) => {
            got.as_number().is_some_and(|got| close(wanted[ABOUT].as_f64(), got.to_string().parse().ok()))
        }
        (Value::Object(wanted), _) if wanted.contains_key(ABOUT_TEXT) => {
            got.as_str().is_some_and(|got| close(wanted[ABOUT_TEXT].as_f64(), got.parse().ok()))
        }
        (Value::Object(wanted), Value::Object(got)) => {
            wanted.len() == got.len()
                && wanted.iter().all(|(key, value)| got.get(key).is_some_and(|got| same(value, got)))
        }
        (Value::Array(wanted), Value::Array(got)) => {
            wanted.len() == got.len() && wanted.iter().zip(got).all(|(wanted, got)| same(wanted, got))
        }
        (Value::Number(wanted), Value::Number(got)) => wanted == got || close(wanted.as_f64(), got.as_f64()),
        _ => wanted == got,
    }
}

/// Averages are rounded to a few places behind the point.
fn close(wanted: Option<f64>, got: Option<f64>) -> bool {
    match (wanted, got) {
        (Some(wanted), Some(got)) => (wanted - got).abs() <= 0.000_05_f64.max(wanted.abs() * 1e-9),
        _ => false,
    }
}

/// What is wrong with an answer whatever was asked, by means that the evaluator does not use: marks
/// of rows that the caller may not see, or of fields, and parents that come twice.
pub fn breaches(view: &View<'_>, ask: &Ask, body: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let text = body.to_string();
    for (number, collection) in view.world.collections.iter().enumerate() {
        let readable = view.caller.shows(number, MARK);
        for row in &collection.rows {
            let Cell::Text(mark) = &row[MARK] else { continue };
            if text.contains(mark.as_str()) && !(readable && view.visible(number, row)) {
                out.push(format!("{} of {} must not be seen", mark, collection.name));
            }
        }
    }
    if ask.group.is_empty() && ask.aggregate.is_empty() {
        let ids: Vec<&Value> = body["data"].as_array().into_iter().flatten().filter_map(|item| item.get(KEY)).collect();
        for (position, id) in ids.iter().enumerate() {
            if ids[..position].contains(id) {
                out.push(format!("{id} comes twice"));
            }
        }
    }
    out
}
