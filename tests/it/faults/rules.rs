//! Rules: whom they bind, what their variables stand for, and when they end.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

use super::{critic, data, filter, ids, scene};

each_engine! {
    /// GHSA-97xr-jchp-xm3c, GHSA-849r-qrwj-8rv4: who shows no token, or a bad one, is nobody; nobody is
    /// never everybody.
    async fn nobody_is_not_everybody(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.permit(None, "houses", "read", json!({ "fields": ["id", "name"], "permissions": { "city": { "_eq": "Vienna" } } })).await;
        admin.permit(None, "actors", "read", json!({ "permissions": { "name": { "_eq": "$CURRENT_USER" } } })).await;
        let public = server.client();
        assert_eq!(data(&public, "/items/houses").await, json!([{ "id": 3, "name": "Burg" }]));
        assert_eq!(data(&public, "/items/actors").await, json!([]));
        for path in ["/items/plays", "/items/casts?fields=id", "/items/houses?fields=patron", "/items/houses/1"] {
            assert_eq!(public.get(path).await.0, 403, "{path}");
        }
        for token in ["nonsense", "a.b.c", "eyJhbGciOiJub25lIn0.eyJhZG1pbl9hY2Nlc3MiOnRydWV9."] {
            for path in ["/items/houses", "/items/plays", "/users"] {
                let (status, body) = server.client().with_token(token).get(path).await;
                assert!((400..500).contains(&status), "{token} {path}: {status} {body}");
                assert!(body.get("data").is_none(), "{token} {path}: {body}");
            }
        }
        // A failed request leaves the connection's next caller what it was.
        assert_eq!(data(&public, "/items/houses").await, json!([{ "id": 3, "name": "Burg" }]));
        // A user without a role is somebody with the rights of the public.
        let user = admin.create_user(None).await;
        let loner = server.client().login(&user.email, &user.password).await;
        assert_eq!(data(&loner, "/items/houses").await, json!([{ "id": 3, "name": "Burg" }]));
        assert_eq!(loner.get("/items/plays").await.0, 403);
    }

    /// Threads 7875, 4446, 7890, 17800: `$CURRENT_USER` is resolved at any depth of a rule and of a filter;
    /// its paths in rules only.
    async fn variables_are_resolved_at_any_depth(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, user, critic) = critic(&server, &admin).await;
        assert_eq!(admin.patch("/items/plays", json!({ "keys": [2, 3], "data": { "owner": user } })).await.0, 200);
        assert_eq!(admin.patch(&format!("/users/{user}"), json!({ "location": "Vienna" })).await.0, 200);
        admin.permit(Some(&role), "plays", "read", json!({})).await;
        admin.permit(Some(&role), "directus_users", "read", json!({ "fields": ["id"] })).await;
        for (rule, found) in [
            (json!({ "plays": { "_some": { "_and": [{ "_or": [{ "owner": { "_in": ["$CURRENT_USER"] } }] }] } } }), &[1, 3][..]),
            (json!({ "_or": [{ "plays": { "owner": { "_eq": "$CURRENT_USER" } } }, { "name": { "_eq": "$CURRENT_USER" } }] }), &[1, 3]),
            (json!({ "plays": { "owner": { "id": { "_eq": "$CURRENT_USER" } } } }), &[1, 3]),
            (json!({ "plays": { "owner": { "role": { "_eq": "$CURRENT_ROLE" } } } }), &[1, 3]),
            (json!({ "plays": { "_none": { "owner": { "_eq": "$CURRENT_USER" } } } }), &[2]),
            (json!({ "city": { "_eq": "$CURRENT_USER.location" } }), &[3]),
            (json!({ "_and": [{ "city": { "_nin": ["$CURRENT_USER.location"] } }] }), &[1, 2]),
            (json!({ "city": { "_eq": "$CURRENT_USER.title" } }), &[]),
            (json!({ "plays": { "owner": { "role": { "_eq": "$CURRENT_USER.role.id" } } } }), &[1, 3]),
            (json!({ "plays": { "owner": { "role": { "name": { "_eq": "$CURRENT_ROLE.name" } } } } }), &[1, 3]),
        ] {
            let id = admin.must_post("/permissions", json!({ "role": role, "collection": "houses", "action": "read", "fields": ["*"], "permissions": rule })).await["id"].clone();
            assert_eq!(ids(&critic, "/items/houses?fields=id&sort=id").await, found, "{rule}");
            assert_eq!(admin.delete(&format!("/permissions/{id}"), Value::Null).await.0, 204);
        }
        admin.permit(Some(&role), "houses", "read", json!({})).await;
        for (rule, found) in [
            (json!({ "plays": { "_some": { "owner": { "_in": ["$CURRENT_USER"] } } } }), &[1, 3][..]),
            (json!({ "_or": [{ "_and": [{ "plays": { "owner": { "_eq": "$CURRENT_USER" } } }] }] }), &[1, 3]),
            (json!({ "city": { "_eq": "$CURRENT_USER.location" } }), &[]),
            (json!({ "plays": { "owner": { "_eq": "$CURRENT_USER.id" } } }), &[]),
        ] {
            assert_eq!(ids(&critic, &format!("/items/houses?fields=id&sort=id&{}", filter(&rule))).await, found, "{rule}");
        }
        let deep = "/items/houses?fields=id,plays.id&sort=id&deep[plays][_filter][owner][_eq]=$CURRENT_USER";
        assert_eq!(data(&critic, deep).await, json!([{ "id": 1, "plays": [{ "id": 2 }] }, { "id": 2, "plays": [] }, { "id": 3, "plays": [{ "id": 3 }] }]));
        assert_eq!(ids(&admin, "/items/plays?fields=id&filter[owner][_eq]=$CURRENT_USER").await, Vec::<i64>::new());
    }

    /// GHSA-9x5g-62gj-wqf2: the right to a field or a collection goes with it and does not come back
    /// with the name.
    async fn a_right_does_not_outlive_its_field_or_collection(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, critic) = critic(&server, &admin).await;
        admin.permit(Some(&role), "houses", "read", json!({ "fields": ["id", "name", "patron"] })).await;
        admin.permit(Some(&role), "notices", "read", json!({})).await;
        assert_eq!(critic.get("/items/houses?fields=patron").await.0, 200);
        assert_eq!(admin.delete("/fields/houses/patron", Value::Null).await.0, 204);
        admin.must_post("/fields/houses", json!({ "field": "patron", "type": "string" })).await;
        assert_eq!(admin.patch("/items/houses/1", json!({ "patron": "private" })).await.0, 200);
        assert_eq!(critic.get("/items/houses?fields=patron").await.0, 403);
        assert_eq!(data(&critic, "/items/houses/1").await, json!({ "id": 1, "name": "Globe" }));
        assert_eq!(critic.get("/items/houses?filter[patron][_eq]=private").await.0, 403);

        assert_eq!(data(&critic, "/items/notices?aggregate[count]=*").await, json!([{ "count": 4 }]));
        assert_eq!(admin.delete("/collections/notices", Value::Null).await.0, 204);
        admin.create_collection("notices", json!([{ "field": "text", "type": "string" }])).await;
        assert_eq!(critic.get("/items/notices").await.0, 403);
        assert_eq!(data(&admin, &format!("/permissions?fields=collection&filter[role][_eq]={role}")).await, json!([{ "collection": "houses" }]));
    }

    /// GHSA-99vm-5v2h-h6r6: there is one rule for each role, collection and action; nothing adds up.
    async fn a_role_has_one_rule_for_each_action(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, critic) = critic(&server, &admin).await;
        admin.permit(Some(&role), "houses", "read", json!({ "fields": ["id", "name"], "permissions": { "city": { "_eq": "London" } } })).await;
        let second = json!({ "role": role, "collection": "houses", "action": "read", "fields": ["id", "patron"], "permissions": { "city": { "_eq": "Vienna" } } });
        let answer = admin.request("POST", "/permissions", Some(second)).await;
        assert_eq!((answer.status, answer.codes()), (400, vec!["RECORD_NOT_UNIQUE"]), "{}", answer.body);
        assert_eq!(data(&critic, "/items/houses?sort=id").await, json!([{ "id": 1, "name": "Globe" }, { "id": 2, "name": "Rose" }]));
        assert_eq!(critic.get("/items/houses?fields=patron").await.0, 403);
    }

    /// Thread 6602 and the stale caches beside it: rules, fields and collections count from the next
    /// request on, whoever asked before.
    async fn no_answer_comes_from_an_older_rule(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, user, critic) = critic(&server, &admin).await;
        let (_, _, other) = super::critic(&server, &admin).await;
        let rule = json!({ "role": role, "collection": "houses", "action": "read", "fields": ["id"], "permissions": { "city": { "_eq": "$CURRENT_USER.location" } } });
        let id = admin.must_post("/permissions", rule).await["id"].clone();
        for place in ["London", "Vienna", "Paris", "London"] {
            assert_eq!(admin.patch(&format!("/users/{user}"), json!({ "location": place })).await.0, 200);
            let expected: &[i64] = match place { "London" => &[1, 2], "Vienna" => &[3], _ => &[] };
            assert_eq!(ids(&critic, "/items/houses?fields=id&sort=id").await, expected, "{place}");
            assert_eq!(other.get("/items/houses?fields=id&sort=id").await.0, 403, "another caller gets nothing of it");
        }
        for fields in [json!(["id", "patron"]), json!(["id"]), json!(["*"]), json!([]), Value::Null] {
            assert_eq!(admin.patch(&format!("/permissions/{id}"), json!({ "fields": fields })).await.0, 200);
            let readable = fields == json!(["*"]) || fields == json!(["id", "patron"]);
            assert_eq!(critic.get("/items/houses?fields=patron").await.0, if readable { 200 } else { 403 }, "{fields}");
        }
        // Without a field, rows are their keys.
        assert_eq!(data(&critic, "/items/houses?sort=id").await, json!([1, 2]));
        assert_eq!(data(&critic, "/items/houses?filter[id][_eq]=2").await, json!([2]));
        admin.must_post("/fields/houses", json!({ "field": "stars", "type": "integer" })).await;
        assert_eq!(admin.patch(&format!("/permissions/{id}"), json!({ "fields": ["id", "stars"] })).await.0, 200);
        assert_eq!(data(&critic, "/items/houses/1").await, json!({ "id": 1, "stars": null }));
        assert_eq!(admin.delete(&format!("/roles/{role}"), Value::Null).await.0, 204);
        assert!(matches!(critic.get("/items/houses").await.0, 401 | 403));
    }
}
