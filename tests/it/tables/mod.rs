//! Tables of the operator, and tables that change under a running server.

mod guards;

use serde_json::{Value, json};
use waymark_tests::{Database, Kind, Server, each_engine};

each_engine! {
    async fn tables_made_by_hand_are_served(kind) {
        let database = Database::create(kind).await;
        let key = match kind {
            Kind::Sqlite => "integer PRIMARY KEY AUTOINCREMENT",
            Kind::Postgres => "serial PRIMARY KEY",
            Kind::Mysql => "int AUTO_INCREMENT PRIMARY KEY",
        };
        database.execute(&format!("CREATE TABLE ports (id {key}, name varchar(30) NOT NULL)")).await;
        database.execute(&format!("CREATE TABLE ships (id {key}, name varchar(30) NOT NULL, tons integer DEFAULT 7, port integer, \
            FOREIGN KEY (port) REFERENCES ports (id))")).await;
        database.execute("INSERT INTO ports (name) VALUES ('Pula')").await;
        database.execute("INSERT INTO ships (name, tons, port) VALUES ('Argo', 12, 1)").await;
        let server = Server::start_on(database.into(), &[]).await;
        let admin = server.admin().await;
        let (status, body) = admin.get("/items/ships?fields=*,port.name").await;
        assert_eq!((status, body), (200, json!({ "data": [{ "id": 1, "name": "Argo", "tons": 12, "port": { "name": "Pula" } }] })));
        let made = admin.must_post("/items/ships", json!({ "name": "Erin", "port": { "name": "Rab" } })).await;
        assert_eq!((&made["tons"], &made["port"]), (&json!(7), &json!(2)));
        let answer = admin.request("POST", "/items/ships", Some(json!({ "tons": 1 }))).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
        assert_eq!(admin.get("/collections/ships").await.1["data"]["collection"], json!("ships"));
        let (_, body) = admin.get("/fields/ships").await;
        let names: Vec<&str> = body["data"].as_array().expect("fields").iter().filter_map(|field| field["field"].as_str()).collect();
        assert_eq!(names, ["id", "name", "tons", "port"]);
        assert_eq!(server.client().get("/items/ships").await.0, 403);
    }

    async fn a_field_dropped_and_made_anew_with_another_type_works_at_once(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        admin.create_collection("notes", json!([{ "field": "title", "type": "string" }, { "field": "value", "type": "string" }])).await;
        let cases = [("string", json!("text")), ("integer", json!(5)), ("boolean", json!(true)), ("json", json!({ "a": 1 })), ("date", json!("2024-01-31"))];
        for (round, (kind, value)) in cases.into_iter().enumerate() {
            if round > 0 {
                assert_eq!(admin.delete("/fields/notes/value", Value::Null).await.0, 204);
                admin.must_post("/fields/notes", json!({ "field": "value", "type": kind })).await;
            }
            let made = admin.must_post("/items/notes", json!({ "title": kind, "value": value })).await;
            assert_eq!(made["value"], value);
            // All connections of the pool see the new column.
            let path = format!("/items/notes/{}", made["id"]);
            let reads = (0..12).map(|_| admin.get(&path));
            for (status, body) in futures_util::future::join_all(reads).await {
                assert_eq!((status, &body["data"]["value"]), (200, &value), "{kind}: {body}");
            }
            let lists = (0..12).map(|_| admin.get("/items/notes?sort=id"));
            for (status, body) in futures_util::future::join_all(lists).await {
                assert_eq!(status, 200, "{kind}: {body}");
            }
            assert_eq!(admin.patch(&path, json!({ "value": value })).await.0, 200);
        }
    }

    async fn a_collection_can_be_dropped_and_made_anew(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        for kind in ["string", "integer"] {
            admin.create_collection("drafts", json!([{ "field": "body", "type": kind }])).await;
            let made = admin.must_post("/items/drafts", json!({ "body": 12 })).await;
            assert_eq!(made, json!({ "id": 1, "body": if kind == "string" { json!("12") } else { json!(12) } }));
            let (status, body) = admin.delete("/collections/drafts", Value::Null).await;
            assert_eq!(status, 204, "{body}");
            assert_eq!(admin.get("/items/drafts").await.0, 403);
        }
    }
}
