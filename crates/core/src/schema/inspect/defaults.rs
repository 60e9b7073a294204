//! Column defaults: the catalogue's text → a JSON value of the field's type, or an expression.

use serde_json::{Number, Value};

use super::super::{Column, FieldType};

/// How a literal is written down in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// SQL text in which a quote is doubled (PostgreSQL, SQLite).
    Sql,
    /// SQL text with backslash escapes (MariaDB, expressions of MySQL).
    Backslash,
    /// The bare value (constants of MySQL).
    Bare,
}

/// Fills in the members of a column that tell of its default.
pub(super) fn apply(column: &mut Column, kind: FieldType, text: Option<&str>, spelling: Spelling) {
    let Some(text) = text.map(str::trim).filter(|text| spelling == Spelling::Bare || !text.is_empty()) else { return };
    if spelling == Spelling::Bare {
        column.has_default = true;
        column.default = Some(to_json(kind, bit_literal(text).unwrap_or(text)));
        return;
    }
    match literal(text, spelling) {
        Some(Literal::Null) => {}
        Some(Literal::Value(value)) => {
            column.has_default = true;
            column.default = Some(to_json(kind, &value));
        }
        None => {
            column.has_default = true;
            if text.to_lowercase().starts_with("nextval(") {
                column.auto_increment = true;
            } else {
                column.default_expression = Some(expression(text));
            }
        }
    }
}

/// A default again, for a field that a special gave another type.
pub(crate) fn retyped(kind: FieldType, default: &Value) -> Value {
    match default {
        Value::String(text) => to_json(kind, text),
        Value::Number(number) if kind == FieldType::Boolean => to_json(kind, &number.to_string()),
        other => other.clone(),
    }
}

enum Literal {
    Null,
    Value(String),
}

/// Reads `'text'`, `'text'::type`, `(…)`, numbers, `true`, `NULL`; `None` for everything else.
fn literal(text: &str, spelling: Spelling) -> Option<Literal> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('(') {
        let (inner, after) = matching_parenthesis(rest)?;
        return is_cast(after).then(|| literal(inner, spelling)).flatten();
    }
    let (text, spelling) = match text.strip_prefix(['E', 'e']) {
        Some(rest) if rest.starts_with('\'') => (rest, Spelling::Backslash),
        _ => (text.strip_prefix("_utf8mb4").unwrap_or(text), spelling),
    };
    for quote in ['\'', '"'] {
        if let Some(rest) = text.strip_prefix(quote) {
            let (value, after) = quoted(rest, quote, spelling)?;
            return is_cast(after).then_some(Literal::Value(value));
        }
    }
    let (bare, cast) = text.split_once("::").unwrap_or((text, ""));
    let bare = bare.trim();
    if !is_cast(&format!("::{cast}")) {
        return None;
    }
    match bare.to_ascii_lowercase().as_str() {
        "null" => Some(Literal::Null),
        "true" | "false" => Some(Literal::Value(bare.to_ascii_lowercase())),
        _ => match bit_literal(bare) {
            Some(bit) => Some(Literal::Value(bit.to_owned())),
            None => number(bare).map(|_| Literal::Value(bare.to_owned())),
        },
    }
}

/// Nothing, or PostgreSQL's `::type name(1,2)[]`.
fn is_cast(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || text
            .strip_prefix("::")
            .is_some_and(|name| name.chars().all(|letter| letter.is_alphanumeric() || " _.,()[]\":".contains(letter)))
}

fn matching_parenthesis(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1_u32;
    let mut inside_quotes = false;
    for (position, letter) in text.char_indices() {
        match letter {
            '\'' => inside_quotes = !inside_quotes,
            '(' if !inside_quotes => depth += 1,
            ')' if !inside_quotes => {
                depth -= 1;
                if depth == 0 {
                    let after = text.get(position + 1..)?;
                    return Some((text.get(..position)?, after));
                }
            }
            _ => {}
        }
    }
    None
}

/// The value of a quoted text whose opening quote is gone, and what follows it.
fn quoted(text: &str, quote: char, spelling: Spelling) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((position, letter)) = letters.next() {
        if letter == quote {
            if letters.next_if(|(_, next)| *next == quote).is_some() {
                value.push(quote);
                continue;
            }
            return Some((value, text.get(position + quote.len_utf8()..)?));
        }
        if letter == '\\' && spelling == Spelling::Backslash {
            let (_, escaped) = letters.next()?;
            value.push(match escaped {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                other => other,
            });
            continue;
        }
        value.push(letter);
    }
    None
}

/// `b'1'` → `1`.
fn bit_literal(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("b'")?.strip_suffix('\'')?;
    digits.bytes().all(|digit| matches!(digit, b'0' | b'1')).then_some(digits)
}

/// `now()`, `current_timestamp()` and their like are spelled alike on all engines.
fn expression(text: &str) -> String {
    let lower = text.trim_matches(['(', ')']).trim().to_lowercase();
    match lower.as_str() {
        "current_timestamp" | "now" => "CURRENT_TIMESTAMP".to_owned(),
        _ => match lower.strip_prefix("current_timestamp(") {
            Some(digits) if digits.parse::<u8>().is_ok() => format!("CURRENT_TIMESTAMP({digits})"),
            _ => text.to_owned(),
        },
    }
}

