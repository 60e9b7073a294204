//! Query parameters that nobody can understand.

use serde_json::{Value, json};
use waymark_tests::each_engine;

use super::{Row, encoded, refused, row};

const TWO_63: &str = "9223372036854775808";
const TWO_64: &str = "18446744073709551616";

fn get(query: impl AsRef<str>) -> Row {
    row("GET", format!("/items/gadgets?{}", query.as_ref()), Value::Null)
}

fn search(query: Value) -> Row {
    row("SEARCH", "/items/gadgets", json!({ "query": query }))
}

fn urls() -> Vec<Row> {
    let long = "n".repeat(10_000);
    let deep_json = format!("{}{{}}{}", "{\"_and\":[".repeat(1000), "]}".repeat(1000));
    let deep_relations = format!("{}{{\"_eq\":1}}{}", "{\"maker\":{\"gadgets\":".repeat(500), "}}".repeat(500));
    let mut rows: Vec<Row> = [
        "limit=-2",
        "limit=x",
        "limit=1.5",
        "limit=1e3",
        "limit[]=x",
        "limit[a]=1",
        "limit=0x10",
        "offset=-1",
        "offset=a",
        "page=-1",
        "page=one",
        "page[]=a",
        "meta=everything",
        "meta[a]=b",
        "export=pdf",
        "export[]=csv",
        "filter=x",
        "filter=%5B%5D",
        "filter=1",
        "filter=%22a%22",
        "filter[]=a",
        "filter=%7B",
        "filter[nope][_eq]=1",
        "filter[label][_about]=1",
        "filter[amount][_eq]=abc",
        "filter[amount][_eq]=1.5",
        "filter[amount][_gt]=",
        "filter[amount][_between]=1",
        "filter[amount][_between]=1,2,3",
        "filter[amount][_in]=",
        "filter[amount][_in]=a,b",
        "filter[amount][_contains]=1",
        "filter[active][_eq]=maybe",
        "filter[active][_lt]=true",
        "filter[built][_eq]=tomorrow",
        "filter[built][_gt]=2020-02-30",
        "filter[tested][_lt]=25:00",
        "filter[opens][_eq]=noon",
        "filter[serial][_eq]=abc",
        "filter[extra][_eq]=1",
        "filter[pin][_eq]=9876",
        "filter[pin][_contains]=9",
        "filter[pin][_starts_with]=9",
        "filter[_and]=1",
        "filter[_or][a]=b",
        "filter[_and][0]=x",
        "filter[label][_null]=perhaps",
        "filter[label][_eq][a]=1",
        "filter[maker][_some][name][_eq]=Ada",
        "filter[maker][nope][_eq]=1",
        "filter[label][name][_eq]=1",
        "filter[year(amount)][_eq]=1",
        "filter[nope(built)][_eq]=1",
        "filter[year(built)][_eq]=x",
        "filter[count(label)][_eq]=1",
        "filter[seen][_gt]=$NOW(soon)",
        "filter[label",
        "filter[label]x=1",
        "filter=a&filter[b]=c",
        "sort=nope",
        "sort=-",
        "sort=?",
        "sort[a]=b",
        "sort=label.name",
        "sort=maker.nope",
        "sort=year(label)",
        "sort=--label",
        "groupBy=nope",
        "groupBy=maker.name",
        "groupBy[a]=b",
        "groupBy=hour(built)",
        "aggregate[total]=amount",
        "aggregate=x",
        "aggregate[sum]=nope",
        "aggregate[sum]=label",
        "aggregate[avg]=active",
        "aggregate[sum][a]=1",
        "aggregate[count]=maker.name",
        "aggregate[sum]=*",
        "aggregate[min]=extra",
        "alias=x",
        "alias[a.b]=label",
        "alias[a]=maker.name",
        "alias[a][b]=label",
        "deep=x",
        "deep[maker][_filter]=x",
        "deep[maker][_limit]=-5",
        "deep[maker][_sort]=nope&fields=maker.name",
        "deep[maker][_filter][nope][_eq]=1&fields=maker.name",
        "search[a]=b",
        "search[]=a",
        "fields[a]=b",
        "fields=year(label)",
        "fields=nope(built)",
        "fields=count(amount)",
        "fields=maker.gadgets.maker.gadgets.maker.gadgets.maker.gadgets.maker.gadgets.maker.name",
        "sort=maker.gadgets.maker.gadgets.maker.gadgets.maker.gadgets.maker.gadgets.maker.name",
    ]
    .map(get)
    .into();
    for number in [TWO_63, TWO_64, "-9223372036854775809", "99999999999999999999999999"] {
        for name in ["limit", "offset", "page", "filter[amount][_eq]", "filter[total][_eq]", "filter[amount][_in][0]"] {
            rows.push(get(format!("{name}={number}")));
        }
        rows.push(row("GET", format!("/items/gadgets/{number}"), Value::Null));
    }
    for name in [
        "filter[{}][_eq]=1",
        "sort={}",
        "groupBy={}",
        "aggregate[sum]={}",
        "aggregate[{}]=amount",
        "meta={}",
        "export={}",
    ] {
        rows.push(get(name.replace("{}", &long)));
    }
    rows.push(row("GET", format!("/items/{long}"), Value::Null));
    rows.push(row("GET", format!("/items/gadgets/{long}"), Value::Null));
    rows.push(row("GET", format!("/{long}"), Value::Null));
    rows.push(get(format!("filter={}", encoded(&deep_json))));
    rows.push(get(format!("filter={}", encoded(&deep_relations))));
    rows.push(get(format!("filter{}[label][_eq]=1", "[_and][0]".repeat(1000))));
    rows.push(get(format!("filter{}[name][_eq]=1", "[maker][gadgets]".repeat(500))));
    rows.push(get(format!("deep{}[_limit]=1", "[maker][gadgets]".repeat(500))));
    rows.push(get("a=1&".repeat(1001)));
    rows
}

