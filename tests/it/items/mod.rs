//! `/items`: creating, changing, deleting; batches, singletons, by query; what constraints answer.

mod errors;
mod rendering;

use serde_json::{Value, json};
use waymark_tests::{Client, Server, each_engine};

async fn scene(admin: &Client) {
    let fields = json!([
        { "field": "name", "type": "string", "schema": { "is_nullable": false } },
        { "field": "code", "type": "string", "schema": { "is_unique": true, "max_length": 20 } },
        { "field": "seats", "type": "integer" },
        { "field": "city", "type": "integer" },
    ]);
    admin.create_collection("cities", json!([{ "field": "name", "type": "string" }])).await;
    admin.create_collection("halls", fields).await;
    let relation = json!({ "collection": "halls", "field": "city", "related_collection": "cities", "schema": { "on_delete": "NO ACTION" } });
    admin.must_post("/relations", relation).await;
}

async fn names(client: &Client, path: &str) -> Vec<String> {
    let (status, body) = client.get(path).await;
    assert_eq!(status, 200, "{path}: {body}");
    let rows = body["data"].as_array().expect("a list");
    rows.iter().map(|row| row["name"].as_str().unwrap_or_default().to_owned()).collect()
}

each_engine! {
    async fn an_item_is_made_read_changed_and_deleted(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let made = admin.must_post("/items/halls", json!({ "name": "Opera", "seats": 900, "unknown": 1 })).await;
        assert_eq!(made, json!({ "id": 1, "name": "Opera", "code": null, "seats": 900, "city": null }));
        assert_eq!(admin.get("/items/halls/1?fields=name").await, (200, json!({ "data": { "name": "Opera" } })));
        let (status, changed) = admin.patch("/items/halls/1", json!({ "seats": null, "id": 77 })).await;
        assert_eq!((status, &changed["data"]["seats"], &changed["data"]["id"]), (200, &Value::Null, &json!(1)));
        assert_eq!(admin.delete("/items/halls/1", Value::Null).await, (204, Value::Null));
        let answer = admin.request("GET", "/items/halls/1", None).await;
        assert_eq!((answer.status, answer.codes()), (403, vec!["FORBIDDEN"]));
        assert_eq!(admin.patch("/items/halls/1", json!({ "seats": 1 })).await.0, 403);
        assert_eq!(admin.delete("/items/halls/1", Value::Null).await.0, 204);
    }

    async fn a_key_of_the_caller_is_kept_and_a_uuid_is_made(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        assert_eq!(admin.must_post("/items/halls", json!({ "id": 40, "name": "Arena" })).await["id"], json!(40));
        assert_eq!(admin.must_post("/items/halls", json!({ "name": "Next" })).await["id"], json!(41));
        let key = json!({ "field": "id", "type": "uuid", "schema": { "is_primary_key": true }, "meta": { "special": ["uuid"] } });
        let fields = json!([key, { "field": "name", "type": "string" }]);
        admin.must_post("/collections", json!({ "collection": "coupons", "schema": {}, "meta": {}, "fields": fields })).await;
        let made = admin.must_post("/items/coupons", json!({ "name": "ten off" })).await;
        let id = made["id"].as_str().expect("a uuid");
        assert_eq!(id.len(), 36);
        assert_eq!(admin.get(&format!("/items/coupons/{}?fields=name", id.to_uppercase())).await.1["data"]["name"], json!("ten off"));
    }

    async fn batches_take_lists_keys_and_queries(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let made = admin.must_post("/items/halls", json!([{ "name": "a" }, { "name": "b" }, { "name": "c" }, { "name": "d" }])).await;
        assert_eq!(made.as_array().map(Vec::len), Some(4));
        assert_eq!(admin.post("/items/halls", json!([])).await, (200, json!({ "data": [] })));
        let (status, body) = admin.patch("/items/halls", json!([{ "id": 1, "seats": 10 }, { "id": 2, "seats": 20 }])).await;
        assert_eq!((status, &body["data"][1]["seats"]), (200, &json!(20)), "{body}");
        let (status, body) = admin.patch("/items/halls", json!({ "keys": [3, 4], "data": { "seats": 30 } })).await;
        assert_eq!((status, body["data"].as_array().map(Vec::len)), (200, Some(2)), "{body}");
        let by_query = json!({ "query": { "filter": { "seats": { "_gte": 20 } } }, "data": { "code": null, "name": "big" } });
        let (status, body) = admin.patch("/items/halls", by_query).await;
        assert_eq!((status, body["data"].as_array().map(Vec::len)), (200, Some(3)), "{body}");
        assert_eq!(names(&admin, "/items/halls?sort=id").await, ["a", "big", "big", "big"]);
        assert_eq!(admin.delete("/items/halls", json!({ "query": { "filter": { "seats": { "_eq": 30 } } } })).await.0, 204);
        assert_eq!(admin.delete("/items/halls", json!({ "keys": [1] })).await.0, 204);
        assert_eq!(names(&admin, "/items/halls").await, ["big"]);
        assert_eq!(admin.delete("/items/halls", json!([2])).await.0, 204);
        assert_eq!(names(&admin, "/items/halls").await, Vec::<String>::new());
    }

    async fn by_query_touches_every_row_unless_a_limit_is_given(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let rows: Vec<Value> = (0..130).map(|number| json!({ "name": "old", "seats": number })).collect();
        admin.must_post("/items/halls", Value::Array(rows)).await;
        let (status, body) = admin.patch("/items/halls", json!({ "query": { "filter": { "name": { "_eq": "old" } } }, "data": { "name": "new" } })).await;
        assert_eq!(status, 200, "{body}");
        let count = |filter: &'static str| {
            let admin = admin.clone();
            async move { admin.get(&format!("/items/halls?aggregate[count]=*{filter}")).await.1["data"][0]["count"].clone() }
        };
        assert_eq!(count("&filter[name][_eq]=new").await, json!(130));
        let some = json!({ "query": { "filter": { "name": { "_eq": "new" } }, "limit": 3, "sort": ["-seats"] } });
        assert_eq!(admin.delete("/items/halls", some).await.0, 204);
        assert_eq!(count("").await, json!(127));
        assert_eq!(count("&filter[seats][_gte]=127").await, json!(0));
        assert_eq!(admin.delete("/items/halls", json!({ "query": {} })).await.0, 204);
        assert_eq!(count("").await, json!(0));
    }

    async fn a_singleton_is_one_object(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let key = json!({ "field": "id", "type": "integer", "schema": { "is_primary_key": true, "has_auto_increment": true } });
        let fields = json!([key, { "field": "motto", "type": "string", "schema": { "default_value": "none yet" } }]);
        admin.must_post("/collections", json!({ "collection": "front", "schema": {}, "meta": { "singleton": true }, "fields": fields })).await;
        let (status, body) = admin.get("/items/front").await;
        assert_eq!((status, &body["data"]["motto"], &body["data"]["id"]), (200, &json!("none yet"), &Value::Null), "{body}");
        for motto in ["first", "second"] {
            let (status, body) = admin.patch("/items/front", json!({ "motto": motto })).await;
            assert_eq!((status, &body["data"]["motto"]), (200, &json!(motto)), "{body}");
        }
        assert_eq!(admin.get("/items/front?fields=motto").await, (200, json!({ "data": { "motto": "second" } })));
        assert_eq!(admin.get("/items/front/1?fields=motto").await.0, 200);
        assert_eq!(admin.get("/items/front/2").await.0, 403);
        assert_eq!(admin.post("/items/front", json!({ "motto": "third" })).await.0, 404);
    }

    async fn nested_rows_are_written_with_their_parent(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/fields/cities", json!({ "field": "halls", "type": "alias", "meta": { "special": ["o2m"] } })).await;
        let (status, body) = admin.patch("/relations/halls/city", json!({ "meta": { "one_field": "halls" } })).await;
        assert_eq!(status, 200, "{body}");
        let hall = admin.must_post("/items/halls?fields=name,city.name", json!({ "name": "Opera", "city": { "name": "Graz" } })).await;
        assert_eq!(hall, json!({ "name": "Opera", "city": { "name": "Graz" } }));
        let change = json!({ "halls": { "create": [{ "name": "Dom" }], "update": [{ "id": 1, "seats": 5 }], "delete": [] } });
        let (status, city) = admin.patch("/items/cities/1?fields=halls.name,halls.seats", change).await;
        assert_eq!((status, city["data"]["halls"].as_array().map(Vec::len)), (200, Some(2)), "{city}");
        let (status, city) = admin.patch("/items/cities/1?fields=halls", json!({ "halls": [2] })).await;
        assert_eq!((status, &city["data"]["halls"]), (200, &json!([2])));
        assert_eq!(admin.get("/items/halls/1?fields=city,seats").await.1["data"], json!({ "city": null, "seats": 5 }));
    }
}
