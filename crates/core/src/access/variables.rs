//! `$NOW`, `$CURRENT_USER`, `$CURRENT_ROLE` and their paths, resolved once per request.

use chrono::{DateTime, Duration, Months, SecondsFormat, Utc};
use serde_json::{Map, Value};

/// What variables stand for in one request.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    pub now: DateTime<Utc>,
    /// The user's id as text; `None` when nobody is logged in.
    pub user: Option<String>,
    pub role: Option<String>,
    /// The fetched fields of the user (nested objects), for `$CURRENT_USER.<path>`.
    pub user_row: Map<String, Value>,
    pub role_row: Map<String, Value>,
}

/// What a text stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    /// Not a variable.
    Literal,
    Value(Value),
    /// `$NOW(…)` that can't be read.
    Malformed,
}

impl Variables {
    /// Resolves one operand. `paths` allows `$CURRENT_USER.<path>`, which only stored rules may use.
    #[must_use]
    pub fn resolve(&self, text: &str, paths: bool) -> Resolved {
        if let Some(rest) = text.strip_prefix("$NOW") {
            let moment = match rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
                Some(adjustment) => adjust(self.now, adjustment),
                None if rest.is_empty() => Some(self.now),
                None => return Resolved::Literal,
            };
            return moment.map_or(Resolved::Malformed, |moment| {
                Resolved::Value(moment.to_rfc3339_opts(SecondsFormat::Millis, true).into())
            });
        }
        for (name, id, row) in
            [("$CURRENT_USER", &self.user, &self.user_row), ("$CURRENT_ROLE", &self.role, &self.role_row)]
        {
            let Some(rest) = text.strip_prefix(name) else { continue };
            if rest.is_empty() {
                return Resolved::Value(id.clone().map_or(Value::Null, Value::String));
            }
            if let Some(path) = rest.strip_prefix('.') {
                return Resolved::Value(if paths { dig(row, path) } else { Value::Null });
            }
        }
        Resolved::Literal
    }

    /// Replaces variables anywhere in a value (presets, validation rules). Lists inside lists are
    /// flattened, so that a to-many path can stand in `_in`.
    #[must_use]
    pub fn substitute(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match self.resolve(text, true) {
                Resolved::Literal => value.clone(),
                Resolved::Value(value) => value,
                Resolved::Malformed => Value::Null,
            },
            Value::Array(items) => {
                let mut out = Vec::with_capacity(items.len());
                for item in items {
                    match (item, self.substitute(item)) {
                        (Value::String(_), Value::Array(many)) => out.extend(many),
                        (_, one) => out.push(one),
                    }
                }
                Value::Array(out)
            }
            Value::Object(map) => {
                Value::Object(map.iter().map(|(key, value)| (key.clone(), self.substitute(value))).collect())
            }
            other => other.clone(),
        }
    }
}

/// The paths of `$CURRENT_USER.…` and `$CURRENT_ROLE.…` in a stored rule, without the prefix.
pub fn collect_paths(value: &Value, user: &mut Vec<String>, role: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            for (prefix, out) in [("$CURRENT_USER.", &mut *user), ("$CURRENT_ROLE.", &mut *role)] {
                if let Some(path) = text.strip_prefix(prefix)
                    && !path.is_empty()
                    && !out.iter().any(|known| known == path)
                {
                    out.push(path.to_owned());
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_paths(item, user, role)),
        Value::Object(map) => map.values().for_each(|item| collect_paths(item, user, role)),
        _ => {}
    }
}

/// A step without the collection it is meant for (many-to-any).
fn plain(step: &str) -> &str {
    step.split_once(':').map_or(step, |(name, _)| name)
}

