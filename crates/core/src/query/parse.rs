//! The query parameters, from a URL or from a JSON object (SEARCH bodies, stored queries): one set
//! of rules for both. Unknown parameters are ignored, malformed ones refused by name.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{
    Query, QueryLimits,
    ast::{Aggregate, AggregateFunction, ExportFormat, Limit, MetaRequest},
    fields, filter,
    functions::shorten,
    url,
};
use crate::error::{Error, Result};

/// What may be said of a nested level, each with a `_` before it. Not all have an effect there.
const DEEP_PARAMETERS: &[&str] =
    &["fields", "filter", "sort", "limit", "offset", "page", "search", "alias", "group", "groupBy", "aggregate"];
/// Largest row count that any engine takes.
const LARGEST: u64 = i64::MAX as u64;

/// Reads the query of a URL (the part after `?`, percent-encoded).
///
/// # Errors
/// `INVALID_QUERY` naming the parameter.
pub fn from_url(raw: &str, limits: &QueryLimits) -> Result<Query> {
    from_map(&url::parse(raw, limits)?, limits)
}

/// Reads a query given as a JSON object.
///
/// # Errors
/// `INVALID_QUERY` naming the parameter.
pub fn from_json(value: &Value, limits: &QueryLimits) -> Result<Query> {
    match value {
        Value::Object(map) => from_map(map, limits),
        _ => Err(Error::invalid_query("The query has to be an object.")),
    }
}

/// Reads the parameters of one level.
///
/// # Errors
/// `INVALID_QUERY` naming the parameter.
pub fn from_map(map: &Map<String, Value>, limits: &QueryLimits) -> Result<Query> {
    let mut query = level(|name| map.get(name), limits)?;
    if let Some(value) = given(map.get("meta")) {
        query.meta = meta(value)?;
    }
    if let Some(value) = given(map.get("aggregate")) {
        query.aggregate = aggregate(&object("aggregate", value)?)?;
    }
    if let Some(value) = given(map.get("groupBy")).or_else(|| given(map.get("group"))) {
        query.group =
            fields::list("groupBy", value)?.iter().map(|text| fields::operand(text)).collect::<Result<_>>()?;
    }
    if let Some(value) = given(map.get("deep")) {
        query.deep = deep(&object("deep", value)?, limits, 1)?;
    }
    if let Some(value) = given(map.get("export")) {
        query.export = Some(export(value)?);
    }
    Ok(query)
}

/// The parameters that exist on every level, nested ones included.
fn level<'a>(get: impl Fn(&'static str) -> Option<&'a Value>, limits: &QueryLimits) -> Result<Query> {
    let mut query = Query::default();
    if let Some(value) = given(get("fields")) {
        let paths = fields::list("fields", value)?;
        if !paths.is_empty() {
            query.fields = Some(paths.iter().map(|text| fields::path(text, limits)).collect::<Result<_>>()?);
        }
    }
    if let Some(value) = given(get("filter")) {
        let value = match value {
            Value::String(text) => {
                serde_json::from_str(text).map_err(|_| Error::invalid_query("Filter must be an object."))?
            }
            other => other.clone(),
        };
        query.filter = Some(filter::parse(&value, filter::Source::Request, limits)?);
    }
    if let Some(value) = given(get("sort")) {
        let keys = fields::list("sort", value)?;
        if !keys.is_empty() {
            query.sort = Some(keys.iter().map(|text| fields::sort_key(text, limits)).collect::<Result<_>>()?);
        }
    }
    if let Some(value) = get("limit").filter(|value| !value.is_null()) {
        query.limit = Some(limit(value, limits)?);
    }
    query.offset = given(get("offset")).map(|value| count("offset", value)).transpose()?;
    query.page = given(get("page")).map(|value| count("page", value)).transpose()?;
    if let Some(value) = given(get("search")) {
        match value {
            Value::String(text) => query.search = Some(text.clone()),
            Value::Number(number) => query.search = Some(number.to_string()),
            _ => return Err(Error::invalid_query("\"search\" has to be a text.")),
        }
    }
    if let Some(value) = given(get("alias")) {
        query.alias = alias(&object("alias", value)?)?;
    }
    Ok(query)
}

/// Absent, null and empty mean the same.
fn given(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null() && value.as_str() != Some(""))
}

