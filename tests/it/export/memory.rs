//! Long exports: whole, in order, and in little memory. The server is a process of its own, whose
//! peak is read from the system.

use serde_json::{Value, json};
use waymark_tests::{Database, Process, each_engine};

/// Rows, each about 150 bytes of JSON.
const ROWS: usize = 100_000;
/// What the process may come to, in KiB: 80 MiB; without optimisation the program itself is larger.
const MOST_KIB: u64 = if cfg!(debug_assertions) { 96 * 1024 } else { 80 * 1024 };

each_engine! {
    async fn a_hundred_thousand_rows_are_exported_whole_in_little_memory(kind) {
        let database = Database::create(kind).await;
        let server = Process::start(&database, &[]).await;
        let admin = server.admin().await;
        admin.create_collection("readings", json!([{ "field": "note", "type": "string" }, { "field": "value", "type": "integer" }, { "field": "series", "type": "integer" }])).await;
        admin.create_collection("series", json!([{ "field": "name", "type": "string" }])).await;
        admin.must_post("/fields/series", json!({ "field": "readings", "type": "alias", "meta": { "special": ["o2m"] } })).await;
        let relation = json!({ "collection": "readings", "field": "series", "related_collection": "series", "meta": { "one_field": "readings" }, "schema": null });
        admin.must_post("/relations", relation).await;
        fill(&database).await;
        for (path, wanted) in [
            ("/items/readings?limit=-1&sort=-value&export=csv&fields=id,value,note", "\"id\",\"value\",\"note\""),
            ("/items/readings?limit=-1&sort=-value&export=json&fields=id,value,note,series.name", "["),
        ] {
            let answer = admin.request("GET", path, None).await;
            assert_eq!(answer.status, 200, "{path}");
            match answer.body {
                Value::String(csv) => {
                    let mut lines = csv.lines();
                    assert_eq!(lines.next(), Some(wanted));
                    let values = lines.filter_map(|line| line.split(',').nth(1)?.parse::<i64>().ok());
                    assert!(values.eq((0..ROWS as i64).rev()), "every row, in order");
                }
                Value::Array(rows) => {
                    let values = rows.iter().filter_map(|row| row["value"].as_i64());
                    assert!(values.eq((0..ROWS as i64).rev()), "every row, in order");
                }
                other => panic!("no list: {other}"),
            }
        }
        // With a level below, read by keys.
        let (status, series) = admin.get("/items/series?limit=-1&sort=-id&export=json&fields=id,readings.value&deep[readings][_limit]=3&deep[readings][_sort]=-value").await;
        assert_eq!(status, 200);
        let ids = series.as_array().expect("a list").iter().filter_map(|row| row["id"].as_i64());
        assert!(ids.eq((1..=10_000).rev()), "every row, in order");
        assert_eq!(series[0], json!({ "id": 10_000, "readings": [{ "value": 99_999 }, { "value": 89_999 }, { "value": 79_999 }] }));
        if let Some(peak) = server.peak_kib() {
            println!("peak of the process with {kind:?}: {peak} KiB");
            assert!(peak < MOST_KIB, "{peak} KiB");
        }
    }
}

/// 10,000 series with ten readings each; values 0 to 99,999.
async fn fill(database: &Database) {
    let digits = "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 \
        UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)";
    let number = "a.d + 10 * b.d + 100 * c.d + 1000 * d.d";
    let tables = format!("{digits} a, {digits} b, {digits} c, {digits} d");
    database
        .execute(&format!("INSERT INTO series (id, name) SELECT {number} + 1, 'a series of readings' FROM {tables}"))
        .await;
    database
        .execute(&format!(
            "INSERT INTO readings (value, note, series) SELECT {number} + 10000 * e.d, \
             'a note of some length, as people write it beside what they have read', {number} + 1 FROM {tables}, {digits} e"
        ))
        .await;
}
