//! Whatever a client sends as a query, parsing ends quickly and without a panic.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};
use waymark_core::query::{
    QueryLimits,
    filter::{self, Source},
    parse,
};

const NAMES: &[&str] = &[
    "fields",
    "filter",
    "sort",
    "limit",
    "offset",
    "page",
    "search",
    "meta",
    "aggregate",
    "groupBy",
    "group",
    "alias",
    "deep",
    "export",
    "_and",
    "_or",
    "_eq",
    "_in",
    "_between",
    "_some",
    "_none",
    "_null",
    "_filter",
    "_limit",
    "_sort",
    "title",
    "author",
    "*",
    "year(date)",
    "count(",
    "item:pages",
    "$NOW(-1 day)",
    "$FOLLOW(a,b)",
    "$CURRENT_USER",
    "",
    "0",
    "1",
    "999",
    "-1",
    "a.b.c",
    ".",
    "..",
    "\u{e9}",
    "-",
    "?",
    "9223372036854775808",
    "1e400",
    "{\"a\":{\"_eq\":1}}",
    "[",
    "{",
    "null",
    "true",
    ",",
    ",,",
];

fn name() -> impl Strategy<Value = String> {
    prop_oneof![4 => prop::sample::select(NAMES).prop_map(str::to_owned), 1 => ".{0,12}"]
}

/// Something that looks like a query string.
fn likely_query() -> impl Strategy<Value = String> {
    let parameter = (name(), vec(name(), 0..6), name()).prop_map(|(first, keys, value)| {
        let mut text = first;
        for key in keys {
            let _ = write!(text, "[{key}]");
        }
        format!("{text}={value}")
    });
    vec(parameter, 0..8).prop_map(|parameters| parameters.join("&"))
}

/// Any JSON, with a liking for the words of the query language.
fn likely_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        name().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::Array),
            vec((name(), inner), 0..6).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>()) {
        let _ = parse::from_url(&text, &QueryLimits::default());
    }

    #[test]
    fn any_likely_query_is_parsed_or_refused(text in likely_query()) {
        let _ = parse::from_url(&text, &QueryLimits::default());
    }

    #[test]
    fn any_json_is_parsed_or_refused(value in likely_json()) {
        let limits = QueryLimits::default();
        let _ = parse::from_json(&value, &limits);
        for name in ["filter", "deep", "aggregate", "alias", "fields", "sort", "limit", "groupBy", "meta"] {
            let _ = parse::from_json(&json!({ name: value }), &limits);
            let _ = parse::from_json(&json!({ name: value.to_string() }), &limits);
        }
        for source in [Source::Request, Source::Rule] {
            let _ = filter::parse(&value, source, &limits);
        }
    }
}

/// The fastest of a few runs.
fn time(text: &str) -> Duration {
    let once = || {
        let start = Instant::now();
        let _ = std::hint::black_box(parse::from_url(std::hint::black_box(text), &QueryLimits::default()));
        start.elapsed()
    };
    (0..7).map(|_| once()).min().unwrap_or_default()
}

#[test]
fn time_grows_with_the_length_only() {
    type Shape = (&'static str, fn(usize) -> String);
    let shapes: [Shape; 8] = [
        ("one long name", |size| "a".repeat(size)),
        ("one long value", |size| format!("search={}", "%41".repeat(size / 3))),
        ("brackets", |size| format!("filter{}=1", "[a]".repeat(size / 3))),
        ("open brackets", |size| format!("filter{}=1", "[".repeat(size))),
        ("commas", |size| format!("fields={}", ",".repeat(size))),
        ("fields", |size| format!("fields={}", "ab,".repeat(size / 3))),
        ("dots", |size| format!("fields={}", ".".repeat(size))),
        ("an operand list", |size| format!("filter[a][_in]={}", "1,".repeat(size / 2))),
    ];
    for (name, shape) in shapes {
        let (small, large) = (time(&shape(6_000)), time(&shape(96_000)));
        // 16 times the length; what a small one costs is rounded up, clocks are coarse.
        let bound = small.max(Duration::from_millis(5)) * 40;
        assert!(large <= bound, "{name}: {small:?} for 6 kB, {large:?} for 96 kB");
    }
}
