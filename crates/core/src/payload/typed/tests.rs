//! What each type takes and refuses.

use serde_json::{Value, json};

use super::{Typed, for_comparison, for_storage};
use crate::{
    error::Code,
    schema::{Column, Field, FieldType, SpecialSet},
};

fn field(kind: FieldType, column: Column) -> Field {
    Field {
        name: "f".into(),
        kind,
        special: SpecialSet::default(),
        column: Some(column),
        validation: None,
        validation_message: None,
        meta: None,
    }
}

fn plain(kind: FieldType) -> Field {
    field(kind, Column::default())
}

/// The value as it would be stored, in a form that is easy to write down.
fn stored(field: &Field, text: &str) -> Result<String, Code> {
    let value: Value = serde_json::from_str(text).unwrap();
    for_storage(field, &value)
        .map(|typed| match typed {
            Typed::Null => "null".to_owned(),
            Typed::Bool(flag) => flag.to_string(),
            Typed::Int(number) => number.to_string(),
            Typed::Float(number) => number.to_string(),
            Typed::Decimal(text) | Typed::Text(text) => text,
            Typed::Uuid(id) => id.to_string(),
            Typed::Date(date) => date.to_string(),
            Typed::Time(time) => time.to_string(),
            Typed::DateTime(moment) => moment.format("%Y-%m-%dT%H:%M:%S%.f").to_string(),
            Typed::Timestamp(moment) => moment.format("%Y-%m-%dT%H:%M:%S%.fZ").to_string(),
            Typed::Json(value) => value.to_string(),
            Typed::Bytes(bytes) => format!("{bytes:?}"),
        })
        .map_err(|mismatch| mismatch.code)
}

const REFUSED: Code = Code::InvalidPayload;
const RANGE: Code = Code::ValueOutOfRange;

#[track_caller]
fn check(field: &Field, cases: &[(&str, Result<&str, Code>)]) {
    for (text, expected) in cases {
        assert_eq!(stored(field, text), expected.map(str::to_owned), "{:?} {text}", field.kind);
    }
}

#[test]
fn integers() {
    let cases = [
        ("12", Ok("12")),
        ("\"12\"", Ok("12")),
        ("\" -7 \"", Ok("-7")),
        ("1.0", Ok("1")),
        ("1e3", Ok("1000")),
        ("1.50e1", Ok("15")),
        ("-0", Ok("0")),
        ("-0.0", Ok("0")),
        ("2147483647", Ok("2147483647")),
        ("-2147483648", Ok("-2147483648")),
        ("2147483648", Err(RANGE)),
        ("1000000000000000.0", Err(RANGE)),
        ("1e1000000000", Err(RANGE)),
        ("1e99999999999999999999", Err(RANGE)),
        ("1.5", Err(REFUSED)),
        ("1e-1", Err(REFUSED)),
        ("\"1.5\"", Err(REFUSED)),
        ("\"1e3\"", Err(REFUSED)),
        ("\"\"", Err(REFUSED)),
        ("\"-\"", Err(REFUSED)),
        ("\"word\"", Err(REFUSED)),
        ("true", Err(REFUSED)),
        ("{\"a\":1}", Err(REFUSED)),
        ("[1]", Err(REFUSED)),
        ("null", Ok("null")),
    ];
    check(&plain(FieldType::Integer), &cases);
}

#[test]
fn integer_ranges_follow_the_column() {
    let typed = |data_type: &str, unsigned| {
        field(FieldType::Integer, Column { data_type: data_type.to_owned(), unsigned, ..Column::default() })
    };
    check(&typed("smallint", false), &[("32767", Ok("32767")), ("32768", Err(RANGE))]);
    check(&typed("mediumint", false), &[("8388607", Ok("8388607")), ("8388608", Err(RANGE))]);
    check(&typed("tinyint unsigned", false), &[("255", Ok("255")), ("256", Err(RANGE)), ("-1", Err(RANGE))]);
    check(&typed("int", true), &[("4294967295", Ok("4294967295")), ("-1", Err(RANGE))]);
    check(&typed("int8", false), &[("2147483648", Ok("2147483648"))]);
    let big = plain(FieldType::BigInteger);
    check(&big, &[("\"9223372036854775807\"", Ok("9223372036854775807")), ("\"9223372036854775808\"", Err(RANGE))]);
    check(&big, &[("12345678901234567890", Err(RANGE)), ("-9223372036854775808", Ok("-9223372036854775808"))]);
}

