//! Items of any of several collections, named by a sibling field.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

use super::{change, column, read, scene};

const BLOCKS: &str = "fields=blocks.kind,blocks.item:texts.name,blocks.item:pictures.name&deep[blocks][_sort]=id";

each_engine! {
    async fn objects_go_to_the_collection_their_row_names(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let block = |kind: &str, item: Value| json!({ "kind": kind, "item": item });
        let named = |kind: &str, name: &str| block(kind, json!({ "name": name }));
        let blocks = json!([named("texts", "t1"), named("pictures", "p1"), named("texts", "t2")]);
        let made = admin.must_post(&format!("/items/shows?{BLOCKS}"), json!({ "name": "one", "blocks": blocks })).await;
        assert_eq!(made["blocks"], blocks);
        let picture = column(&admin, "pictures", "id").await.swap_remove(0);
        let list = json!({
            "create": [block("texts", json!("1")), block("pictures", json!({ "id": picture, "name": "p1b" }))],
            "update": [{ "id": 3, "kind": "texts", "item": { "id": 2, "name": "t2b" } }],
            "delete": [2],
        });
        change(&admin, "/items/shows/1", json!({ "blocks": list })).await;
        let after = read(&admin, &format!("/items/shows/1?{BLOCKS}")).await;
        assert_eq!(after["blocks"], json!([named("texts", "t1"), named("texts", "t2b"), named("texts", "t1"), named("pictures", "p1b")]));
        assert_eq!(column(&admin, "blocks", "pos").await, [Value::Null, Value::Null, Value::Null, json!(1), json!(2)]);
        assert_eq!((column(&admin, "texts", "name").await, column(&admin, "pictures", "name").await), (vec![json!("t1"), json!("t2b")], vec![json!("p1b")]));
    }

    async fn without_an_allowed_collection_nothing_is_written(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        for block in [
            json!({ "item": { "name": "x" } }),
            json!({ "kind": null, "item": { "name": "x" } }),
            json!({ "kind": "venues", "item": { "name": "x" } }),
            json!({ "kind": "directus_users", "item": { "email": "x@example.com" } }),
            json!({ "kind": 7, "item": { "name": "x" } }),
        ] {
            let answer = admin.request("POST", "/items/shows", Some(json!({ "blocks": [{ "kind": "texts", "item": { "name": "y" } }, block] }))).await;
            assert_eq!((answer.status, answer.codes()), (400, vec!["INVALID_PAYLOAD"]), "{block}: {}", answer.body);
        }
        for collection in ["shows", "blocks", "texts", "venues"] {
            assert_eq!(column(&admin, collection, "id").await, Vec::<Value>::new());
        }
    }
}
