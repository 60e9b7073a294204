//! Log-ins that fail alike, hashes of other servers, the lock after too many attempts.

use std::time::{Duration, Instant};

use serde_json::json;
use waymark_tests::{Kind, Server, each_engine, server::ADMIN_EMAIL};

/// Written by the reference implementation of argon2: with the defaults of its package for Node, and with others.
const HASHES: [(&str, &str); 2] = [
    (
        "correct horse",
        "$argon2id$v=19$m=65536,t=3,p=4$AAECAwQFBgcICQoLDA0ODw$V38f836aPlLJfTn46DiRwbc7Dof/4EKc7o7eL7AF/kQ",
    ),
    ("pässwörd 🔑", "$argon2id$v=19$m=4096,t=2,p=1$/+7/7v/u/+7/7v/u/+7/7g$irrkKMWtsL+LsdGUDBuwBbzizVNnDELp"),
];

each_engine! {
    async fn hashes_of_other_servers_are_good(kind) {
        let server = Server::start(kind).await;
        let user = server.admin().await.create_user(None).await;
        for (password, hash) in HASHES {
            server
                .database
                .execute(&format!("UPDATE directus_users SET password = '{hash}' WHERE email = '{}'", user.email))
                .await;
            server.client().login(&user.email, password).await;
            let wrong = json!({ "email": user.email, "password": format!("{password} ") });
            let answer = server.client().request("POST", "/auth/login", Some(wrong)).await;
            assert_eq!((answer.status, answer.codes()), (401, vec!["INVALID_CREDENTIALS"]));
        }
    }

    async fn failures_look_alike(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let known = admin.create_user(None).await;
        let draft = admin.create_user(None).await;
        assert_eq!(admin.patch(&format!("/users/{}", draft.id), json!({ "status": "draft" })).await.0, 200);
        let suspended = admin.create_user(None).await;
        assert_eq!(admin.patch(&format!("/users/{}", suspended.id), json!({ "status": "suspended" })).await.0, 200);
        let mut answers = Vec::new();
        for (email, password) in [
            ("nobody@example.com", "correct horse"),
            (known.email.as_str(), "wrong"),
            (draft.email.as_str(), "correct horse"),
            (draft.email.as_str(), "wrong"),
            (suspended.email.as_str(), "wrong"),
        ] {
            let login = json!({ "email": email, "password": password });
            let answer = server.client().request("POST", "/auth/login", Some(login)).await;
            answers.push((answer.status, answer.body));
        }
        let first = answers.first().expect("answers").clone();
        assert_eq!(first.0, 401);
        assert!(answers.iter().all(|answer| *answer == first), "{answers:?}");
        // the state of an account is told to those who know the password
        let login = json!({ "email": suspended.email, "password": suspended.password });
        let answer = server.client().request("POST", "/auth/login", Some(login)).await;
        assert_eq!((answer.status, answer.codes()), (401, vec!["USER_SUSPENDED"]));
    }

    async fn too_many_attempts_suspend(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let user = admin.create_user(None).await;
        server.database.execute("DELETE FROM directus_settings").await;
        server.database.execute("INSERT INTO directus_settings (id, auth_login_attempts) VALUES (1, 3)").await;
        let right = json!({ "email": user.email, "password": user.password });
        let wrong = json!({ "email": user.email, "password": "wrong" });
        for _ in 0..3 {
            assert_eq!(server.client().post("/auth/login", wrong.clone()).await.0, 401);
        }
        let answer = server.client().request("POST", "/auth/login", Some(right.clone())).await;
        assert_eq!((answer.status, answer.codes()), (401, vec!["INVALID_CREDENTIALS"]), "the right password came too late");
        let (_, row) = admin.get(&format!("/users/{}?fields=status", user.id)).await;
        assert_eq!(row["data"]["status"], json!("suspended"));
        assert_eq!(admin.patch(&format!("/users/{}", user.id), json!({ "status": "active" })).await.0, 200);
        assert_eq!(server.client().post("/auth/login", right).await.0, 200);
    }

    async fn a_success_forgets_failures(kind) {
        let server = Server::start(kind).await;
        let user = server.admin().await.create_user(None).await;
        server.database.execute("DELETE FROM directus_settings").await;
        server.database.execute("INSERT INTO directus_settings (id, auth_login_attempts) VALUES (1, 2)").await;
        for _ in 0..3 {
            let wrong = json!({ "email": user.email, "password": "wrong" });
            assert_eq!(server.client().post("/auth/login", wrong).await.0, 401);
            server.client().login(&user.email, &user.password).await;
        }
    }
}

/// The shortest of some durations: what is left when the machine was busy with other things.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_the_time_of_a_failure_tells_nothing() {
    const STALL: Duration = Duration::from_millis(400);
    let server = Server::start_with(Kind::Sqlite, &[("LOGIN_STALL_TIME", "400")]).await;
    let mut shortest = Vec::new();
    for (email, password) in [("nobody@example.com", "password"), (ADMIN_EMAIL, "wrong"), (ADMIN_EMAIL, "password")] {
        let mut times = Vec::new();
        for _ in 0..4 {
            let started = Instant::now();
            server.client().post("/auth/login", json!({ "email": email, "password": password })).await;
            times.push(started.elapsed());
        }
        shortest.push(times.into_iter().min().expect("times"));
    }
    assert!(shortest.iter().all(|time| *time >= STALL), "{shortest:?}");
    let (least, most) = (shortest.iter().min().expect("times"), shortest.iter().max().expect("times"));
    assert!(*most - *least < Duration::from_millis(100), "{shortest:?}");
}

/// Without a stall, the work is the same: a hash is verified also for nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_nobody_costs_as_much_as_somebody() {
    let costly = [("HASH_MEMORY_COST", "65536"), ("HASH_TIME_COST", "3")];
    let server = Server::start_with(Kind::Sqlite, &costly).await;
    let mut shortest = Vec::new();
    for email in ["nobody@example.com", ADMIN_EMAIL] {
        let mut times = Vec::new();
        for _ in 0..5 {
            let started = Instant::now();
            server.client().post("/auth/login", json!({ "email": email, "password": "wrong" })).await;
            times.push(started.elapsed());
        }
        shortest.push(times.into_iter().min().expect("times"));
    }
    let [nobody, somebody] = shortest.as_slice() else { panic!("two times") };
    let ratio = nobody.as_secs_f64() / somebody.as_secs_f64();
    assert!((0.5..2.0).contains(&ratio), "{nobody:?} for nobody, {somebody:?} for somebody");
}