/// An object, or a JSON text of one.
fn object(parameter: &str, value: &Value) -> Result<Map<String, Value>> {
    let parsed = match value {
        Value::Object(map) => return Ok(map.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    };
    match parsed {
        Some(Value::Object(map)) => Ok(map),
        _ => Err(Error::invalid_query(format!("\"{parameter}\" has to be an object."))),
    }
}

fn whole_number(parameter: &str, value: &Value) -> Result<i64> {
    let number = match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) if text.is_empty() => Some(0),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| Error::invalid_query(format!("\"{parameter}\" has to be a whole number.")))
}

fn count(parameter: &str, value: &Value) -> Result<u64> {
    u64::try_from(whole_number(parameter, value)?)
        .map_err(|_| Error::invalid_query(format!("\"{parameter}\" can't be negative.")))
}

fn limit(value: &Value, limits: &QueryLimits) -> Result<Limit> {
    match whole_number("limit", value)? {
        -1 => Ok(limits.max_limit.map_or(Limit::Unlimited, Limit::Rows)),
        rows => {
            let rows = u64::try_from(rows).map_err(|_| Error::invalid_query("\"limit\" has to be -1 or more."))?;
            if limits.max_limit.is_some_and(|most| rows > most) {
                return Err(Error::invalid_query("\"limit\" is larger than allowed."));
            }
            Ok(Limit::Rows(rows.min(LARGEST)))
        }
    }
}

fn meta(value: &Value) -> Result<MetaRequest> {
    let mut request = MetaRequest::default();
    for name in fields::list("meta", value)? {
        match name.as_str() {
            "*" => request = MetaRequest { total_count: true, filter_count: true },
            "total_count" => request.total_count = true,
            "filter_count" => request.filter_count = true,
            other => return Err(Error::invalid_query(format!("\"meta\" does not know \"{}\".", shorten(other)))),
        }
    }
    Ok(request)
}

fn aggregate(map: &Map<String, Value>) -> Result<Vec<Aggregate>> {
    let mut out = Vec::with_capacity(map.len());
    for (name, value) in map {
        let function = AggregateFunction::from_name(name)
            .ok_or_else(|| Error::invalid_query(format!("\"aggregate\" does not know \"{}\".", shorten(name))))?;
        let names = match value {
            Value::Object(_) | Value::Bool(_) | Value::Number(_) => {
                return Err(Error::invalid_query("\"aggregate\" takes lists of fields."));
            }
            _ if function == AggregateFunction::CountAll => Vec::new(),
            list => fields::list("aggregate", list)?,
        };
        if names.is_empty() && function != AggregateFunction::CountAll {
            continue;
        }
        out.push(Aggregate { function, fields: names });
    }
    Ok(out)
}

fn alias(map: &Map<String, Value>) -> Result<IndexMap<String, String>> {
    let mut out = IndexMap::with_capacity(map.len());
    for (name, target) in map {
        let Value::String(target) = target else {
            return Err(Error::invalid_query("\"alias\" has to map names to fields."));
        };
        if name.contains('.') || target.contains('.') || name.is_empty() || target.is_empty() || name == "*" {
            return Err(Error::invalid_query("\"alias\" takes plain names, without dots."));
        }
        out.insert(name.clone(), target.clone());
    }
    Ok(out)
}

fn deep(map: &Map<String, Value>, limits: &QueryLimits, depth: usize) -> Result<IndexMap<String, Box<Query>>> {
    if depth > limits.relational_depth.max(2) {
        return Err(Error::invalid_query("\"deep\" has too many levels."));
    }
    let mut out = IndexMap::new();
    for (name, value) in map {
        if let Some(parameter) = name.strip_prefix('_') {
            if !DEEP_PARAMETERS.contains(&parameter) {
                return Err(Error::invalid_query(format!("\"deep\" does not know \"{}\".", shorten(name))));
            }
            continue;
        }
        // Plain values beside the levels mean nothing.
        let Value::Object(inner) = value else { continue };
        let mut query = level(|parameter| inner.get(&format!("_{parameter}")), limits)?;
        query.fields = None;
        query.deep = deep(inner, limits, depth + 1)?;
        out.insert(name.clone(), Box::new(query));
    }
    Ok(out)
}

fn export(value: &Value) -> Result<ExportFormat> {
    match value.as_str() {
        Some("csv") => Ok(ExportFormat::Csv),
        Some("json") => Ok(ExportFormat::Json),
        Some("xml") => Ok(ExportFormat::Xml),
        Some("yaml") => Ok(ExportFormat::Yaml),
        _ => Err(Error::invalid_query("\"export\" has to be csv, json, xml or yaml.")),
    }
}
