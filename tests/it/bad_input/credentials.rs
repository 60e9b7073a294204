//! Tokens and log-in bodies that prove nothing.

use serde_json::json;
use waymark_tests::each_engine;

use super::{check, dump, encoded, row, scene};

each_engine! {
    async fn tokens_that_prove_nothing_are_refused(kind) {
        let (_server, admin) = scene(kind).await;
        let before = dump(&admin).await;
        let long = "t".repeat(10_000);
        let unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJpZCI6IjEiLCJhZG1pbl9hY2Nlc3MiOnRydWUsImlzcyI6IndheW1hcmsiLCJleHAiOjQxMDI0NDQ4MDB9.";
        let forged = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpZCI6IjEiLCJpc3MiOiJ3YXltYXJrIiwiZXhwIjo0MTAyNDQ0ODAwfQ.AAAA";
        for token in ["x", "a.b.c", "..", "' OR 1=1 --", "null", "Bearer x", unsigned, forged, &long] {
            for (method, path) in [("GET", "/items/gadgets"), ("DELETE", "/items/gadgets/1"), ("GET", "/users/me"), ("DELETE", "/collections/gadgets")] {
                let answer = admin.with_token(token).request(method, path, None).await;
                assert!(matches!(answer.status, 401 | 403), "{method} {path} with {token:.40}: {} {}", answer.status, answer.body);
                assert!(!answer.codes().is_empty(), "{method} {path} with {token:.40}");
            }
            let answer = admin.with_token("").request("GET", &format!("/items/gadgets?access_token={}", encoded(token)), None).await;
            assert!((400..500).contains(&answer.status), "{token:.40} in the URL: {} {}", answer.status, answer.body);
        }
        assert_eq!(dump(&admin).await, before);
    }

    async fn log_in_bodies_that_prove_nothing_are_refused(kind) {
        let (server, admin) = scene(kind).await;
        let long = "p".repeat(100_000);
        let mut rows = Vec::new();
        for body in [
            json!({}), json!([]), json!([1]), json!({ "email": 1, "password": 2 }), json!({ "email": "admin@example.com" }), json!({ "password": "password" }),
            json!({ "email": "admin@example.com", "password": null }), json!({ "email": "admin@example.com", "password": [] }),
            json!({ "email": { "_neq": "" }, "password": { "_neq": "" } }), json!({ "email": "", "password": "" }), json!({ "email": "no address", "password": "x" }),
            json!({ "email": "admin@example.com", "password": "wrong" }), json!({ "email": "nobody@example.com", "password": "password" }),
            json!({ "email": "admin@example.com", "password": "password\u{0}" }), json!({ "email": "admin@example.com\u{0}", "password": "password" }),
            json!({ "email": "admin@example.com", "password": long }), json!({ "email": format!("{long}@example.com"), "password": "x" }),
            json!({ "email": "admin@example.com", "password": "password", "mode": 7 }), json!({ "email": "admin@example.com", "password": "password", "mode": "carrier pigeon" }),
        ] {
            rows.push(row("POST", "/auth/login", body));
        }
        for body in [json!({}), json!([]), json!({ "refresh_token": 1 }), json!({ "refresh_token": "x" }), json!({ "refresh_token": "a\u{0}" }), json!({ "refresh_token": long }),
            json!({ "refresh_token": "x", "mode": [] })]
        {
            rows.push(row("POST", "/auth/refresh", body));
        }
        for body in [json!([1]), json!([null])] {
            rows.push(row("POST", "/auth/logout", body));
        }
        check(&admin, &server.client(), rows, false).await;
    }
}
