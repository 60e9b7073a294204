//! Refreshing, logging out, cookies, static tokens, and what ends a session.

use futures_util::future::join_all;
use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

use super::{caller, text, tokens};

each_engine! {
    async fn one_of_many_refreshes_wins(kind) {
        let server = Server::start(kind).await;
        let user = server.admin().await.create_user(None).await;
        let first = tokens(&server, &user).await;
        let refresh = json!({ "refresh_token": first["refresh_token"] });
        let client = server.client();
        let answers = join_all((0..20).map(|_| client.post("/auth/refresh", refresh.clone()))).await;
        let won: Vec<&Value> = answers.iter().filter(|answer| answer.0 == 200).map(|answer| &answer.1["data"]).collect();
        let [won] = won.as_slice() else { panic!("{} winners", won.len()) };
        assert!(answers.iter().all(|(status, _)| [200, 401].contains(status)), "{answers:?}");
        assert_ne!(won["refresh_token"], first["refresh_token"]);
        let sessions = format!("SELECT COUNT(*) FROM directus_sessions WHERE token = '{}'", text(&won["refresh_token"]));
        assert_eq!(server.database.number(&sessions).await, 1);
        assert_eq!(caller(&server, won).get("/users/me").await.0, 200);
        let again = json!({ "refresh_token": won["refresh_token"] });
        assert_eq!(client.post("/auth/refresh", again).await.0, 200);
    }

    async fn logging_out_ends_the_session(kind) {
        let server = Server::start(kind).await;
        let user = server.admin().await.create_user(None).await;
        let (one, other) = (tokens(&server, &user).await, tokens(&server, &user).await);
        let body = |tokens: &Value| json!({ "refresh_token": tokens["refresh_token"] });
        assert_eq!(server.client().post("/auth/logout", body(&one)).await, (204, Value::Null));
        assert_eq!(server.client().post("/auth/refresh", body(&one)).await.0, 401);
        assert_eq!(server.client().post("/auth/refresh", body(&other)).await.0, 200);
        assert_eq!(server.client().post("/auth/logout", json!({})).await.0, 400);
    }

    async fn a_cookie_carries_the_refresh_token(kind) {
        let settings = [
            ("REFRESH_TOKEN_COOKIE_SECURE", "true"),
            ("REFRESH_TOKEN_COOKIE_SAME_SITE", "strict"),
            ("REFRESH_TOKEN_COOKIE_DOMAIN", "example.com"),
            ("REFRESH_TOKEN_COOKIE_NAME", "session"),
            ("REFRESH_TOKEN_TTL", "2h"),
        ];
        let server = Server::start_with(kind, &settings).await;
        let user = server.admin().await.create_user(None).await;
        let login = json!({ "email": user.email, "password": user.password, "mode": "cookie" });
        let answer = server.client().request("POST", "/auth/login", Some(login)).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.body["data"].get("refresh_token"), None, "{}", answer.body);
        assert_eq!(answer.headers["cache-control"], "no-store");
        let cookie = answer.headers["set-cookie"].to_str().expect("a cookie").to_owned();
        let parts: Vec<&str> = cookie.split("; ").collect();
        for part in ["HttpOnly", "Secure", "SameSite=Strict", "Path=/", "Domain=example.com", "Max-Age=7200"] {
            assert!(parts.contains(&part), "{part}: {cookie}");
        }
        let token = cookie.strip_prefix("session=").and_then(|rest| rest.split(';').next()).expect("a token").to_owned();

        let http = reqwest::Client::new();
        let ask = |path: &str, token: &str| {
            http.post(format!("{}{path}", server.url)).header("cookie", format!("session={token}")).send()
        };
        let answer = ask("/auth/refresh", &token).await.expect("an answer");
        assert_eq!(answer.status(), 200);
        let renewed = answer.headers()["set-cookie"].to_str().expect("a cookie").to_owned();
        assert!(!renewed.contains(&token) && renewed.contains("HttpOnly"), "{renewed}");
        let body: Value = serde_json::from_str(&answer.text().await.expect("a text")).expect("JSON");
        assert_eq!(body["data"].get("refresh_token"), None, "{body}");
        assert_eq!(ask("/auth/refresh", &token).await.expect("an answer").status(), 401);

        let token = renewed.strip_prefix("session=").and_then(|rest| rest.split(';').next()).expect("a token");
        let answer = ask("/auth/logout", token).await.expect("an answer");
        assert_eq!(answer.status(), 204);
        let removed = answer.headers()["set-cookie"].to_str().expect("a cookie");
        assert!(removed.starts_with("session=;") && removed.contains("Max-Age=0"), "{removed}");
        assert_eq!(ask("/auth/refresh", token).await.expect("an answer").status(), 401);
    }

    async fn static_tokens_work_in_header_and_query(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let user = admin.create_user(None).await;
        let path = format!("/users/{}", user.id);
        let token = "Static-Token_1";
        assert_eq!(admin.patch(&path, json!({ "token": token })).await.0, 200);
        let (_, row) = admin.get(&path).await;
        assert_ne!(row["data"]["token"], json!(token), "static tokens are not shown");
        let asked = server.client().with_token(token).get("/users/me").await;
        assert_eq!((asked.0, &asked.1["data"]["id"]), (200, &json!(user.id)));
        let asked = server.client().get(&format!("/users/me?access_token={token}")).await;
        assert_eq!((asked.0, &asked.1["data"]["id"]), (200, &json!(user.id)));
        for other in ["static-token_1", "Static-Token_1%20", "Static-Token_", "none"] {
            let (status, _) = server.client().get(&format!("/users/me?access_token={other}")).await;
            assert_eq!(status, 401, "{other}");
        }
        let access = text(&tokens(&server, &user).await["access_token"]).to_owned();
        assert_eq!(server.client().get(&format!("/users/me?access_token={access}")).await.0, 200);
        // an unknown one is refused on public routes as well
        assert_eq!(server.client().with_token("none").get("/server/info").await.0, 401);
        assert_eq!(admin.patch(&path, json!({ "token": null })).await.0, 200);
        assert_eq!(server.client().with_token(token).get("/users/me").await.0, 401);
    }

    async fn a_new_password_ends_the_other_sessions(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let role = admin.create_role("Members", false).await;
        let own = json!({ "fields": ["*"], "permissions": { "id": { "_eq": "$CURRENT_USER" } } });
        admin.permit(Some(&role), "directus_users", "update", own.clone()).await;
        admin.permit(Some(&role), "directus_users", "read", own).await;
        let user = admin.create_user(Some(&role)).await;
        let bystander = admin.create_user(Some(&role)).await;
        let (here, elsewhere, others) =
            (tokens(&server, &user).await, tokens(&server, &user).await, tokens(&server, &bystander).await);
        let refresh = |tokens: &Value| {
            let (client, body) = (server.client(), json!({ "refresh_token": tokens["refresh_token"] }));
            async move { client.post("/auth/refresh", body).await.0 }
        };
        let (status, body) = caller(&server, &here).patch("/users/me", json!({ "password": "another horse" })).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(refresh(&elsewhere).await, 401, "a session elsewhere went on");
        assert_eq!(refresh(&here).await, 200, "the own session ended");
        assert_eq!(refresh(&others).await, 200, "the session of somebody else ended");
        let old = json!({ "email": user.email, "password": user.password });
        assert_eq!(server.client().post("/auth/login", old).await.0, 401);
        let last = server.client().login(&user.email, "another horse").await;
        assert_eq!(last.get("/users/me").await.0, 200);
        // set by an admin: all of them
        let login = json!({ "email": user.email, "password": "another horse" });
        let session = server.client().must_post("/auth/login", login).await;
        assert_eq!(admin.patch(&format!("/users/{}", user.id), json!({ "password": "third horse" })).await.0, 200);
        assert_eq!(refresh(&session).await, 401);
    }
}