/// The text of a constant as a JSON value of the type; as a text when it isn't one.
fn to_json(kind: FieldType, text: &str) -> Value {
    let as_text = || Value::String(text.to_owned());
    match kind {
        FieldType::Integer | FieldType::BigInteger | FieldType::Float | FieldType::Decimal => {
            number(text.trim()).map_or_else(as_text, Value::Number)
        }
        FieldType::Boolean => match text.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "t" => Value::Bool(true),
            "0" | "false" | "f" => Value::Bool(false),
            _ => as_text(),
        },
        FieldType::Json => serde_json::from_str(text).unwrap_or_else(|_| as_text()),
        FieldType::Uuid => Value::String(text.to_lowercase()),
        _ => as_text(),
    }
}

/// A number as JSON writes it: no plus sign, a digit before the point, no zeros after the last decimal.
fn number(text: &str) -> Option<Number> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", text.get(1..)?),
        b'+' => ("", text.get(1..)?),
        _ => ("", text),
    };
    let mut digits = digits.trim_start().to_owned();
    if !digits.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') {
        return None;
    }
    if digits.contains('.') && !digits.contains(['e', 'E']) {
        digits = digits.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let digits = match digits.trim_start_matches('0') {
        rest if rest.starts_with(|letter: char| letter.is_ascii_digit()) => rest.to_owned(),
        rest => format!("0{rest}"),
    };
    format!("{sign}{digits}").parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(kind: FieldType, text: &str, spelling: Spelling) -> Column {
        let mut column = Column::default();
        apply(&mut column, kind, Some(text), spelling);
        column
    }

    fn value(kind: FieldType, text: &str, spelling: Spelling) -> Option<Value> {
        parsed(kind, text, spelling).default
    }

    #[test]
    fn constants_become_values_of_the_type() {
        use FieldType::{BigInteger, Boolean, Date, Decimal, Integer, Json, String, Unknown};
        use Spelling::{Backslash, Bare, Sql};
        assert_eq!(value(String, "'amber'::character varying", Sql), Some(json!("amber")));
        assert_eq!(value(String, "'it''s'", Sql), Some(json!("it's")));
        assert_eq!(value(String, r"'it\'s'", Backslash), Some(json!("it's")));
        assert_eq!(value(String, r"E'a\\b'::text", Sql), Some(json!(r"a\b")));
        assert_eq!(value(String, r"'a\b'", Sql), Some(json!(r"a\b")));
        assert_eq!(value(String, "''::character varying", Sql), Some(json!("")));
        assert_eq!(value(String, "", Bare), Some(json!("")));
        assert_eq!(value(String, "5", Sql), Some(json!("5")));
        assert_eq!(value(Integer, "10", Sql), Some(json!(10)));
        assert_eq!(value(Integer, "'-1'::integer", Sql), Some(json!(-1)));
        assert_eq!(value(Integer, "(-1)", Sql), Some(json!(-1)));
        assert_eq!(value(BigInteger, "'9007199254740993'::bigint", Sql), Some("9007199254740993".parse().unwrap()));
        assert_eq!(value(Decimal, "1.50000", Backslash), Some("1.5".parse().unwrap()));
        assert_eq!(value(Decimal, "(0)::numeric", Sql), Some(json!(0)));
        assert_eq!(value(Decimal, ".5", Sql), Some("0.5".parse().unwrap()));
        assert_eq!(value(Boolean, "true", Sql), Some(json!(true)));
        assert_eq!(value(Boolean, "0", Bare), Some(json!(false)));
        assert_eq!(value(Boolean, "b'1'", Bare), Some(json!(true)));
        assert_eq!(value(Json, r#"'{"a": 1}'::json"#, Sql), Some(json!({"a": 1})));
        assert_eq!(value(Json, r#"_utf8mb4'{"a": 1}'"#, Backslash), Some(json!({"a": 1})));
        assert_eq!(value(Date, "'2024-05-05'::date", Sql), Some(json!("2024-05-05")));
        assert_eq!(value(Unknown, "'{}'::text[]", Sql), Some(json!("{}")));
    }

    #[test]
    fn expressions_stay_expressions() {
        for text in ["now()", "CURRENT_TIMESTAMP", "current_timestamp()", "(CURRENT_TIMESTAMP)"] {
            let column = parsed(FieldType::Timestamp, text, Spelling::Sql);
            assert_eq!(column.default_expression.as_deref(), Some("CURRENT_TIMESTAMP"), "{text}");
            assert!(column.has_default && column.default.is_none());
        }
        let precise = parsed(FieldType::Timestamp, "current_timestamp(3)", Spelling::Backslash);
        assert_eq!(precise.default_expression.as_deref(), Some("CURRENT_TIMESTAMP(3)"));
        let other = parsed(FieldType::Uuid, "gen_random_uuid()", Spelling::Sql);
        assert_eq!(other.default_expression.as_deref(), Some("gen_random_uuid()"));
        let sum = parsed(FieldType::Integer, "1 + 1", Spelling::Sql);
        assert!(sum.default.is_none() && sum.default_expression.is_some());
        let joined = parsed(FieldType::String, "'a' || 'b'", Spelling::Sql);
        assert!(joined.default.is_none());
    }

    #[test]
    fn sequences_and_nulls() {
        let serial = parsed(FieldType::Integer, "nextval('a_id_seq'::regclass)", Spelling::Sql);
        assert!(serial.auto_increment && serial.default_expression.is_none());
        let null = parsed(FieldType::String, "NULL::character varying", Spelling::Sql);
        assert!(!null.has_default);
        assert!(!parsed(FieldType::String, "NULL", Spelling::Backslash).has_default);
    }
}