fn bodies() -> Vec<Row> {
    let mut rows: Vec<Row> = [
        json!([]),
        json!(1),
        json!("limit"),
        json!({ "limit": -2 }),
        json!({ "limit": 1.5 }),
        json!({ "limit": true }),
        json!({ "limit": [1] }),
        json!({ "limit": 9_223_372_036_854_775_808_u64 }),
        json!({ "offset": -1 }),
        json!({ "offset": {} }),
        json!({ "page": "x" }),
        json!({ "meta": { "a": 1 } }),
        json!({ "meta": 1 }),
        json!({ "fields": { "a": 1 } }),
        json!({ "fields": [1] }),
        json!({ "fields": [["label"]] }),
        json!({ "fields": 7 }),
        json!({ "sort": [null] }),
        json!({ "sort": { "label": "asc" } }),
        json!({ "filter": [] }),
        json!({ "filter": 1 }),
        json!({ "filter": { "label": [] } }),
        json!({ "filter": { "_and": {} } }),
        json!({ "filter": { "_or": "x" } }),
        json!({ "filter": { "_and": [1] } }),
        json!({ "filter": { "_and": [[{}]] } }),
        json!({ "filter": { "label": { "_in": [] } } }),
        json!({ "filter": { "label": { "_in": {} } } }),
        json!({ "filter": { "label": { "_in": [[1]] } } }),
        json!({ "filter": { "label": { "_eq": {} } } }),
        json!({ "filter": { "label": { "_eq": ["a"] } } }),
        json!({ "filter": { "label": { "_contains": [] } } }),
        json!({ "filter": { "label": { "_eq": "a\u{0}" } } }),
        json!({ "filter": { "amount": { "_between": [1] } } }),
        json!({ "filter": { "amount": { "_between": [1, 2, 3] } } }),
        json!({ "filter": { "amount": { "_between": { "a": 1 } } } }),
        json!({ "filter": { "amount": { "_eq": true } } }),
        json!({ "filter": { "amount": { "_eq": 1.5 } } }),
        json!({ "filter": { "amount": { "_lt": 18_446_744_073_709_551_615_u64 } } }),
        json!({ "filter": { "active": { "_eq": 2 } } }),
        json!({ "filter": { "label": { "_null": 7 } } }),
        json!({ "filter": { "\u{0}": { "_eq": 1 } } }),
        json!({ "search": {} }),
        json!({ "search": ["a"] }),
        json!({ "search": "\u{0}" }),
        json!({ "alias": [] }),
        json!({ "alias": { "a": 1 } }),
        json!({ "alias": { "": "label" } }),
        json!({ "deep": [] }),
        json!({ "deep": { "maker": { "_filter": 1 } } }),
        json!({ "deep": { "maker": { "_limit": "x" } } }),
        json!({ "aggregate": [] }),
        json!({ "aggregate": { "sum": { "a": "b" } } }),
        json!({ "aggregate": { "sum": 1 } }),
        json!({ "aggregate": { "sum": ["nope"] } }),
        json!({ "groupBy": { "a": 1 } }),
        json!({ "groupBy": [1] }),
        json!({ "export": 1 }),
    ]
    .map(search)
    .into();
    for body in [
        json!([1]),
        json!([]),
        json!({ "query": 1 }),
        json!({ "keys": 1 }),
        json!({ "keys": {} }),
        json!({ "keys": [{}] }),
        json!({ "keys": [null] }),
        json!({ "limit": 1 }),
        json!({ "query": {}, "more": 1 }),
    ] {
        rows.push(row("SEARCH", "/items/gadgets", body));
    }
    rows
}

each_engine! {
    async fn urls_that_make_no_sense_are_refused(kind) {
        refused(kind, urls()).await;
    }

    async fn search_bodies_that_make_no_sense_are_refused(kind) {
        refused(kind, bodies()).await;
    }
}
