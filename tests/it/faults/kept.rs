//! What is kept beside the answer: revisions, cached rules, definitions.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

each_engine! {
    /// GHSA-mvv8-v4jj-g47j: revisions and activity hold no secrets, neither as they were sent nor hashed.
    async fn revisions_hold_no_secrets(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let pin = json!({ "field": "pin", "type": "string", "meta": { "special": ["conceal"] } });
        let code = json!({ "field": "code", "type": "hash", "meta": { "special": ["hash", "conceal"] } });
        admin.create_collection("lockers", json!([{ "field": "name", "type": "string" }, pin, code])).await;
        admin.must_post("/items/lockers", json!({ "name": "a", "pin": "4711-blue", "code": "sesame-green" })).await;
        assert_eq!(admin.patch("/items/lockers/1", json!({ "pin": "4712-blue", "code": "sesame-red" })).await.0, 200);
        let user = json!({ "email": "keeper@example.com", "password": "sesame-user", "token": "sesame-token" });
        let id = admin.must_post("/users", user).await["id"].as_str().expect("an id").to_owned();
        assert_eq!(admin.patch(&format!("/users/{id}"), json!({ "password": "sesame-again", "token": "sesame-other" })).await.0, 200);
        let number = |text: &'static str| {
            let server = &server;
            async move {
                let cast = if kind == waymark_tests::Kind::Mysql { "char" } else { "text" };
                let like = |column: &str| format!("CAST({column} AS {cast}) LIKE '%{text}%'");
                server.database.number(&format!("SELECT COUNT(*) FROM directus_revisions WHERE {} OR {}", like("data"), like("delta"))).await
            }
        };
        assert!(number("keeper@example.com").await > 0, "what is no secret is kept");
        for secret in ["4711", "4712", "sesame", "$argon2"] {
            assert_eq!(number(secret).await, 0, "{secret}");
        }
    }

    /// A rule that holds for some addresses is not answered from what another address was told (fixed
    /// elsewhere without an advisory).
    async fn a_role_of_some_addresses_is_checked_on_every_request(kind) {
        let server = Server::start_with(kind, &[("IP_TRUST_PROXY", "true")]).await;
        let admin = server.admin().await;
        admin.create_collection("lockers", json!([{ "field": "name", "type": "string" }])).await;
        let role = admin.create_role("keeper", false).await;
        admin.permit(Some(&role), "lockers", "read", json!({})).await;
        let user = json!({ "email": "k@example.com", "password": "a long one", "token": "keeper-token", "role": role });
        admin.must_post("/users", user).await;
        assert_eq!(admin.patch(&format!("/roles/{role}"), json!({ "ip_access": ["10.1.1.1"] })).await.0, 200);
        let http = reqwest::Client::new();
        for (address, wanted) in [("10.1.1.1", 200), ("10.1.1.2", 401), ("10.1.1.1", 200), ("::ffff:10.1.1.1", 200), ("10.1.1.2", 401)] {
            let request = http.get(format!("{}/items/lockers", server.url)).bearer_auth("keeper-token").header("x-forwarded-for", address);
            assert_eq!(request.send().await.expect("an answer").status().as_u16(), wanted, "{address}");
        }
    }

    /// What a table looks like is told as far as its fields may be read.
    async fn definitions_name_nothing_that_is_hidden(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        admin.create_collection("vaults", json!([{ "field": "name", "type": "string" }])).await;
        admin.create_collection("lockers", json!([{ "field": "name", "type": "string" }, { "field": "weight", "type": "integer" }, { "field": "vault", "type": "integer" }])).await;
        admin.must_post("/relations", json!({ "collection": "lockers", "field": "vault", "related_collection": "vaults" })).await;
        let role = admin.create_role("guest", true).await;
        let user = admin.create_user(Some(&role)).await;
        admin.permit(Some(&role), "lockers", "read", json!({ "fields": ["id", "name", "vault"] })).await;
        let guest = server.client().login(&user.email, &user.password).await;
        for path in ["/collections", "/collections/lockers", "/fields/lockers", "/fields/lockers/vault", "/relations", "/items/lockers"] {
            let (status, body) = guest.get(path).await;
            assert_eq!(status, 200, "{path}: {body}");
            let text = body.to_string();
            assert!(!text.contains("weight") && !text.contains("vaults"), "{path}: {body}");
        }
        assert_eq!(admin.get("/fields/lockers/vault").await.1["data"]["schema"]["foreign_key_table"], "vaults");
    }

    /// GHSA-chfm-g7r3-vv42: the type of a new field is one of ours, never a piece of SQL.
    async fn the_type_of_a_field_is_never_sql(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let key = json!({ "field": "id", "type": "integer", "schema": { "is_primary_key": true, "has_auto_increment": true } });
        for kind in ["geometry.Point); DROP TABLE directus_users; --", "geometry.\"x\"", "integer; DROP TABLE directus_users", "geometry(Point", "varchar(10) DEFAULT 'x'"] {
            for (path, body) in [
                ("/collections", json!({ "collection": "maps", "schema": {}, "meta": {}, "fields": [key, { "field": "place", "type": kind }] })),
                ("/fields/directus_users", json!({ "field": "place", "type": kind })),
            ] {
                let answer = admin.request("POST", path, Some(body)).await;
                assert_eq!((answer.status, answer.codes()), (400, vec!["INVALID_PAYLOAD"]), "{path} {kind}: {}", answer.body);
            }
        }
        assert_eq!(admin.get("/items/maps").await.0, 403);
        let (_, me) = admin.get("/users/me?fields=*").await;
        assert_eq!(me["data"].get("place"), None::<&Value>);
    }
}
