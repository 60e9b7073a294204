//! What a server writes down about its work: paths and durations, never what was sent or stored.

use std::{fs, process::Stdio};

use serde_json::{Value, json};
use waymark_tests::{Database, Process, each_engine, process, server};

each_engine! {
    async fn logs_hold_no_secrets_and_no_content(kind) {
        let database = Database::create(kind).await;
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("log");
        let overrides = [
            ("LOG_LEVEL", "trace"),
            ("LOG_STYLE", "raw"),
            ("SECRET", "signing-s3cret"),
            ("ADMIN_PASSWORD", "first-passw0rd"),
        ];
        let bootstrap = process::command(&database, &["bootstrap"], &overrides).output().await.expect("output");
        assert!(bootstrap.status.success());
        let mut command = process::command(&database, &["serve"], &overrides);
        command.stdout(Stdio::null()).stderr(fs::File::create(&path).expect("a file"));
        let server = Process::serve_by(command).await;

        let mut secrets: Vec<String> = ["signing-s3cret", "first-passw0rd"].map(str::to_owned).to_vec();
        let login = json!({ "email": server::ADMIN_EMAIL, "password": "first-passw0rd" });
        let (_, tokens) = server.client().post("/auth/login", login).await;
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let access = text(&tokens["data"]["access_token"]);
        secrets.extend([access.clone(), text(&tokens["data"]["refresh_token"])]);
        let admin = server.client().with_token(access.clone());

        let wrong = json!({ "email": server::ADMIN_EMAIL, "password": "wr0ng-password" });
        assert_eq!(server.client().post("/auth/login", wrong).await.0, 401);
        let refresh = json!({ "refresh_token": text(&tokens["data"]["refresh_token"]) });
        let (status, renewed) = server.client().post("/auth/refresh", refresh).await;
        assert_eq!(status, 200);
        secrets.push(text(&renewed["data"]["refresh_token"]));
        let (status, me) = admin.patch("/users/me", json!({ "token": "static-t0ken", "password": "next-passw0rd" })).await;
        assert_eq!(status, 200, "{me}");
        assert_eq!(server.client().get("/users/me?access_token=static-t0ken").await.0, 200);

        admin.create_collection("letters", json!([{ "field": "body", "type": "text", "schema": { "is_unique": true } }])).await;
        let id = admin.must_post("/items/letters", json!({ "body": "dear-c0ntent" })).await["id"].clone();
        assert_eq!(admin.patch(&format!("/items/letters/{id}"), json!({ "body": "changed-c0ntent" })).await.0, 200);
        assert_eq!(admin.get("/items/letters?filter[body][_eq]=changed-c0ntent").await.0, 200);
        assert_eq!(admin.search("/items/letters", json!({ "filter": { "body": { "_contains": "s0ught" } } })).await.0, 200);
        // what a database says about refused values must not get there either
        let (status, _) = admin.post("/items/letters", json!({ "body": "changed-c0ntent" })).await;
        println!("a value given twice: {status}");
        let (status, _) = admin.post("/items/letters", json!({ "id": "n0-number", "body": "x" })).await;
        assert_eq!(status, 400);
        server.terminate().await;
        assert!(server.wait(std::time::Duration::from_secs(10)).await.success());

        secrets.extend(
            ["wr0ng-password", "next-passw0rd", "static-t0ken", "dear-c0ntent", "changed-c0ntent", "s0ught", "n0-number"]
                .map(str::to_owned),
        );
        let log = fs::read_to_string(&path).expect("a log");
        assert!(log.lines().count() > 20, "a log at the level of traces: {log}");
        for line in log.lines() {
            let _: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
            for secret in &secrets {
                assert!(!line.contains(secret.as_str()), "{secret} is in the log: {line}");
            }
            assert!(!line.contains("$argon2"), "a hash is in the log: {line}");
        }
        assert!(log.contains("/items/letters"), "{log}");
    }
}
