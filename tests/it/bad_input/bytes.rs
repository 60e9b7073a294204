//! Bodies and URLs that are broken as bytes.

use waymark_tests::each_engine;

use super::{dump, scene};

const JSON: &str = "application/json";

each_engine! {
    async fn broken_bytes_are_refused(kind) {
        let (_server, admin) = scene(kind).await;
        let before = dump(&admin).await;
        let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(1000), close.repeat(1000)).into_bytes();
        let bodies: Vec<(&str, &str, Vec<u8>, u16)> = vec![
            ("POST", JSON, b"{".to_vec(), 400),
            ("POST", JSON, b"{\"label\": \"a\"".to_vec(), 400),
            ("POST", JSON, b"{\"label\": \"a\",}".to_vec(), 400),
            ("POST", JSON, b"{'label': 'a'}".to_vec(), 400),
            ("POST", JSON, b"{\"label\": \"a\"} {}".to_vec(), 400),
            ("POST", JSON, b"label=a".to_vec(), 400),
            ("POST", JSON, b"\"text\"".to_vec(), 400),
            ("POST", JSON, b"7".to_vec(), 400),
            ("POST", JSON, b"true".to_vec(), 400),
            ("POST", JSON, b"null".to_vec(), 400),
            ("POST", JSON, b"NaN".to_vec(), 400),
            ("POST", JSON, b"{\"amount\": 1e999999}".to_vec(), 400),
            ("POST", JSON, b"{\"label\": \"\xff\xfe\"}".to_vec(), 400),
            ("POST", JSON, b"{\"label\": \"\xc3\x28\"}".to_vec(), 400),
            ("POST", JSON, b"{\"label\": \"a\0b\"}".to_vec(), 400),
            ("POST", JSON, b"\0".to_vec(), 400),
            ("POST", JSON, b"{\"label\": \"a\\u0000b\"}".to_vec(), 400),
            ("POST", JSON, b"{\"label\": \"x\", \"notes\": \"\\u0000\"}".to_vec(), 400),
            ("POST", JSON, b"{\"label\": \"x\", \"extra\": {\"k\": \"\\u0000\"}}".to_vec(), 400),
            ("POST", JSON, b"{\"label\": \"x\", \"tags\": [\"\\u0000\"]}".to_vec(), 400),
            ("POST", JSON, b"{\"label\": \"\\ud800\"}".to_vec(), 400),
            ("POST", JSON, deep("[", "]"), 400),
            ("POST", JSON, deep("{\"a\":", "}"), 400),
            ("PATCH", JSON, deep("{\"data\":", "}"), 400),
            ("SEARCH", JSON, deep("{\"query\":", "}"), 400),
            ("SEARCH", JSON, format!("{{\"query\":{{\"filter\":{}{{}}{}}}}}", "{\"_and\":[".repeat(1000), "]}".repeat(1000)).into_bytes(), 400),
            ("POST", "text/plain", b"{\"label\": \"a\"}".to_vec(), 415),
            ("POST", "application/x-www-form-urlencoded", b"label=a".to_vec(), 415),
            ("POST", "application/jsonx", b"{\"label\": \"a\"}".to_vec(), 415),
            ("POST", "multipart/form-data; boundary=x", b"--x--".to_vec(), 415),
            ("PATCH", "text/xml", b"<a/>".to_vec(), 415),
            ("DELETE", "text/plain", b"[1]".to_vec(), 415),
            ("POST", "", b"{\"label\": \"a\"}".to_vec(), 415),
            ("POST", JSON, vec![b' '; 10 * 1024 * 1024 + 1], 413),
            ("POST", JSON, format!("{{\"label\": \"{}\"}}", "x".repeat(10 * 1024 * 1024)).into_bytes(), 413),
        ];
        let mut faults = Vec::new();
        for (method, kind, body, status) in bodies {
            let shown = format!("{method} {kind} {:.60}", String::from_utf8_lossy(&body));
            let answer = admin.raw(method, "/items/gadgets", Some((kind, body))).await;
            if answer.status != status || answer.codes().is_empty() {
                faults.push(format!("{shown}: {} instead of {status}, {:.300}", answer.status, answer.body.to_string()));
            }
        }
        for path in [
            "/items/gadgets?filter[label][_eq]=%FF",
            "/items/gadgets?search=%C3%28",
            "/items/gadgets?%FF=1",
            "/items/gadgets?fields=%ED%A0%80",
            "/items/gadgets?search=%00",
            "/items/gadgets?filter[label%00][_eq]=1",
            "/items/gadgets?sort=label%00",
            "/items/gadgets?filter=%7B%22label%22%3A%7B%22_eq%22%3A%22%5Cu0000%22%7D%7D",
            "/items/gadgets%00",
            "/items/%FF",
            "/items/gadgets/%00",
            "/items/gadgets/%FF",
            "/items/gadgets/1%00",
            "/fields/gadgets/%FF",
            "/collections/%00",
            "/users/%FF",
        ] {
            let answer = admin.raw("GET", path, None).await;
            if !(400..500).contains(&answer.status) || answer.codes().is_empty() {
                faults.push(format!("GET {path}: {} {:.300}", answer.status, answer.body.to_string()));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert_eq!(dump(&admin).await, before);
    }
}
