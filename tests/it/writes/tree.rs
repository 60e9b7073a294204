//! Rows below rows of the same collection.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

use super::{change, column, read, scene};

each_engine! {
    async fn a_tree_is_written_at_once_in_both_directions(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let tree = json!({ "name": "root", "parts": [
            { "name": "left", "parts": [{ "name": "leaf" }, { "name": "twig" }] },
            { "name": "right", "parts": { "create": [{ "name": "bud" }] } },
        ] });
        let made = admin.must_post("/items/shows?fields=name,parts.name,parts.parts.name", tree).await;
        let part = |name: &str| json!({ "name": name });
        let expected = json!({ "name": "root", "parts": [{ "name": "left", "parts": [part("leaf"), part("twig")] }, { "name": "right", "parts": [part("bud")] }] });
        assert_eq!(made, expected);
        let up = json!({ "name": "bottom", "part_of": { "name": "middle", "part_of": { "name": "top" } } });
        let made = admin.must_post("/items/shows?fields=name,part_of.name,part_of.part_of.name", up.clone()).await;
        assert_eq!(made, up);
    }

    async fn branches_move_and_are_cut_off(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/shows", json!([{ "name": "a" }, { "name": "b", "part_of": 1 }, { "name": "c", "part_of": 2 }, { "name": "d", "part_of": 1 }])).await;
        change(&admin, "/items/shows/1", json!({ "parts": [{ "id": 3, "name": "c2" }, { "id": 2, "parts": [4] }] })).await;
        assert_eq!(column(&admin, "shows", "part_of").await, [Value::Null, json!(1), json!(1), json!(2)]);
        change(&admin, "/items/shows/1", json!({ "name": "a2", "parts": { "update": [{ "id": 2, "name": "b2", "parts": { "delete": [4], "create": [{ "name": "e" }] } }], "delete": [3] } })).await;
        let tree = read(&admin, "/items/shows?fields=name,part_of&sort=id").await;
        let row = |name: &str, part_of: Value| json!({ "name": name, "part_of": part_of });
        assert_eq!(tree, json!([row("a2", Value::Null), row("b2", json!(1)), row("c2", Value::Null), row("d", Value::Null), row("e", json!(2))]));
        let answer = admin.request("PATCH", "/items/shows/1", Some(json!({ "parts": [{ "id": 2, "part_of": 3 }] }))).await;
        assert_eq!((answer.status, answer.codes()), (400, vec!["INVALID_PAYLOAD"]), "{}", answer.body);
    }
}
