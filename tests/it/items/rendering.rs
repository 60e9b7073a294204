//! Stored values look the same on every engine.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

const UUID: &str = "0B0C0D0E-1111-4222-8333-ABCDEFABCDEF";

each_engine! {
    async fn values_are_rendered_alike_on_every_engine(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        admin.create_collection("things", json!([
            { "field": "word", "type": "string" },
            { "field": "essay", "type": "text" },
            { "field": "small", "type": "integer" },
            { "field": "large", "type": "bigInteger" },
            { "field": "ratio", "type": "float" },
            { "field": "money", "type": "decimal", "schema": { "numeric_precision": 10, "numeric_scale": 2 } },
            { "field": "flag", "type": "boolean" },
            { "field": "day", "type": "date" },
            { "field": "local", "type": "dateTime" },
            { "field": "clock", "type": "time" },
            { "field": "instant", "type": "timestamp" },
            { "field": "ident", "type": "uuid" },
            { "field": "tree", "type": "json", "meta": { "special": ["cast-json"] } },
            { "field": "labels", "type": "csv", "meta": { "special": ["cast-csv"] } },
        ])).await;
        let sent = json!({
            "word": "čaj 🫖", "essay": "a\n\t\"b\" \\ %_", "small": -2_147_483_648_i64, "large": "9223372036854775807", "ratio": 0.5,
            "money": "1234.5", "flag": true, "day": "2024-02-29", "local": "2024-02-29T23:59:58", "clock": "07:05:09",
            "instant": "2024-03-01T01:30:00+02:00", "ident": UUID, "tree": { "b": [1, { "x": null }], "a": "ü" }, "labels": ["x", "y z"],
        });
        let made = admin.must_post("/items/things", sent).await;
        let expected = json!({
            "id": 1, "word": "čaj 🫖", "essay": "a\n\t\"b\" \\ %_", "small": -2_147_483_648_i64, "large": "9223372036854775807", "ratio": 0.5,
            "money": "1234.50", "flag": true, "day": "2024-02-29", "local": "2024-02-29T23:59:58", "clock": "07:05:09",
            "instant": "2024-02-29T23:30:00.000Z", "ident": UUID.to_lowercase(), "tree": { "a": "ü", "b": [1, { "x": null }] }, "labels": ["x", "y z"],
        });
        assert_eq!(made, expected);
        assert_eq!(admin.get("/items/things/1").await.1["data"], expected);
        let empty = admin.must_post("/items/things", json!({ "flag": false })).await;
        for (name, value) in empty.as_object().expect("an object") {
            let expected = match name.as_str() { "id" => json!(2), "flag" => json!(false), _ => Value::Null };
            assert_eq!(value, &expected, "{name}");
        }
        let aggregate = "/items/things?aggregate[sum]=small,large,money,ratio&aggregate[min]=day,instant&aggregate[max]=money,flag&aggregate[count]=*,word";
        let (status, body) = admin.get(&aggregate.replace(",flag", "")).await;
        assert_eq!(status, 200, "{body}");
        let row = &body["data"][0];
        assert_eq!(row["sum"], json!({ "small": -2_147_483_648_i64, "large": "9223372036854775807", "money": "1234.50", "ratio": 0.5 }), "{body}");
        assert_eq!(row["min"], json!({ "day": "2024-02-29", "instant": "2024-02-29T23:30:00.000Z" }));
        assert_eq!(row["max"], json!({ "money": "1234.50" }));
        let functions = "year(day),month(day),day(day),week(day),weekday(day),hour(local),minute(local),second(local),hour(instant),hour(clock)";
        let (status, body) = admin.get(&format!("/items/things?limit=1&fields={functions}")).await;
        assert_eq!(status, 200, "{body}");
        let expected = json!({ "day_year": 2024, "day_month": 2, "day_day": 29, "day_week": 9, "day_weekday": 4, "local_hour": 23, "local_minute": 59,
            "local_second": 58, "instant_hour": 23, "clock_hour": 7 });
        for (name, value) in expected.as_object().expect("an object") {
            assert_eq!(&body["data"][0][name], value, "{name}: {body}");
        }
    }
}
