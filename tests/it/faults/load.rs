//! A name said many times costs what it costs once.

use serde_json::{Value, json};
use waymark_tests::{Client, Server, SqlLog, each_engine};

use super::scene;

/// Statements of a request that has been asked before.
async fn statements(sql: &SqlLog, client: &Client, query: &Value) -> (u16, Value, usize) {
    let mut fewest = usize::MAX;
    let mut answer = (0, Value::Null);
    for _ in 0..3 {
        drop(sql.take());
        answer = client.search("/items/houses", query.clone()).await;
        fewest = fewest.min(sql.take().len());
    }
    (answer.0, answer.1, fewest)
}

each_engine! {
    /// GHSA-7hmh-pfrp-vcx4, GHSA-ph52-67fq-75wj: repeated names do not multiply work, and aliases of
    /// relations are few.
    async fn repeated_names_do_not_multiply_work(kind) {
        let sql = SqlLog::start();
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let once = json!({ "fields": ["name", "plays.title", "plays.cast.part"], "sort": ["id"] });
        let (status, plain, cost) = statements(&sql, &admin, &once).await;
        assert_eq!((status, cost), (200, 3), "{plain}");
        let mut many: Vec<Value> = Vec::new();
        for _ in 0..3000 {
            many.extend([json!("name"), json!("plays.title"), json!("plays.cast.part"), json!(" plays.title , name")]);
        }
        let (status, body, cost) = statements(&sql, &admin, &json!({ "fields": many, "sort": ["id", "id", "id"] })).await;
        assert_eq!((status, cost), (200, 3), "{body}");
        assert_eq!(body, plain);
        // Different names are bounded, known or not.
        let names: Vec<String> = (0..60_000).map(|number| format!("plays.n{number}")).collect();
        assert_eq!(statements(&sql, &admin, &json!({ "fields": names })).await.0, 400);

        let aliased = |number: usize, of: &str| {
            let alias: serde_json::Map<String, Value> = (0..number).map(|number| (format!("a{number}"), json!(of))).collect();
            let fields: Vec<String> = (0..number).map(|number| format!("a{number}.id")).collect();
            json!({ "alias": alias, "fields": fields })
        };
        let (status, body, cost) = statements(&sql, &admin, &aliased(20, "plays")).await;
        assert_eq!((status, cost), (200, 21), "{body}");
        for (number, of) in [(60, "plays"), (1000, "plays"), (1000, "notices")] {
            let (status, body, cost) = statements(&sql, &admin, &aliased(number, of)).await;
            assert_eq!((status, cost), (400, 0), "{number} {of}: {body}");
        }
        // Nor do they multiply level by level.
        let inner: serde_json::Map<String, Value> = (0..10).map(|number| (format!("b{number}"), json!("cast"))).collect();
        let outer: serde_json::Map<String, Value> = (0..10).map(|number| (format!("a{number}"), json!("plays"))).collect();
        let deep: serde_json::Map<String, Value> = outer.keys().map(|name| (name.clone(), json!({ "_alias": inner }))).collect();
        let fields: Vec<String> = outer.keys().flat_map(|a| inner.keys().map(move |b| format!("{a}.{b}.part"))).collect();
        let (status, body, cost) = statements(&sql, &admin, &json!({ "alias": outer, "deep": deep, "fields": fields })).await;
        assert_eq!((status, cost), (400, 0), "{body}");
        // Plain fields may have many names, in one statement.
        let alias: serde_json::Map<String, Value> = (0..500).map(|number| (format!("n{number}"), json!("name"))).collect();
        let (status, body, cost) = statements(&sql, &admin, &json!({ "alias": alias, "fields": ["*"] })).await;
        assert_eq!((status, cost <= 3), (200, true), "{body}");
    }

    /// The same of counts, groups, aggregates and keys of a sort.
    async fn repeated_counts_groups_and_keys_are_bounded(kind) {
        let sql = SqlLog::start();
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let counts: serde_json::Map<String, Value> = (0..400).map(|number| (format!("c{number}"), json!("count(plays)"))).collect();
        let names: Vec<String> = counts.keys().cloned().collect();
        let conditions: Vec<Value> = (0..400).map(|_| json!({ "count(plays)": { "_gt": 0 } })).collect();
        for query in [
            json!({ "alias": counts, "fields": names }),
            json!({ "filter": { "_or": conditions } }),
            json!({ "filter": { "_or": vec![json!({ "plays": { "title": { "_eq": "x" } } }); 400] } }),
            json!({ "sort": (0..400).map(|number| format!("plays.n{number}")).collect::<Vec<_>>() }),
            json!({ "aggregate": { "count": ["*"] }, "sort": (0..400).map(|number| format!("sum.n{number}")).collect::<Vec<_>>() }),
            json!({ "groupBy": (0..400).map(|number| format!("n{number}")).collect::<Vec<_>>() }),
        ] {
            let (status, body, cost) = statements(&sql, &admin, &query).await;
            assert_eq!((status, cost), (400, 0), "{:.80}: {body}", query.to_string());
        }
        for (query, expected) in [
            (json!({ "groupBy": vec!["city"; 3000], "filter": { "city": { "_eq": "Vienna" } } }), json!([{ "city": "Vienna" }])),
            (json!({ "aggregate": { "count": vec!["id"; 3000], "max": vec!["id,name"; 3000] } }), json!([{ "count": { "id": 3 }, "max": { "id": 3, "name": "Rose" } }])),
            (json!({ "sort": vec!["-id"; 3000], "fields": vec!["id"; 3000] }), json!([{ "id": 3 }, { "id": 2 }, { "id": 1 }])),
        ] {
            let (status, body, cost) = statements(&sql, &admin, &query).await;
            assert_eq!((status, cost, &body["data"]), (200, 1, &expected), "{:.80}", query.to_string());
        }
    }
}