/// Follows a path; a step through a list collects from its elements.
fn dig(row: &Map<String, Value>, path: &str) -> Value {
    fn step(value: &Value, rest: &[&str]) -> Value {
        let Some((first, rest)) = rest.split_first() else { return value.clone() };
        match value {
            Value::Object(map) => map.get(plain(first)).map_or(Value::Null, |value| step(value, rest)),
            Value::Array(items) => {
                let mut out = Vec::new();
                for item in items {
                    let list: Vec<&str> = std::iter::once(*first).chain(rest.iter().copied()).collect();
                    match step(item, &list) {
                        Value::Array(more) => out.extend(more),
                        one => out.push(one),
                    }
                }
                Value::Array(out)
            }
            _ => Value::Null,
        }
    }
    let parts: Vec<&str> = path.split('.').collect();
    match parts.split_first() {
        Some((first, rest)) => row.get(plain(first)).map_or(Value::Null, |value| step(value, rest)),
        None => Value::Null,
    }
}

/// `-1 week`, `+2.5 hours`, `3` (days).
fn adjust(now: DateTime<Utc>, text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text).trim_start()),
    };
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (text.get(..end)?, text.get(end..)?.trim().to_ascii_lowercase());
    let amount: f64 = number.parse().ok().filter(|amount: &f64| amount.is_finite())?;
    let months = match unit.as_str() {
        "mo" | "mth" | "mths" | "month" | "months" => Some(1.0),
        "y" | "yr" | "yrs" | "year" | "years" => Some(12.0),
        _ => None,
    };
    if let Some(factor) = months {
        let total = (amount * factor).round();
        if !(0.0..=1_200_000.0).contains(&total) {
            return None;
        }
        // In range by the check above.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let months = Months::new(total as u32);
        return if negative { now.checked_sub_months(months) } else { now.checked_add_months(months) };
    }
    let unit_ms = match unit.as_str() {
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 1.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1000.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000.0,
        "" | "d" | "day" | "days" => 86_400_000.0,
        "w" | "week" | "weeks" => 604_800_000.0,
        _ => return None,
    };
    let ms = amount * unit_ms;
    if ms.abs() > 1e15 {
        return None;
    }
    // In range by the check above.
    #[allow(clippy::cast_possible_truncation)]
    let duration = Duration::try_milliseconds(ms.round() as i64)?;
    if negative { now.checked_sub_signed(duration) } else { now.checked_add_signed(duration) }
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;
    use serde_json::json;

    use super::*;

    fn variables() -> Variables {
        let row = json!({"location": "Oslo", "teams": [{"id": 1}, {"id": 2}]});
        Variables {
            now: Utc.with_ymd_and_hms(2024, 3, 31, 12, 0, 0).unwrap(),
            user: Some("u".to_owned()),
            user_row: row.as_object().unwrap().clone(),
            ..Variables::default()
        }
    }

    #[test]
    fn now_takes_adjustments() {
        let variables = variables();
        for (text, expected) in [
            ("$NOW", "2024-03-31T12:00:00.000Z"),
            ("$NOW(-1 month)", "2024-02-29T12:00:00.000Z"),
            ("$NOW(+1.5 hours)", "2024-03-31T13:30:00.000Z"),
            ("$NOW(2)", "2024-04-02T12:00:00.000Z"),
            ("$NOW(-1 YEAR)", "2023-03-31T12:00:00.000Z"),
        ] {
            assert_eq!(variables.resolve(text, false), Resolved::Value(expected.into()), "{text}");
        }
        for text in ["$NOW(later)", "$NOW(1 fortnight)", "$NOW()", "$NOW(99999999999999999999)"] {
            assert_eq!(variables.resolve(text, false), Resolved::Malformed, "{text}");
        }
    }

    #[test]
    fn paths_only_for_rules_and_lists_flatten() {
        let variables = variables();
        assert_eq!(variables.resolve("$CURRENT_USER.location", false), Resolved::Value(Value::Null));
        assert_eq!(variables.resolve("$CURRENT_USER.location", true), Resolved::Value("Oslo".into()));
        assert_eq!(variables.substitute(&json!({"_in": ["$CURRENT_USER.teams.id", 7]})), json!({"_in": [1, 2, 7]}));
        assert_eq!(variables.resolve("$CURRENT_ROLE", true), Resolved::Value(Value::Null));
    }
}