#[test]
fn comparison_ignores_the_column_range_but_not_64_bits() {
    let small = plain(FieldType::Integer);
    assert_eq!(for_comparison(&small, &json!(3_000_000_000_i64)), Ok(Typed::Int(3_000_000_000)));
    let beyond = serde_json::from_str("12345678901234567890").unwrap();
    assert_eq!(for_comparison(&small, &beyond).unwrap_err().code, REFUSED);
    let short = field(FieldType::String, Column { max_length: Some(2), ..Column::default() });
    assert_eq!(for_comparison(&short, &json!("abc")), Ok(Typed::Text("abc".into())));
}

#[test]
fn floats() {
    let cases = [
        ("0.1", Ok("0.1")),
        ("\"1.5\"", Ok("1.5")),
        ("1e400", Err(RANGE)),
        ("\"inf\"", Err(REFUSED)),
        ("\"NaN\"", Err(REFUSED)),
        ("\"word\"", Err(REFUSED)),
        ("true", Err(REFUSED)),
    ];
    check(&plain(FieldType::Float), &cases);
}

#[test]
fn decimals_never_lose_digits() {
    let money = Column { numeric_precision: Some(6), numeric_scale: Some(2), ..Column::default() };
    let cases = [
        ("1234.5", Ok("1234.5")),
        ("9999.99", Ok("9999.99")),
        ("\"1.005\"", Ok("1.01")),
        ("-1.005", Ok("-1.01")),
        ("\"12.30\"", Ok("12.30")),
        ("-0.01", Ok("-0.01")),
        ("-0.001", Ok("0")),
        ("0.999", Ok("1")),
        ("5e-3", Ok("0.01")),
        ("1e-1000000000", Ok("0")),
        ("0", Ok("0")),
        ("1e3", Ok("1000")),
        ("10000", Err(RANGE)),
        ("9999.995", Err(RANGE)),
        ("1e1000000000", Err(RANGE)),
        ("\"word\"", Err(REFUSED)),
        ("true", Err(REFUSED)),
    ];
    check(&field(FieldType::Decimal, money), &cases);
    let digits = "\"12345678901234567890123.000000000000000000045\"";
    check(&plain(FieldType::Decimal), &[(digits, Ok(digits.trim_matches('"')))]);
}

#[test]
fn booleans_and_uuids() {
    let cases = [
        ("true", Ok("true")),
        ("0", Ok("false")),
        ("1", Ok("true")),
        ("\"false\"", Ok("false")),
        ("\"1\"", Ok("true")),
        ("2", Err(REFUSED)),
        ("\"maybe\"", Err(REFUSED)),
    ];
    check(&plain(FieldType::Boolean), &cases);
    let cases = [
        ("\"AAAAAAAA-0000-4000-8000-0000000000AB\"", Ok("aaaaaaaa-0000-4000-8000-0000000000ab")),
        ("\"aaaaaaaa0000400080000000000000ab\"", Err(REFUSED)),
        ("5", Err(REFUSED)),
    ];
    check(&plain(FieldType::Uuid), &cases);
}

