//! Names of functions, operators and aggregates, and the `name(field)` notation.

use super::ast::{AggregateFunction, Function, Operator};
use crate::error::{Error, Result};

const FUNCTIONS: &[(&str, Function)] = &[
    ("year", Function::Year),
    ("month", Function::Month),
    ("week", Function::Week),
    ("day", Function::Day),
    ("weekday", Function::Weekday),
    ("hour", Function::Hour),
    ("minute", Function::Minute),
    ("second", Function::Second),
    ("count", Function::Count),
];

const AGGREGATES: &[(&str, AggregateFunction)] = &[
    ("count", AggregateFunction::Count),
    ("countDistinct", AggregateFunction::CountDistinct),
    ("countAll", AggregateFunction::CountAll),
    ("sum", AggregateFunction::Sum),
    ("sumDistinct", AggregateFunction::SumDistinct),
    ("avg", AggregateFunction::Avg),
    ("avgDistinct", AggregateFunction::AvgDistinct),
    ("min", AggregateFunction::Min),
    ("max", AggregateFunction::Max),
];

const OPERATORS: &[(&str, Operator)] = &[
    ("_eq", Operator::Eq),
    ("_neq", Operator::Neq),
    ("_lt", Operator::Lt),
    ("_lte", Operator::Lte),
    ("_gt", Operator::Gt),
    ("_gte", Operator::Gte),
    ("_in", Operator::In),
    ("_nin", Operator::Nin),
    ("_between", Operator::Between),
    ("_nbetween", Operator::Nbetween),
    ("_contains", Operator::Contains),
    ("_ncontains", Operator::Ncontains),
    ("_icontains", Operator::Icontains),
    ("_nicontains", Operator::Nicontains),
    ("_starts_with", Operator::StartsWith),
    ("_nstarts_with", Operator::NstartsWith),
    ("_istarts_with", Operator::IstartsWith),
    ("_nistarts_with", Operator::NistartsWith),
    ("_ends_with", Operator::EndsWith),
    ("_nends_with", Operator::NendsWith),
    ("_iends_with", Operator::IendsWith),
    ("_niends_with", Operator::NiendsWith),
    ("_ieq", Operator::Ieq),
    ("_nieq", Operator::Nieq),
    ("_null", Operator::Null),
    ("_nnull", Operator::Nnull),
    ("_empty", Operator::Empty),
    ("_nempty", Operator::Nempty),
    ("_intersects", Operator::Intersects),
    ("_nintersects", Operator::Nintersects),
    ("_intersects_bbox", Operator::IntersectsBbox),
    ("_nintersects_bbox", Operator::NintersectsBbox),
];

fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

fn name_of<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

impl Function {
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        find(FUNCTIONS, name)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        name_of(FUNCTIONS, self)
    }
}

impl AggregateFunction {
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        find(AGGREGATES, name)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        name_of(AGGREGATES, self)
    }
}

impl Operator {
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        find(OPERATORS, name)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        name_of(OPERATORS, self)
    }
}

/// Splits `year(date)` into function and field; a plain name has no function.
///
/// # Errors
/// `INVALID_QUERY` for unknown functions and unbalanced parentheses.
pub fn split_call(text: &str) -> Result<(Option<Function>, &str)> {
    let Some((name, rest)) = text.split_once('(') else {
        return if text.contains(')') { Err(unbalanced(text)) } else { Ok((None, text)) };
    };
    let field = rest.strip_suffix(')').ok_or_else(|| unbalanced(text))?;
    if field.is_empty() || field.contains(['(', ')']) {
        return Err(unbalanced(text));
    }
    let function = Function::from_name(name)
        .ok_or_else(|| Error::invalid_query(format!("\"{}\" is not a function.", shorten(name))))?;
    Ok((Some(function), field))
}

fn unbalanced(text: &str) -> Error {
    Error::invalid_query(format!("\"{}\" is not a field or a function of one.", shorten(text)))
}

/// Names in messages are cut, so that an answer is never much larger than its question.
#[must_use]
pub fn shorten(text: &str) -> String {
    const MOST: usize = 64;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
