//! Changes of roles, flags, addresses, permissions and states act on the next request, whatever
//! token was given out before; and nobody can take away the last admin.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

use super::{caller, tokens};

each_engine! {
    async fn changes_act_on_the_next_request(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        admin.create_collection("songs", json!([{ "field": "title", "type": "string" }])).await;
        admin.must_post("/items/songs", json!({ "title": "Ode" })).await;
        let role = admin.create_role("Listeners", false).await;
        let (role_path, second) = (format!("/roles/{role}"), admin.create_role("Others", false).await);
        let user = admin.create_user(Some(&role)).await;
        let user_path = format!("/users/{}", user.id);
        let listener = caller(&server, &tokens(&server, &user).await);
        let status = || async { listener.get("/items/songs").await.0 };
        let change = |path: String, body: Value| {
            let admin = admin.clone();
            async move {
                let (status, answer) = admin.patch(&path, body).await;
                assert_eq!(status, 200, "{path}: {answer}");
            }
        };

        assert_eq!(status().await, 403);
        let rule = json!({ "role": role, "collection": "songs", "action": "read", "fields": ["*"], "permissions": {} });
        let permission = admin.must_post("/permissions", rule).await["id"].to_string();
        assert_eq!(status().await, 200, "a permission was given");
        change(format!("/permissions/{permission}"), json!({ "fields": ["id"] })).await;
        assert_eq!(listener.get("/items/songs?fields=title").await.0, 403, "a field was taken away");
        change(format!("/permissions/{permission}"), json!({ "permissions": { "title": { "_eq": "x" } } })).await;
        assert_eq!(listener.get("/items/songs").await.1["data"], json!([]), "the rows were taken away");
        assert_eq!(admin.delete(&format!("/permissions/{permission}"), Value::Null).await.0, 204);
        assert_eq!(status().await, 403, "the permission was taken away");

        change(role_path.clone(), json!({ "admin_access": true })).await;
        assert_eq!(status().await, 200, "the role became admin");
        change(role_path.clone(), json!({ "admin_access": false })).await;
        assert_eq!(status().await, 403, "the role is no admin any more");

        admin.permit(Some(&second), "songs", "read", json!({})).await;
        change(user_path.clone(), json!({ "role": second })).await;
        assert_eq!(status().await, 200, "another role");
        change(format!("/roles/{second}"), json!({ "ip_access": ["10.9.8.7"] })).await;
        let answer = listener.request("GET", "/items/songs", None).await;
        assert_eq!((answer.status, answer.codes()), (401, vec!["INVALID_IP"]));
        change(format!("/roles/{second}"), json!({ "ip_access": ["10.9.8.7", "127.0.0.1"] })).await;
        assert_eq!(status().await, 200);
        change(format!("/roles/{second}"), json!({ "ip_access": null })).await;
        assert_eq!(status().await, 200);

        change(user_path.clone(), json!({ "status": "suspended" })).await;
        assert_eq!(status().await, 401, "the user is suspended");
        change(user_path.clone(), json!({ "status": "active" })).await;
        assert_eq!(status().await, 200);
        assert_eq!(admin.delete(&format!("/roles/{second}"), Value::Null).await.0, 204);
        assert_eq!(status().await, 401, "the role and with it its users went");
        change(user_path.clone(), json!({ "status": "active", "role": role })).await;
        assert_eq!(status().await, 403);
        assert_eq!(admin.delete(&user_path, Value::Null).await.0, 204);
        assert_eq!(status().await, 401, "the user is gone");
    }

    async fn the_last_admin_stays(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let (_, me) = admin.get("/users/me?fields=id,role").await;
        let (user, role) = (format!("/users/{}", id(&me["data"]["id"])), format!("/roles/{}", id(&me["data"]["role"])));
        let other = admin.create_role("Others", false).await;
        let attempts = [
            ("PATCH", user.clone(), Some(json!({ "role": null }))),
            ("PATCH", user.clone(), Some(json!({ "role": other }))),
            ("PATCH", user.clone(), Some(json!({ "status": "suspended" }))),
            ("PATCH", "/users/me".to_owned(), Some(json!({ "status": "draft" }))),
            ("DELETE", user.clone(), None),
            ("PATCH", role.clone(), Some(json!({ "admin_access": false }))),
            ("PATCH", role.clone(), Some(json!({ "users": [] }))),
            ("DELETE", role.clone(), None),
            ("DELETE", "/users".to_owned(), Some(json!([id(&me["data"]["id"])]))),
        ];
        for (method, path, body) in attempts {
            let told = format!("{method} {path} {body:?}");
            let answer = admin.request(method, &path, body).await;
            assert_eq!((answer.status, answer.codes()), (422, vec!["UNPROCESSABLE_ENTITY"]), "{told}: {}", answer.body);
            let (status, now) = admin.get("/users/me?fields=id,role").await;
            assert_eq!((status, &now), (200, &me), "{told} left something behind");
        }
        // with a second one, the first may go
        let second = admin.must_post("/roles", json!({ "name": "Second", "admin_access": true })).await;
        let keeper = admin.create_user(second["id"].as_str()).await;
        assert_eq!(admin.patch(&user, json!({ "role": other })).await.0, 200);
        assert_eq!(admin.get("/roles").await.0, 403);
        let keeper = server.client().login(&keeper.email, &keeper.password).await;
        assert_eq!(keeper.get(&role).await.0, 200);
    }
}

fn id(value: &Value) -> &str {
    value.as_str().expect("an id")
}
