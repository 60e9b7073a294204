//! Payloads of the wrong shape, and values that don't fit their fields.

use serde_json::{Map, Value, json};
use waymark_tests::each_engine;

use super::{Row, refused, row};

/// Values that the field can't hold.
fn unfit() -> Vec<(&'static str, Vec<Value>)> {
    let (array, object) = (json!([1]), json!({ "a": 1 }));
    let mut fields = vec![
        ("label", vec![json!("x".repeat(41)), json!("a\u{0}b")]),
        ("notes", vec![json!("\u{0}")]),
        (
            "amount",
            vec![
                json!("abc"),
                json!(1.5),
                json!("1.5"),
                json!(2_147_483_648_i64),
                json!(-2_147_483_649_i64),
                json!(1e30),
                json!(""),
            ],
        ),
        ("total", vec![json!("abc"), json!(9_223_372_036_854_775_808_u64), json!("18446744073709551616"), json!(0.5)]),
        ("ratio", vec![json!("abc"), json!("NaN"), json!("Infinity"), json!("1e999")]),
        ("price", vec![json!("abc"), json!(1_000_000), json!("12345678.9"), json!("NaN")]),
        ("active", vec![json!("maybe"), json!(2), json!(1.5)]),
        ("built", vec![json!("soon"), json!("2021-02-29"), json!("2021-13-01"), json!("12:00"), json!("99999-01-01")]),
        ("tested", vec![json!("soon"), json!("2021-02-29T00:00:00"), json!("2021-01-01T25:00:00")]),
        ("opens", vec![json!("noon"), json!("25:00:00"), json!("12:61:00")]),
        ("seen", vec![json!("soon"), json!("2021-02-30T00:00:00Z"), json!("2021-01-01T00:00:00+99:00")]),
        ("serial", vec![json!("abc"), json!(7), json!("zzzzzzzz-0000-0000-0000-000000000000")]),
        ("maker", vec![json!("abc"), json!(1.5), json!(999), json!(true)]),
    ];
    for (name, values) in &mut fields {
        // Texts take the JSON of anything.
        if matches!(*name, "label" | "notes") {
            continue;
        }
        values.push(array.clone());
        if *name != "maker" {
            values.push(object.clone());
        }
    }
    fields.push(("extra", vec![json!({ "k": "\u{0}" }), json!({ "\u{0}": 1 })]));
    fields
}

fn values() -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, values) in unfit() {
        for value in values {
            let body = Map::from_iter([("label".to_owned(), json!("fresh")), (name.to_owned(), value.clone())]);
            rows.push(row("POST", "/items/gadgets", Value::Object(body)));
            rows.push(row("PATCH", "/items/gadgets/1", json!({ name: value })));
        }
    }
    rows
}

