//! Requests that no route answers.

use serde_json::json;
use waymark_tests::{Kind, Server};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_routes_and_methods_have_a_code() {
    let server = Server::start(Kind::Sqlite).await;
    let client = server.client();
    for (method, path) in [("GET", "/nowhere"), ("POST", "/server/ping"), ("DELETE", "/server/info")] {
        let answer = client.request(method, path, None).await;
        assert_eq!((answer.status, answer.codes()), (404, vec!["ROUTE_NOT_FOUND"]), "{method} {path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_json_is_refused() {
    let server = Server::start(Kind::Sqlite).await;
    let answer = server.client().raw("POST", "/auth/login", Some(("application/json", b"{\"email\": ".to_vec()))).await;
    assert_eq!((answer.status, answer.codes()), (400, vec!["INVALID_PAYLOAD"]));
    let (status, _) = server.client().post("/auth/login", json!([])).await;
    assert_eq!(status, 400);
}
