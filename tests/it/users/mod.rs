//! Users and their sessions: the last admin, suspension, passwords, the lock-out.

use serde_json::{Value, json};
use waymark_tests::{Client, Server, each_engine};

async fn tokens(client: &Client, email: &str, password: &str) -> (String, String) {
    let (status, body) = client.post("/auth/login", json!({ "email": email, "password": password })).await;
    assert_eq!(status, 200, "{body}");
    let text = |name: &str| body["data"][name].as_str().expect("a token").to_owned();
    (text("access_token"), text("refresh_token"))
}

async fn refresh(client: &Client, token: &str) -> u16 {
    client.post("/auth/refresh", json!({ "refresh_token": token, "mode": "json" })).await.0
}

each_engine! {
    async fn the_last_admin_stays(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let me = admin.get("/users/me?fields=id,role").await.1["data"].clone();
        let (id, role) = (me["id"].as_str().expect("an id"), me["role"].as_str().expect("a role"));
        let other = admin.create_role("editor", true).await;
        let (user, rank) = (format!("/users/{id}"), format!("/roles/{role}"));
        for (method, path, body) in [
            ("PATCH", user.as_str(), json!({ "role": null })),
            ("PATCH", &user, json!({ "role": other })),
            ("PATCH", &user, json!({ "status": "suspended" })),
            ("PATCH", &user, json!({ "status": "archived" })),
            ("PATCH", "/users/me", json!({ "role": null })),
            ("PATCH", "/users", json!({ "keys": [id], "data": { "role": null } })),
            ("PATCH", "/users", json!({ "query": {}, "data": { "status": "suspended" } })),
            ("DELETE", &user, Value::Null),
            ("DELETE", "/users", json!([id])),
            ("DELETE", "/users", json!({ "query": {} })),
            ("PATCH", &rank, json!({ "admin_access": false })),
            ("PATCH", &rank, json!({ "users": [] })),
            ("PATCH", &rank, json!({ "users": { "create": [], "update": [{ "id": id, "status": "suspended" }], "delete": [] } })),
            ("PATCH", &format!("/roles/{other}"), json!({ "users": [id] })),
            ("DELETE", &rank, Value::Null),
        ] {
            let answer = admin.request(method, path, (!body.is_null()).then(|| body.clone())).await;
            assert_eq!((answer.status, answer.codes()), (422, vec!["UNPROCESSABLE_ENTITY"]), "{method} {path} {body}: {}", answer.body);
        }
        assert_eq!(admin.get("/users/me?fields=id,role").await.1["data"], me);
        admin.create_user(Some(role)).await;
        assert_eq!(admin.patch(&user, json!({ "role": null })).await.0, 200);
    }

    async fn a_new_password_ends_the_sessions(kind) {
        let server = Server::start(kind).await;
        let (admin, public) = (server.admin().await, server.client());
        let user = admin.create_user(None).await;
        let (_, old) = tokens(&public, &user.email, &user.password).await;
        let (status, body) = admin.patch(&format!("/users/{}", user.id), json!({ "password": "a new battery" })).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(refresh(&public, &old).await, 401);
        assert_eq!(public.post("/auth/login", json!({ "email": user.email, "password": user.password })).await.0, 401);
        let (_, new) = tokens(&public, &user.email, "a new battery").await;
        assert_eq!(admin.patch(&format!("/users/{}", user.id), json!({ "first_name": "Ann" })).await.0, 200);
        assert_eq!(refresh(&public, &new).await, 200);
        assert_eq!(refresh(&public, &new).await, 401);
    }

    async fn a_suspended_user_is_out_at_once(kind) {
        let server = Server::start(kind).await;
        let (admin, public) = (server.admin().await, server.client());
        let user = admin.create_user(None).await;
        let (access, session) = tokens(&public, &user.email, &user.password).await;
        let client = public.with_token(access);
        assert_eq!(client.get("/users/me?fields=id").await.0, 200);
        assert_eq!(admin.patch(&format!("/users/{}", user.id), json!({ "status": "suspended" })).await.0, 200);
        assert!(matches!(client.get("/users/me?fields=id").await.0, 401 | 403));
        assert_eq!(refresh(&public, &session).await, 401);
        let right = public.request("POST", "/auth/login", Some(json!({ "email": user.email, "password": user.password }))).await;
        assert_eq!((right.status, right.codes()), (401, vec!["USER_SUSPENDED"]));
        let wrong = public.request("POST", "/auth/login", Some(json!({ "email": user.email, "password": "guess" }))).await;
        assert_eq!((wrong.status, wrong.codes()), (401, vec!["INVALID_CREDENTIALS"]));
    }

    async fn a_deleted_user_is_out_at_once(kind) {
        let server = Server::start(kind).await;
        let (admin, public) = (server.admin().await, server.client());
        let user = admin.create_user(None).await;
        let (access, session) = tokens(&public, &user.email, &user.password).await;
        assert_eq!(admin.delete(&format!("/users/{}", user.id), Value::Null).await.0, 204);
        assert!(matches!(public.with_token(access).get("/users/me?fields=id").await.0, 401 | 403));
        assert_eq!(refresh(&public, &session).await, 401);
    }

    async fn a_static_token_works_until_it_is_taken_away(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let user = admin.create_user(None).await;
        let path = format!("/users/{}", user.id);
        assert_eq!(admin.patch(&path, json!({ "token": "a-static-token-of-a-machine" })).await.0, 200);
        let machine = server.client().with_token("a-static-token-of-a-machine");
        assert_eq!(machine.get("/users/me?fields=id").await.1["data"]["id"], json!(user.id));
        let (_, shown) = admin.get(&format!("{path}?fields=token,password")).await;
        assert_eq!(shown["data"], json!({ "token": "**********", "password": "**********" }));
        assert_eq!(admin.patch(&path, json!({ "token": null })).await.0, 200);
        assert_eq!(machine.get("/users/me?fields=id").await.0, 401);
    }

    async fn the_attempt_that_trips_the_lock_out_is_refused(kind) {
        let server = Server::start(kind).await;
        let (admin, public) = (server.admin().await, server.client());
        server.database.execute("INSERT INTO directus_settings (auth_login_attempts) VALUES (3)").await;
        let user = admin.create_user(None).await;
        let attempt = |password: &'static str| {
            let (public, email) = (public.clone(), user.email.clone());
            async move { public.request("POST", "/auth/login", Some(json!({ "email": email, "password": password }))).await }
        };
        for _ in 0..4 {
            let answer = attempt("guess").await;
            assert_eq!(answer.status, 401, "{}", answer.body);
        }
        let answer = attempt("correct horse").await;
        assert_eq!(answer.status, 401, "{}", answer.body);
        let (_, shown) = admin.get(&format!("/users/{}?fields=status", user.id)).await;
        assert_eq!(shown["data"]["status"], json!("suspended"));
        assert_eq!(admin.patch(&format!("/users/{}", user.id), json!({ "status": "active" })).await.0, 200);
        assert_eq!(attempt("correct horse").await.status, 200);
    }
}
