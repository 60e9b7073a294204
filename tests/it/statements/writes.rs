//! How many statements a write with nested rows costs: as many as it has levels, not rows.

use serde_json::{Value, json};
use waymark_tests::{Client, Server, SqlLog, each_engine};

use crate::writes::{column, scene};

/// Sends a write and counts its statements, those of the transaction and of savepoints aside, with
/// activity, revisions and the answer.
async fn count(sql: &SqlLog, admin: &Client, method: &str, path: &str, body: Value) -> usize {
    // What is known of the caller is fresh then.
    admin.get("/items/shows?limit=1&fields=id").await;
    drop(sql.take());
    let answer = admin.request(method, path, Some(body)).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let sent = sql.take();
    let own = ["BEGIN", "COMMIT", "SAVEPOINT", "RELEASE"];
    let sent: Vec<&String> = sent.iter().filter(|sql| !own.iter().any(|own| sql.starts_with(own))).collect();
    let short: Vec<String> = sent.iter().map(|sql| sql.chars().take(90).collect()).collect();
    println!("{method} {path}: {} {short:#?}", sent.len());
    sent.len()
}

each_engine! {
    async fn statements_of_a_nested_write_grow_with_its_levels(kind) {
        let sql = SqlLog::start();
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let names = |name: &str, number: usize| -> Vec<Value> { (0..number).map(|index| json!({ "name": format!("{name} {index}") })).collect() };

        let show = json!({ "name": "one", "acts": names("act", 100) });
        let children = count(&sql, &admin, "POST", "/items/shows?fields=id", show).await;
        let tags: Vec<Value> = names("tag", 100).into_iter().map(|tag| json!({ "tag": tag })).collect();
        let far = count(&sql, &admin, "POST", "/items/shows?fields=id", json!({ "name": "two", "tags": tags })).await;
        let shows: Vec<Value> = (0..50).map(|show| json!({ "name": show.to_string(), "venue": { "name": show.to_string() }, "acts": { "create": names("act", 3) } })).collect();
        let parents = count(&sql, &admin, "POST", "/items/shows?fields=id", json!(shows)).await;
        let kept = (1..=50).map(|act| json!({ "id": act, "name": format!("changed {act}") }));
        let list: Vec<Value> = kept.chain(names("new", 50)).collect();
        let replaced = count(&sql, &admin, "PATCH", "/items/shows/1?fields=id", json!({ "acts": list })).await;
        let edits: Vec<Value> = (1..=52).map(|show| json!({ "id": show, "name": format!("show {show}"), "acts": { "create": names("late", 1) } })).collect();
        let changed = count(&sql, &admin, "PATCH", "/items/shows?fields=id", json!(edits)).await;

        assert!(children <= 9, "one parent, 100 children: {children}");
        assert!(far <= 13, "100 far items through a junction: {far}");
        assert!(parents <= 14, "50 parents with an object and 3 children: {parents}");
        assert!(replaced <= 15, "a list of 100 replaced: {replaced}");
        // Their revisions hold the lists of the rows, one statement for each of seven relations.
        assert!(changed <= 21, "52 different changes with a child each: {changed}");
        assert_eq!(column(&admin, "acts", "id").await.len(), 100 + 150 + 50 + 52);
        let acts = column(&admin, "acts", "name").await;
        assert_eq!((&acts[0], &acts[49], &acts[50]), (&json!("changed 1"), &json!("changed 50"), &json!("act 50")));
    }
}
