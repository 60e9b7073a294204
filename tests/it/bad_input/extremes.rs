//! Query parameters at the edge of what can be understood: enormous, repeated, foreign alphabets, far
//! dates. Some have a good answer; none is a fault of the server.

use serde_json::{Value, json};
use waymark_tests::each_engine;

use super::{Row, check, encoded, refused, row, scene};

fn search(query: Value) -> Row {
    row("SEARCH", "/items/gadgets", json!({ "query": query }))
}

fn get(query: impl AsRef<str>) -> Row {
    row("GET", format!("/items/gadgets?{}", query.as_ref()), Value::Null)
}

/// Whatever the answer, it is one.
fn harmless() -> Vec<Row> {
    let long = "n".repeat(100_000);
    let mut rows: Vec<Row> = Vec::new();
    // Far dates, and what only looks like one.
    for moment in [
        "0000-00-00",
        "0000-01-01",
        "0001-01-01",
        "-0001-01-01",
        "9999-12-31",
        "10000-01-01",
        "+262142-01-01",
        "-4713-01-01",
        "99999999-01-01",
        "2020-02-29",
        "1900-02-29",
        "9999-12-31T23:59:59.999999999Z",
        "2016-12-31T23:59:60Z",
        "infinity",
        "-infinity",
        "now",
        "today",
        "epoch",
        "1",
        "1e9",
        "-1",
        "9223372036854775807",
        "2020-01-01T00:00:00+99:99",
        "$NOW",
        "$NOW(-3000 years)",
        "$NOW(100000 years)",
        "$NOW(-100000 years)",
        "$NOW(1e300)",
        "$NOW(9999999999999 ms)",
        "$NOW(-999999999 weeks)",
        "$CURRENT_USER",
        "$CURRENT_ROLE.x",
    ] {
        for field in ["built", "tested", "opens", "seen"] {
            rows.push(search(json!({ "filter": { field: { "_gt": moment } } })));
        }
    }
    // Numbers beyond all types.
    let digits = "9".repeat(5000);
    for number in [
        "NaN",
        "Infinity",
        "-Infinity",
        "inf",
        "1e999",
        "-1e999",
        "1e-999",
        "0x10",
        "1_000",
        "１２",
        "٣",
        "+1",
        "-0",
        "1.",
        ".5",
        "1e5",
        "1E5",
        " 1 ",
        "00012",
        &digits,
        "9223372036854775807",
        "-9223372036854775808",
        "2147483648",
        "-2147483649",
        "99999999.99",
        "1e400",
        "0.000000000000000000000000000000000001",
    ] {
        for field in ["amount", "total", "ratio", "price", "maker"] {
            rows.push(search(json!({ "filter": { field: { "_gt": number, "_in": [number] } } })));
        }
        rows.push(search(json!({ "search": number })));
        rows.push(search(json!({ "filter": { "year(built)": { "_eq": number } } })));
        rows.push(search(json!({ "filter": { "maker": { "count(gadgets)": { "_lt": number } } } })));
        rows.push(row("SEARCH", "/items/gadgets", json!({ "keys": [number] })));
        rows.push(row("GET", format!("/items/gadgets/{}", encoded(number)), Value::Null));
    }
    // Texts of any length and alphabet.
    let texts = [
        long.clone(),
        "%_".repeat(30_000),
        "\\".repeat(20_000),
        "'\"`;--".repeat(2000),
        "🫖".repeat(20_000),
        "ﷺ\u{202e}\u{200d}\u{feff}".to_owned(),
        "e\u{301}".repeat(5000),
        "\u{1}\u{7f}\u{80}\u{fffd}\u{10ffff}".to_owned(),
        "\n\r\t\u{2028}".to_owned(),
        "İıſß".to_owned(),
        "[a-z]*".to_owned(),
        "!".repeat(30_000),
    ];
    for text in &texts {
        rows.push(search(json!({ "search": text })));
        for operator in [
            "_eq",
            "_neq",
            "_contains",
            "_icontains",
            "_ncontains",
            "_starts_with",
            "_iends_with",
            "_nistarts_with",
            "_ieq",
            "_nieq",
        ] {
            rows.push(search(json!({ "filter": { "label": { operator: text } } })));
        }
        rows.push(search(json!({ "filter": { "tags": { "_contains": text } } })));
        rows.push(search(json!({ "deep": { "maker": { "_search": text } }, "fields": ["maker.name"] })));
    }
    // Names of any length and alphabet.
    for name in [
        &long[..],
        "ü",
        "🫖",
        "İ",
        "a b",
        "a\"b",
        "a'b",
        "a`b",
        "a\\b",
        "a;b",
        "a--b",
        "a/*b",
        "$1",
        "?",
        ":x",
        "__proto__",
        "constructor",
        "t0",
        "place",
        "c0",
        "x\u{202e}y",
        "NULL",
        "true",
    ] {
        rows.push(search(json!({ "alias": { name: "label" }, "fields": [name, "id"] })));
        rows.push(search(json!({ "alias": { name: "maker" }, "fields": [format!("{name}.name")], "deep": { name: { "_limit": 1 } } })));
        rows.push(search(json!({ "alias": { "x": name }, "fields": ["x"] })));
        rows.push(search(json!({ "fields": [name] })));
        rows.push(search(json!({ "fields": [format!("maker.{name}")] })));
        for query in [
            json!({ "filter": { name: { "_eq": 1 } } }),
            json!({ "filter": { "maker": { name: { "_eq": 1 } } } }),
            json!({ "sort": [name] }),
            json!({ "sort": [format!("maker.{name}")] }),
            json!({ "groupBy": [name] }),
            json!({ "aggregate": { "max": [name] } }),
            json!({ "aggregate": { name: ["id"] } }),
            json!({ "deep": { name: { "_limit": 1 } } }),
            json!({ "deep": { "maker": { name: { "_limit": 1 } } } }),
            json!({ "filter": { format!("{name}(built)"): { "_eq": 1 } } }),
            json!({ "filter": { format!("maker:{name}"): { "name": { "_eq": "x" } } } }),
        ] {
            rows.push(search(query));
        }
    }
    // Much of everything.
    let many: Vec<i64> = (0..20_000).collect();
    let key_list: Vec<i64> = (0..29_000).collect();
    rows.extend([
        search(json!({ "filter": { "amount": { "_in": many } } })),
        search(json!({ "filter": { "amount": { "_in": many } }, "deep": { "maker": { "_filter": { "id": { "_in": many } } } }, "fields": ["maker.name"] })),
        search(json!({ "filter": { "maker": { "gadgets": { "amount": { "_nin": many } } }, "amount": { "_nin": many } } })),
        row("SEARCH", "/items/gadgets", json!({ "keys": key_list, "query": { "filter": { "amount": { "_nin": many } } } })),
        search(json!({ "filter": { "_or": vec![json!({ "label": { "_contains": "a" } }); 1000] } })),
        search(json!({ "filter": { "_and": vec![json!({ "year(built)": { "_neq": 1 } }); 1000] } })),
        search(json!({ "aggregate": { "count": (0..2000).map(|number| format!("n{number}")).collect::<Vec<_>>() } })),
        search(json!({ "aggregate": { "min": ["label", "amount", "total", "ratio", "price", "built", "tested", "opens", "seen", "serial", "tags", "pin"], "max": ["label", "serial"] } })),
        search(json!({ "aggregate": { "countDistinct": ["label", "amount", "total", "ratio", "price", "built", "tested", "opens", "seen", "serial", "tags", "active"] } })),
        search(json!({ "groupBy": ["label", "amount", "total", "ratio", "price", "active", "built", "tested", "opens", "seen", "serial", "tags", "pin", "maker"], "aggregate": { "count": ["*", "id"] } })),
        search(json!({ "limit": i64::MAX, "offset": i64::MAX })),
        search(json!({ "limit": 1, "page": i64::MAX })),
        search(json!({ "limit": i64::MAX, "page": i64::MAX })),
        row("SEARCH", "/items/makers", json!({ "query": { "fields": ["gadgets.id"], "deep": { "gadgets": { "_offset": i64::MAX, "_limit": 100 } } } })),
        row("SEARCH", "/items/makers", json!({ "query": { "fields": ["gadgets.id"], "deep": { "gadgets": { "_offset": i64::MAX - 1, "_limit": i64::MAX } } } })),
        row("SEARCH", "/items/makers", json!({ "query": { "fields": ["gadgets.id"], "deep": { "gadgets": { "_page": i64::MAX, "_limit": i64::MAX } } } })),
        row("SEARCH", "/items/makers", json!({ "query": { "fields": ["gadgets.id"], "deep": { "gadgets": { "_limit": -1, "_offset": 1 } } } })),
        get("fields[18446744073709551615]=id&fields[]=label&fields[]=amount"),
        get("filter[_or][18446744073709551615][id][_eq]=1&filter[_or][][id][_eq]=2"),
        get("sort[99999999999999999999]=id&sort[]=label"),
        get("=&&=&%00x"),
        get("[a]=1&[]=2&a]=3&[=4"),
        get(format!("fields={}", "*.".repeat(9) + "*")),
        get(format!("search={}", encoded("\u{10ffff}"))),
    ]);
    rows
}

