//! The text forms of settings: durations, sizes, lists, type prefixes.

use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Reads `15m`, `7d`, `1.5h`, `500ms`; a bare number is milliseconds.
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    let milliseconds = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 1.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1e3,
        "m" | "min" | "mins" | "minute" | "minutes" => 6e4,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3.6e6,
        "d" | "day" | "days" => 8.64e7,
        "w" | "week" | "weeks" => 6.048e8,
        "y" | "yr" | "yrs" | "year" | "years" => 3.155_76e10,
        _ => return None,
    };
    let total = number * milliseconds;
    // beyond a thousand years there is no sensible meaning, and arithmetic on instants would fail
    (0.0..=3.2e13).contains(&total).then(|| Duration::from_millis(total.round() as u64))
}

/// Reads `1mb`, `512kb`, `2 GB`, `100` (bytes); units are powers of 1024.
#[must_use]
pub fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" | "k" => 1024.0,
        "mb" | "m" => 1024.0 * 1024.0,
        "gb" | "g" => 1024.0 * 1024.0 * 1024.0,
        "tb" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let total = number * factor;
    (0.0..9e15).contains(&total).then_some(total as u64)
}

/// Reads `true`/`false`, `1`/`0`.
#[must_use]
pub fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" | "" => Some(false),
        _ => None,
    }
}

/// Splits a type prefix off: `string:0123` is the text `0123`.
#[must_use]
pub fn prefix(text: &str) -> (Option<&'static str>, &str) {
    for (prefix, name) in
        [("string:", "string"), ("number:", "number"), ("array:", "array"), ("json:", "json"), ("regex:", "regex")]
    {
        if let Some(rest) = text.strip_prefix(prefix) {
            return (Some(name), rest);
        }
    }
    (None, text)
}

/// Encodes a part of a URL.
#[must_use]
pub fn percent(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// What a value looks like, without telling it: for error lines.
#[must_use]
pub fn shape(text: &str) -> String {
    if text.is_empty() {
        "an empty text".to_owned()
    } else if text.trim().parse::<f64>().is_ok() {
        "a number".to_owned()
    } else if boolean(text).is_some() {
        "a boolean".to_owned()
    } else {
        format!("a text of {} characters", text.chars().count())
    }
}
