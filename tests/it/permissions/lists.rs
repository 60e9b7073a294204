//! Rules that name lists, and rows that are chosen by a query.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

each_engine! {
    async fn a_rule_that_names_a_list_means_all_of_it(kind) {
        let server = Server::start_with(kind, &[("QUERY_LIMIT_DEFAULT", "5")]).await;
        let admin = server.admin().await;
        admin.create_collection("docks", json!([{ "field": "name", "type": "string" }])).await;
        admin.create_collection("blocks", json!([{ "field": "dock", "type": "integer" }, { "field": "person", "type": "uuid" }])).await;
        admin.must_post("/fields/directus_users", json!({ "field": "blocked", "type": "alias", "meta": { "special": ["o2m"] } })).await;
        admin.must_post("/relations", json!({ "collection": "blocks", "field": "person", "related_collection": "directus_users", "meta": { "one_field": "blocked" } })).await;
        let role = admin.create_role("sailor", false).await;
        let user = admin.create_user(Some(&role)).await;
        let docks: Vec<Value> = (1..=120).map(|number| json!({ "name": format!("dock {number}") })).collect();
        assert_eq!(admin.post("/items/docks", json!(docks)).await.0, 200);
        let blocks: Vec<Value> = (1..=110).map(|dock| json!({ "dock": dock, "person": user.id })).collect();
        assert_eq!(admin.post("/items/blocks", json!(blocks)).await.0, 200);
        admin.permit(Some(&role), "docks", "read", json!({ "permissions": { "id": { "_nin": ["$CURRENT_USER.blocked.dock"] } } })).await;
        let sailor = server.client().login(&user.email, &user.password).await;
        let (status, body) = sailor.get("/items/docks?aggregate[count]=*&aggregate[min]=id").await;
        assert_eq!((status, &body["data"]), (200, &json!([{ "count": 10, "min": { "id": 111 } }])), "{body}");
    }

    /// Who may change some rows and read none learns nothing of the others by choosing rows.
    async fn rows_chosen_by_a_query_are_those_the_caller_may_write(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        admin.create_collection("docks", json!([{ "field": "name", "type": "string" }, { "field": "free", "type": "boolean" }])).await;
        admin.must_post("/items/docks", json!([{ "name": "a", "free": true }, { "name": "b", "free": false }, { "name": "c", "free": true }])).await;
        let role = admin.create_role("sailor", false).await;
        let user = admin.create_user(Some(&role)).await;
        for action in ["update", "delete"] {
            admin.permit(Some(&role), "docks", action, json!({ "permissions": { "free": { "_eq": true } } })).await;
        }
        let sailor = server.client().login(&user.email, &user.password).await;
        for keys in [json!([1, 9]), json!([2, 9])] {
            let query = json!({ "filter": { "id": { "_between": keys } } });
            assert_eq!(sailor.patch("/items/docks", json!({ "query": query, "data": { "name": "x" } })).await.0, 204, "{keys}");
        }
        let (_, body) = admin.get("/items/docks?fields=name&sort=id").await;
        assert_eq!(body["data"], json!([{ "name": "x" }, { "name": "b" }, { "name": "x" }]));
        assert_eq!(sailor.delete("/items/docks", json!({ "query": {} })).await.0, 204);
        assert_eq!(admin.get("/items/docks?fields=id").await.1["data"], json!([{ "id": 2 }]));
        for (method, path) in [("PATCH", "/items/docks/2"), ("PATCH", "/items/docks/9"), ("DELETE", "/items/docks/2"), ("DELETE", "/items/docks/9")] {
            assert_eq!(sailor.request(method, path, Some(json!({ "name": "y" }))).await.status, 403, "{method} {path}");
        }
    }

    /// A slip of the pen in the query must not reach every row.
    async fn a_query_that_chooses_rows_takes_no_strange_member(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        admin.create_collection("docks", json!([{ "field": "name", "type": "string" }])).await;
        admin.must_post("/items/docks", json!([{ "name": "a" }, { "name": "b" }])).await;
        for query in [json!({ "filtr": { "id": 1 } }), json!({ "aggregate": { "max": "id" } }), json!({ "groupBy": ["name"] }), json!({ "deep": {} }), json!({ "export": "csv" })] {
            for (method, body) in [("DELETE", json!({ "query": query })), ("PATCH", json!({ "query": query, "data": { "name": "x" } }))] {
                let answer = admin.request(method, "/items/docks", Some(body)).await;
                assert_eq!((answer.status, answer.codes()), (400, vec!["INVALID_QUERY"]), "{method} {query}: {}", answer.body);
            }
        }
        assert_eq!(admin.get("/items/docks?fields=name&sort=id").await.1["data"], json!([{ "name": "a" }, { "name": "b" }]));
        assert_eq!(admin.delete("/items/docks", json!({ "query": { "filter": { "name": { "_eq": "a" } }, "sort": ["id"], "limit": 5 } })).await.0, 204);
    }

    /// A rule of a field may compare with the moment and the caller.
    async fn rules_of_fields_know_variables(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let due = json!({ "field": "due", "type": "timestamp", "meta": { "validation": { "due": { "_gt": "$NOW" } } } });
        admin.create_collection("docks", json!([due])).await;
        assert_eq!(admin.post("/items/docks", json!({ "due": "2035-01-01T00:00:00Z" })).await.0, 200);
        let answer = admin.request("POST", "/items/docks", Some(json!({ "due": "2005-01-01T00:00:00Z" }))).await;
        assert_eq!((answer.status, answer.codes()), (400, vec!["FAILED_VALIDATION"]), "{}", answer.body);
    }
}