/// Names said twice where one is meant, and values of the wrong kind at every place.
fn senseless() -> Vec<Row> {
    let mut rows: Vec<Row> = [
        "limit=1&limit=2",
        "offset=1&offset=2",
        "page=1&page=2",
        "search=a&search=b",
        "export=csv&export=json",
        "filter[label][_eq]=a&filter[label][_eq]=b",
        "filter[label]=a&filter[label][_eq]=b",
        "filter=%7B%7D&filter=%7B%7D",
        "filter[label][_null]=true&filter[label][_null]=false",
        "deep=%7B%7D&deep=%7B%7D",
        "alias[x]=label&alias[x]=amount",
        "aggregate=%7B%7D&aggregate=%7B%7D",
        "deep[maker][_limit]=1&deep[maker][_limit]=2&fields=maker.name",
        "filter[_and]=a&filter[_and]=b",
        "filter[_some][label][_eq]=1",
        "filter[_none][label][_eq]=1",
        "filter[_eq]=1",
        "filter[_null]=true",
        "filter[maker][_and][_eq]=1",
        "filter[maker][_some][_some][name][_eq]=1",
        "filter[count(maker)][_eq]=1",
        "filter[count(pin)][_eq]=1",
        "filter[year(seen][_eq]=1",
        "filter[year()][_eq]=1",
        "filter[()][_eq]=1",
        "filter[year(year(built))][_eq]=1",
        "filter[hour(built)][_eq]=1",
        "filter[year(opens)][_eq]=1",
        "sort=year(built",
        "sort=year(opens)",
        "sort=maker",
        "groupBy=year(opens)",
        "groupBy=count(maker)",
        "groupBy=year(maker.built)",
        "alias[x]=year(opens)&fields=x",
        "fields=hour(built)",
        "fields=maker.year(name)",
        "sort=maker.year(name)",
        "filter[maker][year(name)][_eq]=1",
        "deep[maker][_nope]=1&fields=maker.name",
        "deep[maker][_sort]=year(name)&fields=maker.name",
        "deep[maker][_sort][a]=b&fields=maker.name",
        "deep[maker][_page]=-1&fields=maker.name",
        "deep[maker][_offset]=x&fields=maker.name",
        "deep[maker][_search][a]=b&fields=maker.name",
        "deep[maker][_alias]=x&fields=maker.name",
        "deep[maker][_alias][a.b]=name&fields=maker.name",
        "deep[maker][gadgets][_limit]=x&fields=maker.name",
        "deep[maker][gadgets][_filter]=x&fields=maker.gadgets.id",
        "deep[_filter][label][_eq]=1&deep[_nope]=1",
        "aggregate[count]=*&sort=label",
        "groupBy=label&sort=amount",
        "groupBy=count&aggregate[count]=*",
        "aggregate[sum]=pin&aggregate[nope]=pin",
        "aggregate[count]=gadgets",
        "aggregate[sum]=built",
        "aggregate[avg]=label",
        "aggregate[min]=active",
        "aggregate[max]=*",
        "aggregate[countDistinct]=pin",
        "meta=total_count,nope",
        "meta[]=nope",
        "meta=*,x",
    ]
    .map(get)
    .into();
    rows.retain(|(_, path, _)| !path.ends_with("sort=maker"));
    for wrong in
        [json!(true), json!(1), json!(1.5), json!("x"), json!([]), json!([[]]), json!([{}]), json!({ "a": [] })]
    {
        for name in ["filter", "deep", "alias", "aggregate"] {
            if wrong.is_object() && name == "deep" {
                continue;
            }
            rows.push(search(json!({ name: wrong })));
        }
        if !wrong.is_string() {
            rows.push(search(json!({ "search": if wrong.is_number() { json!({}) } else { wrong.clone() } })));
        }
        if !wrong.is_array() || wrong == json!([[]]) || wrong == json!([{}]) {
            if !wrong.is_string() {
                rows.push(search(json!({ "fields": wrong })));
            }
            rows.push(search(json!({ "sort": wrong })));
            rows.push(search(json!({ "groupBy": wrong })));
            rows.push(search(json!({ "meta": wrong })));
        }
        if wrong != json!(1) {
            for name in ["limit", "offset", "page"] {
                rows.push(search(json!({ name: wrong })));
                rows.push(search(
                    json!({ "fields": ["maker.name"], "deep": { "maker": { format!("_{name}"): wrong } } }),
                ));
            }
        }
        rows.push(search(json!({ "export": wrong })));
        for name in ["_filter", "_alias"] {
            rows.push(search(json!({ "fields": ["maker.name"], "deep": { "maker": { name: wrong } } })));
        }
        for field in ["built", "tested", "opens", "seen", "serial", "active"] {
            // Moments may be told in milliseconds, and 1 is true.
            if wrong != json!(1) && !(field == "active" && wrong == json!(true)) {
                rows.push(search(json!({ "filter": { field: { "_eq": wrong } } })));
            }
        }
        for operator in ["_between", "_nbetween"] {
            rows.push(search(json!({ "filter": { "amount": { operator: wrong } } })));
        }
        for operator in ["_and", "_or"] {
            if wrong != json!([]) && wrong != json!([{}]) {
                rows.push(search(json!({ "filter": { operator: wrong } })));
                rows.push(search(json!({ "filter": { "maker": { operator: wrong } } })));
            }
        }
    }
    let deep = (0..200).fold(json!({ "_limit": 1 }), |inner, _| json!({ "maker": { "gadgets": inner } }));
    rows.push(search(json!({ "deep": deep })));
    rows.push(row("SEARCH", "/items/gadgets", json!({ "query": null, "keys": "x" })));
    rows.push(row("SEARCH", "/items/gadgets", json!({ "keys": (0..30_001).collect::<Vec<_>>() })));
    rows.push(search(json!({ "filter": { "amount": { "_in": (0..20_001).collect::<Vec<_>>() } } })));
    rows.push(search(json!({ "filter": { "_or": vec![json!({}); 30_001] } })));
    rows.push(search(json!({ "filter": { "_or": vec![json!({ "label": { "_contains": "a" } }); 5000] } })));
    rows.push(search(json!({ "filter": { "_and": vec![json!({ "label": "x" }); 2001] } })));
    rows
}

each_engine! {
    async fn extremes_are_answered_or_refused(kind) {
        let (_server, admin) = scene(kind).await;
        check(&admin, &admin, harmless(), true).await;
    }

    async fn extremes_are_no_fault_for_a_caller_with_few_rights(kind) {
        let (server, admin) = scene(kind).await;
        admin.permit(None, "gadgets", "read", json!({ "fields": ["id", "label", "maker"], "permissions": { "maker": { "name": { "_neq": "Bo" } } } })).await;
        admin.permit(None, "makers", "read", json!({ "fields": ["id", "name"], "permissions": { "gadgets": { "amount": { "_lt": 9 } } } })).await;
        let mut rows = harmless();
        rows.extend(senseless());
        check(&admin, &server.client(), rows, true).await;
    }

    async fn what_is_said_twice_or_is_of_the_wrong_kind_is_refused(kind) {
        refused(kind, senseless()).await;
    }
}