fn shapes() -> Vec<Row> {
    let items = "/items/gadgets";
    let good = json!({ "label": "good" });
    let mut rows: Vec<Row> = [
        json!([1]),
        json!([null]),
        json!([[{}]]),
        json!(["a"]),
        json!([good, 1]),
        json!([good, { "label": null }]),
        json!([good, {}]),
        json!([good, { "label": "b", "amount": "x" }]),
        json!([good, { "label": "b", "maker": 999 }]),
        json!([{ "label": "b", "id": 1 }]),
        json!({}),
        json!({ "amount": 1 }),
        json!({ "label": null }),
        json!({ "label": "a", "id": "x" }),
        json!({ "label": "a", "id": [1] }),
        json!({ "label": "a", "id": 1 }),
        json!({ "label": "a", "maker": { "name": 1, "gadgets": 7 } }),
        json!({ "label": "a", "maker": [[]] }),
        json!({ "label": "a", "maker": { "gadgets": { "create": 1 } } }),
    ]
    .map(|body| row("POST", items, body))
    .into();
    for gadgets in [
        json!(7),
        json!("x"),
        json!({ "create": {} }),
        json!({ "create": [1] }),
        json!({ "more": [] }),
        json!({ "update": [{}] }),
        json!({ "delete": 1 }),
        json!({ "delete": [{}] }),
        json!([null]),
        json!([[]]),
        json!([true]),
        json!([999]),
        json!([{ "amount": "x" }]),
    ] {
        rows.push(row("POST", "/items/makers", json!({ "name": "n", "gadgets": gadgets.clone() })));
        rows.push(row("PATCH", "/items/makers/1", json!({ "name": "n", "gadgets": gadgets })));
    }
    for body in [
        json!([1]),
        json!([null]),
        json!([[]]),
        json!([{ "label": "a" }]),
        json!([{ "id": 1, "label": "a" }, { "id": 999, "label": "b" }]),
        json!([{ "id": 1, "label": "a" }, { "id": 2, "label": null }]),
        json!([{ "id": null, "label": "b" }]),
        json!({ "label": "a" }),
        json!({ "data": {} }),
        json!({ "keys": [1] }),
        json!({ "keys": [1], "data": [] }),
        json!({ "keys": [1], "data": 1 }),
        json!({ "keys": 1, "data": { "label": "a" } }),
        json!({ "keys": [1], "query": {}, "data": { "label": "a" } }),
        json!({ "keys": [{}], "data": { "label": "a" } }),
        json!({ "keys": ["x"], "data": { "label": "a" } }),
        json!({ "keys": [1, 999], "data": { "label": "a" } }),
        json!({ "query": 1, "data": { "label": "a" } }),
        json!({ "query": { "filter": { "nope": { "_eq": 1 } } }, "data": { "label": "a" } }),
        json!({ "query": { "limit": -2 }, "data": { "label": "a" } }),
        json!({ "query": { "filter": [] }, "data": { "label": "a" } }),
    ] {
        rows.push(row("PATCH", items, body));
    }
    for body in [
        json!({}),
        json!([null]),
        json!([[1]]),
        json!([{}]),
        json!(["x"]),
        json!({ "keys": 1 }),
        json!({ "keys": {} }),
        json!({ "keys": [null] }),
        json!({ "query": 1 }),
        json!({ "query": [] }),
        json!({ "keys": [1], "query": {} }),
        json!({ "query": { "filter": { "nope": { "_eq": 1 } } } }),
        json!({ "query": { "limit": "x" } }),
        json!({ "ids": [1] }),
    ] {
        rows.push(row("DELETE", items, body));
    }
    for body in [json!([]), json!([{}]), json!([1])] {
        rows.push(row("PATCH", "/items/gadgets/1", body));
    }
    for key in ["x", "1.5", "-", "999", "1,2", "1;2", "%20", "0x1"] {
        rows.push(row("PATCH", format!("/items/gadgets/{key}"), json!({ "label": "a" })));
        rows.push(row("GET", format!("/items/gadgets/{key}"), Value::Null));
    }
    for (method, path) in [
        ("PUT", "/items/gadgets"),
        ("POST", "/items/gadgets/1"),
        ("GET", "/items"),
        ("GET", "/items/gadgets/1/2"),
        ("GET", "/items/nope"),
        ("POST", "/items/nope"),
        ("PATCH", "/items/nope/1"),
        ("DELETE", "/items/nope/1"),
        ("GET", "/items/directus_users"),
        ("POST", "/items/directus_users"),
        ("DELETE", "/items/directus_users/1"),
        ("TRACE", "/items/gadgets"),
        ("SEARCH", "/items/nope"),
    ] {
        rows.push(row(method, path, if method == "POST" { json!({ "label": "a" }) } else { Value::Null }));
    }
    rows
}

each_engine! {
    async fn values_that_do_not_fit_their_field_are_refused(kind) {
        refused(kind, values()).await;
    }

    async fn payloads_of_the_wrong_shape_are_refused(kind) {
        refused(kind, shapes()).await;
    }
}
