//! Activity and revisions of nested writes: each row its own, the revisions of nested rows below
//! those of their own parents.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

use super::{change, scene};

/// `collection/item` of each revision with that of its parent, of the last requests.
async fn revisions(server: &Server, after: i64) -> Vec<String> {
    let database = &server.database;
    let last = database
        .number("SELECT CAST(MAX(id) AS BIGINT) FROM directus_revisions".replace("BIGINT", bigint(server)).as_str())
        .await;
    let mut found = Vec::new();
    for id in after + 1..=last {
        let name = "CONCAT(r.collection, '/', r.item)";
        let parent = format!(
            "COALESCE((SELECT {} FROM directus_revisions p WHERE p.id = r.parent), '-')",
            name.replace("r.", "p.")
        );
        found.push(
            database
                .text(&format!("SELECT CONCAT({name}, ' < ', {parent}) FROM directus_revisions r WHERE r.id = {id}"))
                .await,
        );
    }
    found.sort();
    found
}

fn bigint(server: &Server) -> &'static str {
    if server.database.kind() == waymark_tests::Kind::Mysql { "SIGNED" } else { "BIGINT" }
}

async fn last(server: &Server, table: &str) -> i64 {
    server.database.number(&format!("SELECT CAST(COALESCE(MAX(id), 0) AS {}) FROM {table}", bigint(server))).await
}

each_engine! {
    async fn revisions_of_nested_rows_hang_below_their_own_parent(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let show = |name: &str| json!({ "name": name, "venue": { "name": name }, "acts": [{ "name": "x" }], "tags": [{ "tag": { "name": name } }] });
        let before = last(&server, "directus_revisions").await;
        admin.must_post("/items/shows", json!([show("a"), show("b")])).await;
        let expected = [
            "acts/1 < shows/1", "acts/2 < shows/2", "shows/1 < -", "shows/2 < -", "shows_tags/1 < shows/1", "shows_tags/2 < shows/2",
            "tags/1 < shows_tags/1", "tags/2 < shows_tags/2", "venues/1 < shows/1", "venues/2 < shows/2",
        ];
        assert_eq!(revisions(&server, before).await, expected);

        let before = last(&server, "directus_revisions").await;
        let edit = |show: u32| json!({ "id": show, "name": "new", "venue": { "id": show, "seats": show }, "acts": [{ "id": 3 - show, "name": "moved" }] });
        change(&admin, "/items/shows", json!([edit(1), edit(2)])).await;
        let expected = [
            "acts/1 < shows/1", "acts/1 < shows/2", "acts/2 < shows/1", "acts/2 < shows/2", "shows/1 < -", "shows/2 < -", "venues/1 < shows/1", "venues/2 < shows/2",
        ];
        // Each act leaves its show and joins the other: both are told, unless the first move says all.
        let found = revisions(&server, before).await;
        assert!(found.iter().all(|revision| expected.contains(&revision.as_str())), "{found:?}");
        for wanted in ["acts/2 < shows/1", "acts/1 < shows/2", "venues/1 < shows/1", "venues/2 < shows/2", "shows/1 < -", "shows/2 < -"] {
            assert!(found.iter().any(|revision| revision == wanted), "{wanted}: {found:?}");
        }
    }

    async fn every_nested_row_leaves_its_activity(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/shows", json!({ "name": "a", "notes": [{ "name": "n" }], "acts": [{ "name": "p" }, { "name": "q" }] })).await;
        let before = last(&server, "directus_activity").await;
        change(&admin, "/items/shows/1", json!({ "name": "b", "notes": [], "acts": { "update": [{ "id": 1, "name": "r" }], "delete": [2], "create": [{ "name": "s" }] } })).await;
        for (action, collection, item) in [("delete", "notes", "1"), ("update", "acts", "1"), ("update", "acts", "2"), ("create", "acts", "3"), ("update", "shows", "1")] {
            let sql = format!("SELECT COUNT(*) FROM directus_activity WHERE id > {before} AND action = '{action}' AND collection = '{collection}' AND item = '{item}'");
            assert_eq!(server.database.number(&sql).await, 1, "{action} {collection} {item}");
        }
        assert_eq!(server.database.number(&format!("SELECT COUNT(*) FROM directus_activity WHERE id > {before}")).await, 5);
        let data = server.database.text("SELECT CAST(data AS CHAR(2000)) FROM directus_revisions WHERE collection = 'acts' AND item = '1' ORDER BY id DESC LIMIT 1").await;
        let data: Value = serde_json::from_str(&data).expect("JSON");
        assert_eq!((&data["name"], &data["show"]), (&json!("r"), &json!(1)), "{data}");
    }
}
