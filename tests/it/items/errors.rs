//! What constraints and failing parts of a batch answer, and what they leave behind: nothing.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

use super::{names, scene};

each_engine! {
    async fn broken_constraints_have_their_codes(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/cities", json!({ "name": "Graz" })).await;
        admin.must_post("/items/halls", json!([{ "name": "Opera", "code": "OP", "city": 1 }, { "name": "Dom" }])).await;
        for (method, path, body, codes) in [
            ("POST", "/items/halls", json!({ "name": "x", "code": "OP" }), &["RECORD_NOT_UNIQUE"][..]),
            ("PATCH", "/items/halls/2", json!({ "code": "OP" }), &["RECORD_NOT_UNIQUE"]),
            ("POST", "/items/halls", json!({ "id": 1, "name": "x" }), &["RECORD_NOT_UNIQUE"]),
            ("POST", "/items/halls", json!({ "name": "x", "city": 9 }), &["INVALID_FOREIGN_KEY"]),
            ("PATCH", "/items/halls/2", json!({ "city": 9 }), &["INVALID_FOREIGN_KEY"]),
            ("PATCH", "/items/halls/2", json!({ "name": null }), &["NOT_NULL_VIOLATION", "FAILED_VALIDATION"]),
            ("POST", "/items/halls", json!({ "code": "x" }), &["NOT_NULL_VIOLATION", "FAILED_VALIDATION"]),
            ("POST", "/items/halls", json!({ "name": "x", "code": "c".repeat(21) }), &["VALUE_TOO_LONG"]),
            ("POST", "/items/halls", json!({ "name": "x", "seats": 3_000_000_000_i64 }), &["VALUE_OUT_OF_RANGE"]),
            ("DELETE", "/items/cities/1", Value::Null, &["RECORD_STILL_REFERENCED"]),
        ] {
            let answer = admin.request(method, path, (!body.is_null()).then(|| body.clone())).await;
            let found = answer.codes();
            assert!(answer.status == 400 && found.iter().all(|code| codes.contains(code)) && !found.is_empty(),
                "{method} {path} {body}: {} {}", answer.status, answer.body);
        }
        assert_eq!(names(&admin, "/items/halls?sort=id").await, ["Opera", "Dom"]);
    }

    async fn a_failing_part_leaves_nothing_of_a_batch(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/halls", json!([{ "name": "a", "code": "A" }, { "name": "b", "code": "B" }])).await;
        for (method, body) in [
            ("POST", json!([{ "name": "c" }, { "name": "d", "code": "A" }])),
            ("POST", json!([{ "name": "c", "city": { "name": "Linz" } }, { "name": "d", "city": 99 }])),
            ("PATCH", json!([{ "id": 1, "name": "z" }, { "id": 2, "code": "A" }])),
            ("PATCH", json!([{ "id": 1, "name": "z" }, { "id": 99, "name": "y" }])),
            ("PATCH", json!({ "keys": [1, 2], "data": { "name": "z", "code": "same" } })),
            ("PATCH", json!({ "keys": [1, 99], "data": { "name": "z" } })),
        ] {
            let answer = admin.request(method, "/items/halls", Some(body.clone())).await;
            assert!(matches!(answer.status, 400 | 403), "{method} {body}: {} {}", answer.status, answer.body);
            assert_eq!(names(&admin, "/items/halls?sort=id").await, ["a", "b"], "{method} {body}");
            assert_eq!(names(&admin, "/items/cities").await, Vec::<String>::new(), "{method} {body}");
        }
    }
}
