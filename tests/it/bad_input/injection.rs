//! SQL where a name or a value is expected: it is never run, and never a fault.

use serde_json::{Value, json};
use waymark_tests::each_engine;

use super::{Row, check, encoded, row, scene};

const PIECES: [&str; 7] = [
    "'; DROP TABLE gadgets; --",
    "\"; DELETE FROM gadgets; --",
    "` OR 1=1 -- ",
    "1 OR 1=1",
    "label\" AS x, (SELECT pin FROM gadgets LIMIT 1) AS \"y",
    "x') UNION SELECT email FROM directus_users --",
    "\\'; UPDATE gadgets SET amount = 0; #",
];

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for piece in PIECES {
        let url = encoded(piece);
        for template in [
            "/items/{}",
            "/items/gadgets/{}",
            "/items/gadgets?fields={}",
            "/items/gadgets?fields[]={}",
            "/items/gadgets?fields=maker.{}",
            "/items/gadgets?sort={}",
            "/items/gadgets?sort=-{}",
            "/items/gadgets?filter[{}][_eq]=1",
            "/items/gadgets?filter[label][{}]=1",
            "/items/gadgets?filter[label][_eq]={}",
            "/items/gadgets?filter[label][_in]={}",
            "/items/gadgets?filter[label][_icontains]={}",
            "/items/gadgets?filter[amount][_eq]={}",
            "/items/gadgets?filter[year({})][_eq]=1",
            "/items/gadgets?filter[maker][{}][_eq]=1",
            "/items/gadgets?alias[{}]=label",
            "/items/gadgets?alias[{}]=label&fields=*,{}",
            "/items/gadgets?alias[x]={}&fields=x",
            "/items/gadgets?groupBy={}",
            "/items/gadgets?aggregate[{}]=amount",
            "/items/gadgets?aggregate[sum]={}",
            "/items/gadgets?groupBy=label&aggregate[count]={}",
            "/items/gadgets?search={}",
            "/items/gadgets?deep[{}][_limit]=1",
            "/items/gadgets?deep[maker][_sort]={}&fields=maker.name",
            "/items/gadgets?deep[maker][_filter][name][_eq]={}&fields=maker.name",
            "/items/gadgets?meta={}",
            "/items/gadgets?limit={}",
            "/items/gadgets?offset={}",
            "/items/gadgets?export={}",
            "/collections/{}",
            "/fields/{}",
            "/fields/gadgets/{}",
            "/relations/gadgets/{}",
            "/users/{}",
            "/users?filter[email][_eq]={}",
        ] {
            rows.push(row("GET", template.replace("{}", &url), Value::Null));
        }
        rows.push(row("DELETE", format!("/items/gadgets/{url}"), Value::Null));
        rows.push(row("DELETE", "/items/gadgets", json!([piece])));
        rows.push(row("DELETE", format!("/items/{url}"), json!([1])));
        rows.push(row("DELETE", format!("/collections/{url}"), Value::Null));
        rows.push(row("DELETE", format!("/fields/gadgets/{url}"), Value::Null));
        rows.push(row("PATCH", "/items/gadgets", json!({ "keys": [piece], "data": { "label": "a" } })));
        rows.push(row("PATCH", "/items/gadgets/1", json!({ "amount": piece })));
        rows.push(row("PATCH", "/items/gadgets/1", json!({ "maker": piece })));
        rows.push(row("POST", "/items/gadgets", json!({ piece: 1 })));
        rows.push(row(
            "POST",
            "/collections",
            json!({ "collection": piece, "schema": {}, "fields": [{ "field": piece, "type": piece }] }),
        ));
        rows.push(row("POST", "/fields/gadgets", json!({ "field": "more", "type": piece })));
        rows.push(row(
            "POST",
            "/fields/gadgets",
            json!({ "field": "more", "type": "string", "schema": { "max_length": piece } }),
        ));
        rows.push(row(
            "POST",
            "/relations",
            json!({ "collection": "gadgets", "field": piece, "related_collection": "makers" }),
        ));
        rows.push(row(
            "POST",
            "/relations",
            json!({ "collection": "gadgets", "field": "amount", "related_collection": piece }),
        ));
        rows.push(row("POST", "/auth/login", json!({ "email": piece, "password": piece })));
        rows.push(row("POST", "/auth/refresh", json!({ "refresh_token": piece })));
    }
    rows
}

each_engine! {
    async fn sql_in_any_position_is_never_run(kind) {
        let (_server, admin) = scene(kind).await;
        check(&admin, &admin, rows(), true).await;
    }

    async fn sql_in_a_value_is_kept_as_it_is(kind) {
        let (_server, admin) = scene(kind).await;
        for piece in PIECES.iter().filter(|piece| piece.len() <= 40) {
            let item = admin.must_post("/items/gadgets", json!({ "label": piece, "notes": piece })).await;
            assert_eq!((&item["label"], &item["notes"]), (&json!(piece), &json!(piece)));
            let filter = json!({ "filter": { "label": { "_eq": piece } } });
            let (status, found) = admin.search("/items/gadgets", filter).await;
            assert_eq!((status, found["data"].as_array().map(Vec::len)), (200, Some(1)), "{piece}: {found}");
        }
    }
}