#[test]
fn dates_and_times() {
    let cases = [
        ("\"2024-02-29\"", Ok("2024-02-29")),
        ("\"2024-02-29T23:30:00-05:00\"", Ok("2024-02-29")),
        ("\"2024-13-45\"", Err(REFUSED)),
        ("\"2023-02-29\"", Err(REFUSED)),
        ("\"yesterday\"", Err(REFUSED)),
        ("\"ýýýýýýý\"", Err(REFUSED)),
        ("\"\"", Err(REFUSED)),
        ("true", Err(REFUSED)),
    ];
    check(&plain(FieldType::Date), &cases);
    let cases = [
        ("\"10:30:15\"", Ok("10:30:15")),
        ("\"10:30\"", Ok("10:30:00")),
        ("\"10:30:15.5\"", Ok("10:30:15.500")),
        ("\"25:00:00\"", Err(REFUSED)),
        ("\"noon\"", Err(REFUSED)),
    ];
    check(&plain(FieldType::Time), &cases);
    let cases = [
        ("\"2024-02-29T10:30:15\"", Ok("2024-02-29T10:30:15")),
        ("\"2024-02-29 10:30\"", Ok("2024-02-29T10:30:00")),
        ("\"2024-02-29\"", Ok("2024-02-29T00:00:00")),
        ("\"2024-02-29T10:30:15+02:00\"", Ok("2024-02-29T08:30:15")),
        ("1709202615000", Ok("2024-02-29T10:30:15")),
        ("1709202615000.5", Err(REFUSED)),
        ("\"soon\"", Err(REFUSED)),
    ];
    check(&plain(FieldType::DateTime), &cases);
    let cases = [
        ("\"2024-02-29T10:30:15Z\"", Ok("2024-02-29T10:30:15Z")),
        ("\"2024-02-29T10:30:15.1239+0200\"", Ok("2024-02-29T08:30:15.123Z")),
        ("\"2024-02-29T10:30:15\"", Ok("2024-02-29T10:30:15Z")),
        ("\"2024-02-29\"", Ok("2024-02-29T00:00:00Z")),
        ("\"2024-02-29T10:30:15+99:00\"", Err(REFUSED)),
        ("\"2024-02-29Tnow\"", Err(REFUSED)),
    ];
    check(&plain(FieldType::Timestamp), &cases);
}

#[test]
fn json_lists_and_texts() {
    let cases = [
        ("\"{\\\"as\\\":\\\"text\\\"}\"", Ok("{\"as\":\"text\"}")),
        ("\"[1,2\"", Ok("\"[1,2\"")),
        ("\"5\"", Ok("\"5\"")),
        ("5.10", Ok("5.10")),
        ("{\"a\":\"\\u0000\"}", Err(REFUSED)),
    ];
    check(&plain(FieldType::Json), &cases);
    let cases = [
        ("[\"p\",2,true]", Ok("p,2,true")),
        ("\"p,q\"", Ok("p,q")),
        ("[]", Ok("")),
        ("[[1]]", Err(REFUSED)),
        ("{}", Err(REFUSED)),
    ];
    check(&plain(FieldType::Csv), &cases);
    let short = field(FieldType::String, Column { max_length: Some(4), ..Column::default() });
    let cases = [
        ("5", Ok("5")),
        ("true", Ok("true")),
        ("\"éééé\"", Ok("éééé")),
        ("\"ééééé\"", Err(Code::ValueTooLong)),
        ("\"a\\u0000b\"", Err(REFUSED)),
        ("[1]", Ok("[1]")),
    ];
    check(&short, &cases);
}

#[test]
fn refusals_name_the_field_only() {
    let short = field(FieldType::String, Column { max_length: Some(1), ..Column::default() });
    let error = for_storage(&short, &json!("secret")).unwrap_err().into_error("c", "f");
    let problem = error.problems().next().unwrap();
    assert_eq!(Value::Object(problem.extensions.clone()), json!({"collection": "c", "field": null}));
    assert!(problem.message.contains("\"f\"") && !problem.message.contains("secret"));
    let error = for_storage(&plain(FieldType::Date), &json!("x")).unwrap_err().into_error("c", "f");
    assert!(error.problems().next().unwrap().extensions.is_empty());
}
