//! Faults that others had on writes.

use serde_json::{Value, json};
use waymark_tests::{Client, Server, each_engine};

use super::{caller, column, read, scene};

async fn refused(client: &Client, method: &str, path: &str, body: Value) {
    let answer = client.request(method, path, (!body.is_null()).then(|| body.clone())).await;
    assert_eq!((answer.status, answer.codes()), (403, vec!["FORBIDDEN"]), "{method} {path} {body}: {}", answer.body);
}

/// Rooms and their beds; a bed needs its room, a room its floor.
async fn rooms(admin: &Client) {
    let needed = |name: &str| json!({ "field": name, "type": "integer", "schema": { "is_nullable": false } });
    admin.create_collection("rooms", json!([{ "field": "name", "type": "string" }, needed("floor")])).await;
    admin.create_collection("beds", json!([{ "field": "name", "type": "string" }, needed("room")])).await;
    admin.must_post("/fields/rooms", json!({ "field": "beds", "type": "alias", "meta": { "special": ["o2m"] } })).await;
    let relation = json!({ "collection": "beds", "field": "room", "related_collection": "rooms", "meta": { "one_field": "beds" }, "schema": { "on_delete": "CASCADE" } });
    admin.must_post("/relations", relation).await;
}

each_engine! {
    async fn presets_count_for_required_fields_and_validation(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        rooms(&admin).await;
        let validation = json!({ "floor": { "_submitted": true, "_eq": 3 } });
        let rules = [
            ("rooms", "create", json!({ "fields": ["name"], "presets": { "floor": 3 }, "validation": validation })),
            ("beds", "create", json!({ "fields": ["name", "room"], "presets": { "name": "bunk" }, "validation": { "name": { "_nnull": true } } })),
            ("beds", "update", json!({})),
        ];
        let editor = caller(&server, &admin, &rules).await;
        assert_eq!(editor.post("/items/rooms", json!({ "name": "attic" })).await.0, 204);
        assert_eq!(editor.post("/items/beds", json!({ "room": { "name": "cellar" } })).await.0, 204);
        assert_eq!(column(&admin, "rooms", "floor").await, [3, 3].map(Value::from));
        assert_eq!(column(&admin, "beds", "name").await, ["bunk"]);
    }

    async fn a_required_back_reference_is_filled_in(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        rooms(&admin).await;
        let beds = json!([{ "name": "a" }, { "name": "b" }]);
        admin.must_post("/items/rooms", json!([{ "floor": 1, "beds": beds }, { "floor": 2, "beds": { "create": beds } }])).await;
        assert_eq!(column(&admin, "beds", "room").await, [1, 1, 2, 2].map(Value::from));
        // What would have no room any more can't be deselected, but it can move.
        assert_eq!(admin.patch("/items/rooms/1", json!({ "beds": [] })).await.0, 400);
        assert_eq!(admin.patch("/items/rooms/1", json!({ "beds": [1, 2, 3] })).await.0, 200);
        assert_eq!(column(&admin, "beds", "room").await, [1, 1, 1, 2].map(Value::from));
    }

    async fn children_are_attached_while_their_parent_is_made(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/acts", json!([{ "name": "a" }, { "name": "b" }, { "name": "c" }])).await;
        let rules = [("shows", "create", json!({})), ("acts", "update", json!({ "fields": ["name", "show"] }))];
        let editor = caller(&server, &admin, &rules).await;
        // Neither a right to read acts, nor to create them, nor to write their keys is needed.
        let body = json!({ "name": "one", "acts": [1, { "id": 2 }, { "id": 3, "name": "c2" }] });
        assert_eq!(editor.post("/items/shows", body).await.0, 204);
        assert_eq!(read(&admin, "/items/acts?fields=name,show&sort=id").await, json!([{ "name": "a", "show": 1 }, { "name": "b", "show": 1 }, { "name": "c2", "show": 1 }]));
        let body = json!({ "name": "two", "acts": { "update": [{ "id": 1, "name": "a2" }] } });
        assert_eq!(editor.post("/items/shows", body).await.0, 204);
        assert_eq!(column(&admin, "acts", "show").await, [2, 1, 1].map(Value::from));
        refused(&editor, "POST", "/items/shows", json!({ "acts": [{ "id": 1, "slot": 3 }] })).await;
    }

    async fn the_field_of_the_parent_needs_the_right_of_the_child(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/acts", json!([{ "name": "a" }])).await;
        let rules = [("shows", "create", json!({})), ("acts", "update", json!({ "fields": ["name"] })), ("acts", "create", json!({ "fields": ["name"] }))];
        let editor = caller(&server, &admin, &rules).await;
        for acts in [json!([1]), json!([{ "id": 1, "name": "x" }]), json!([{ "name": "new" }])] {
            refused(&editor, "POST", "/items/shows", json!({ "acts": acts })).await;
        }
        assert_eq!((column(&admin, "shows", "id").await, column(&admin, "acts", "name").await), (Vec::new(), vec![json!("a")]));
    }

    async fn the_right_on_a_field_ends_with_the_field(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/venues", json!({ "name": "Hall" })).await;
        let rules = [("venues", "update", json!({ "fields": ["name", "seats"] })), ("venues", "create", json!({ "fields": ["seats"] }))];
        let editor = caller(&server, &admin, &rules).await;
        assert_eq!(editor.patch("/items/venues/1", json!({ "seats": 3 })).await.0, 204);
        assert_eq!(admin.delete("/fields/venues/seats", Value::Null).await.0, 204);
        admin.must_post("/fields/venues", json!({ "field": "seats", "type": "integer" })).await;
        refused(&editor, "PATCH", "/items/venues/1", json!({ "seats": 4 })).await;
        refused(&editor, "POST", "/items/venues", json!({ "seats": 4 })).await;
        assert_eq!(editor.patch("/items/venues/1", json!({ "name": "Barn" })).await.0, 204);
        assert_eq!(read(&admin, "/items/venues?fields=name,seats").await, json!([{ "name": "Barn", "seats": null }]));
    }

    async fn a_rule_with_an_empty_list_lets_nothing_be_written(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/shows", json!({ "name": "one", "acts": [{ "name": "a" }] })).await;
        let none = || json!({ "permissions": { "id": { "_in": [] } } });
        let rules = [("shows", "update", json!({})), ("acts", "update", none()), ("acts", "delete", none()), ("notes", "update", none())];
        let editor = caller(&server, &admin, &rules).await;
        refused(&editor, "PATCH", "/items/acts/1", json!({ "name": "x" })).await;
        refused(&editor, "DELETE", "/items/acts/1", Value::Null).await;
        refused(&editor, "PATCH", "/items/shows/1", json!({ "acts": [] })).await;
        refused(&editor, "PATCH", "/items/shows/1", json!({ "acts": { "update": [{ "id": 1, "name": "x" }] } })).await;
        assert_eq!(column(&admin, "acts", "name").await, ["a"]);
    }

    async fn forbidden_and_missing_collections_are_refused_alike(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let editor = caller(&server, &admin, &[("shows", "update", json!({}))]).await;
        for (method, tail, body) in [
            ("POST", "", json!({ "name": "x" })), ("POST", "", json!([])), ("PATCH", "/1", json!({ "name": "x" })), ("DELETE", "/1", Value::Null),
            ("PATCH", "", json!({ "keys": [1], "data": {} })), ("DELETE", "", json!([1])), ("PATCH", "", json!([{ "id": 1 }])),
        ] {
            let mut answers = Vec::new();
            for collection in ["acts", "nowhere"] {
                let answer = editor.request(method, &format!("/items/{collection}{tail}"), (!body.is_null()).then(|| body.clone())).await;
                answers.push((answer.status, answer.body));
            }
            assert_eq!(answers.first(), answers.last(), "{method} {tail} {body}");
            assert_eq!(answers.first().map(|answer| answer.0), Some(403), "{method} {tail} {body}: {answers:?}");
        }
    }

    async fn masks_are_written_by_nobody(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let secret = json!({ "field": "secret", "type": "string", "meta": { "special": ["conceal"] } });
        admin.create_collection("vaults", json!([{ "field": "name", "type": "string" }, secret])).await;
        admin.must_post("/items/vaults", json!({ "name": "a", "secret": "gold" })).await;
        let mask = "**********";
        let preset = || json!({ "presets": { "secret": mask } });
        let editor = caller(&server, &admin, &[("vaults", "create", preset()), ("vaults", "update", preset())]).await;
        assert_eq!(editor.patch("/items/vaults/1", json!({ "name": "b" })).await.0, 204);
        assert_eq!(editor.patch("/items/vaults/1", json!({ "name": "c", "secret": mask })).await.0, 204);
        assert_eq!(editor.post("/items/vaults", json!({ "name": "d" })).await.0, 204);
        assert_eq!(server.database.text("SELECT secret FROM vaults WHERE id = 1").await, "gold");
        assert_eq!(server.database.number("SELECT COUNT(*) FROM vaults WHERE secret IS NULL").await, 1);

        let role = admin.create_role("keepers", false).await;
        let user = admin.create_user(Some(&role)).await;
        let users = json!([{ "id": user.id, "password": mask, "token": mask, "first_name": "Kit" }]);
        let (status, body) = admin.patch(&format!("/roles/{role}"), json!({ "users": users })).await;
        assert_eq!(status, 200, "{body}");
        let keeper = server.client().login(&user.email, &user.password).await;
        assert_eq!(keeper.get("/users/me").await.0, 200);
        assert_eq!(server.database.text(&format!("SELECT first_name FROM directus_users WHERE email = '{}'", user.email)).await, "Kit");
    }

    async fn rows_written_through_a_role_obey_the_rules_of_users(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let role = admin.create_role("guests", false).await;
        let one = admin.create_user(Some(&role)).await;
        let two = admin.create_user(Some(&role)).await;
        for (users, code) in [
            (json!([{ "id": one.id, "email": "same@example.com" }, { "id": two.id, "email": "SAME@example.com" }]), "RECORD_NOT_UNIQUE"),
            (json!([one.id, two.id, { "email": "new@example.com" }, { "email": "NEW@example.com" }]), "RECORD_NOT_UNIQUE"),
            (json!([one.id, { "id": two.id, "tfa_secret": "x" }]), "INVALID_PAYLOAD"),
            (json!([one.id, { "id": two.id, "status": "asleep" }]), "FAILED_VALIDATION"),
        ] {
            let answer = admin.request("PATCH", &format!("/roles/{role}"), Some(json!({ "users": users }))).await;
            assert_eq!((answer.status, answer.codes()), (400, vec![code]), "{users}: {}", answer.body);
        }
        let first = read(&admin, "/users?filter[email][_eq]=admin@example.com&fields=id,role").await[0].clone();
        let last_role = first["role"].as_str().unwrap_or_default().to_owned();
        for (path, body) in [
            (format!("/roles/{last_role}"), json!({ "users": [] })),
            (format!("/roles/{last_role}"), json!({ "users": { "update": [{ "id": first["id"], "status": "suspended" }] } })),
            (format!("/roles/{role}"), json!({ "users": [one.id, two.id, first["id"]] })),
        ] {
            let answer = admin.request("PATCH", &path, Some(body.clone())).await;
            assert_eq!((answer.status, answer.codes()), (422, vec!["UNPROCESSABLE_ENTITY"]), "{body}: {}", answer.body);
        }
        assert_eq!(read(&admin, &format!("/users?filter[role][_eq]={role}&fields=email&limit=-1")).await.as_array().map(Vec::len), Some(2));
    }
}
