//! Lists of rows that hold the key of their parent: the full list and the partial change.

use serde_json::{Value, json};
use waymark_tests::{Client, Server, each_engine};

use super::{change, column, read, scene};

const ACTS: &str = "fields=acts.name&deep[acts][_sort]=id";

async fn acts(admin: &Client, show: u32) -> Vec<String> {
    let show = read(admin, &format!("/items/shows/{show}?{ACTS}")).await;
    let acts = show["acts"].as_array().expect("a list");
    acts.iter().map(|act| act["name"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Show 1 has acts 1 and 2, show 2 act 3; act 4 is free.
async fn filled(server: &Server) -> Client {
    let admin = server.admin().await;
    scene(&admin).await;
    admin.must_post("/items/shows", json!([{ "name": "one" }, { "name": "two" }])).await;
    admin.must_post("/items/acts", json!([{ "name": "a", "show": 1 }, { "name": "b", "show": 1 }, { "name": "c", "show": 2 }, { "name": "d" }])).await;
    admin
}

each_engine! {
    async fn a_full_list_replaces_what_was_there(kind) {
        let server = Server::start(kind).await;
        let admin = filled(&server).await;
        for (list, expected) in [
            (json!([2, 4]), &["b", "d"][..]),
            (json!(["1", { "id": 2 }, { "name": "new" }]), &["a", "b", "new"]),
            (json!([{ "id": 2, "name": "b2" }, { "id": 80, "name": "eighty" }, { "id": 3, "name": "taken" }]), &["b2", "taken", "eighty"]),
            (json!([1, 1, { "id": 1, "name": "a2" }]), &["a2"]),
            (json!([]), &[]),
            (json!([1, 2, 3]), &["a2", "b2", "taken"]),
            (Value::Null, &[]),
        ] {
            change(&admin, "/items/shows/1", json!({ "acts": list })).await;
            assert_eq!(acts(&admin, 1).await, expected, "{list}");
        }
        assert_eq!(acts(&admin, 2).await, Vec::<String>::new());
        assert_eq!(column(&admin, "acts", "id").await, [1, 2, 3, 4, 5, 80].map(Value::from));
    }

    async fn a_partial_change_touches_what_it_names(kind) {
        let server = Server::start(kind).await;
        let admin = filled(&server).await;
        for (list, expected) in [
            (json!({ "create": [{ "name": "e" }] }), &["a", "b", "e"][..]),
            (json!({ "update": [{ "id": 1, "name": "a2" }, { "id": 4 }] }), &["a2", "b", "d", "e"]),
            (json!({ "delete": [2] }), &["a2", "d", "e"]),
            (json!({ "delete": [3, 777] }), &["a2", "d", "e"]),
            (json!({ "create": [{ "name": "f" }], "update": [{ "id": 1, "name": "a3" }], "delete": [4, "5"] }), &["a3", "f"]),
            (json!({ "create": null, "update": [], "delete": [] }), &["a3", "f"]),
            (json!({}), &["a3", "f"]),
        ] {
            change(&admin, "/items/shows/1", json!({ "acts": list })).await;
            assert_eq!(acts(&admin, 1).await, expected, "{list}");
        }
        assert_eq!(acts(&admin, 2).await, ["c"], "the child of another is not its to give away");
        assert_eq!(column(&admin, "acts", "show").await, [json!(1), Value::Null, json!(2), Value::Null, Value::Null, json!(1)]);
    }

    async fn deselected_rows_go_where_the_relation_says_so(kind) {
        let server = Server::start(kind).await;
        let admin = filled(&server).await;
        change(&admin, "/items/shows/1", json!({ "notes": [{ "name": "x" }, { "name": "y" }, { "name": "z" }] })).await;
        change(&admin, "/items/shows/1", json!({ "notes": [2, { "name": "w" }, { "id": 3 }] })).await;
        assert_eq!(column(&admin, "notes", "name").await, ["y", "z", "w"]);
        change(&admin, "/items/shows/1", json!({ "notes": { "delete": [2] } })).await;
        assert_eq!(column(&admin, "notes", "name").await, ["z", "w"]);
        change(&admin, "/items/shows/1", json!({ "notes": [] })).await;
        assert_eq!(column(&admin, "notes", "name").await, Vec::<Value>::new());
    }

    async fn new_rows_come_behind_the_last_of_their_parent(kind) {
        let server = Server::start(kind).await;
        let admin = filled(&server).await;
        change(&admin, "/items/acts", json!([{ "id": 1, "slot": 4 }, { "id": 3, "slot": 9 }])).await;
        let new = |name: &str| json!({ "name": name });
        let edits = json!([
            { "id": 1, "acts": { "create": [new("p"), { "name": "q", "slot": 2 }, new("r")] } },
            { "id": 2, "acts": { "create": [new("s")] } },
        ]);
        change(&admin, "/items/shows", edits).await;
        admin.must_post("/items/shows", json!([{ "acts": { "create": [new("t"), new("u")] } }, { "acts": [new("plain")] }])).await;
        let slots = read(&admin, "/items/acts?fields=name,slot&filter[id][_gt]=4&sort=id").await;
        let slots: Vec<(String, Value)> = slots.as_array().expect("a list").iter()
            .map(|act| (act["name"].as_str().unwrap_or_default().to_owned(), act["slot"].clone())).collect();
        let expected = [("p", json!(5)), ("q", json!(2)), ("r", json!(6)), ("s", json!(10)), ("t", json!(1)), ("u", json!(2)), ("plain", Value::Null)];
        assert_eq!(slots, expected.map(|(name, slot)| (name.to_owned(), slot)));
    }

    async fn lists_of_several_parents_count_one_after_the_other(kind) {
        let server = Server::start(kind).await;
        let admin = filled(&server).await;
        change(&admin, "/items/shows", json!([{ "id": 1, "acts": [1, 3] }, { "id": 2, "acts": [2, 4] }])).await;
        assert_eq!((acts(&admin, 1).await, acts(&admin, 2).await), (vec!["a".to_owned(), "c".to_owned()], vec!["b".to_owned(), "d".to_owned()]));
        change(&admin, "/items/shows", json!([{ "id": 1, "acts": [1, 2] }, { "id": 2, "acts": [2] }])).await;
        assert_eq!((acts(&admin, 1).await, acts(&admin, 2).await), (vec!["a".to_owned()], vec!["b".to_owned()]));
        change(&admin, "/items/shows", json!([{ "id": 1, "acts": [{ "name": "first" }] }, { "id": 1, "acts": [{ "name": "second" }] }])).await;
        assert_eq!(acts(&admin, 1).await, ["second"]);
        change(&admin, "/items/shows", json!({ "keys": [1, 2], "data": { "acts": { "create": [{ "name": "both" }] } } })).await;
        assert_eq!((acts(&admin, 1).await, acts(&admin, 2).await), (vec!["second".to_owned(), "both".to_owned()], vec!["b".to_owned(), "both".to_owned()]));
        change(&admin, "/items/shows", json!({ "keys": [1, 2], "data": { "acts": [4] } })).await;
        assert_eq!((acts(&admin, 1).await, acts(&admin, 2).await), (Vec::new(), vec!["d".to_owned()]));
    }

    async fn values_may_trade_places_under_a_unique_constraint(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let code = json!({ "field": "code", "type": "string", "schema": { "is_unique": true, "max_length": 20 } });
        admin.create_collection("seats", json!([code])).await;
        admin.must_post("/items/seats", json!([{ "code": "A" }, { "code": "B" }, { "code": "C" }])).await;
        let edits = json!([{ "id": 3, "code": "D" }, { "id": 2, "code": "C" }, { "id": 1, "code": "B" }]);
        change(&admin, "/items/seats", edits).await;
        assert_eq!(column(&admin, "seats", "code").await, ["B", "C", "D"]);
        change(&admin, "/items/seats", json!([{ "id": 1, "code": "-" }, { "id": 2, "code": "B" }, { "id": 1, "code": "C" }])).await;
        assert_eq!(column(&admin, "seats", "code").await, ["C", "B", "D"]);
        let answer = admin.request("PATCH", "/items/seats", Some(json!([{ "id": 1, "code": "x" }, { "id": 2, "code": "D" }]))).await;
        assert_eq!((answer.status, answer.codes()), (400, vec!["RECORD_NOT_UNIQUE"]), "{}", answer.body);
        assert_eq!(answer.body["errors"][0]["extensions"]["field"], json!("code"), "{}", answer.body);
        assert_eq!(column(&admin, "seats", "code").await, ["C", "B", "D"]);
    }
}
