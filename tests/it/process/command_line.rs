//! The commands of the binary against real databases, as an operator types them.

use std::process::Stdio;

use serde_json::json;
use waymark_tests::{Database, Kind, Process, each_engine, process, server};

/// What a command came to.
struct Outcome {
    code: Option<i32>,
    out: String,
    err: String,
}

async fn waymark(database: &Database, arguments: &[&str], overrides: &[(&str, &str)]) -> Outcome {
    let mut command = process::command(database, arguments, overrides);
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().await.expect("the binary starts");
    Outcome {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

/// The same for a command that has to succeed; gives what it printed.
async fn must(database: &Database, arguments: &[&str], overrides: &[(&str, &str)]) -> String {
    let outcome = waymark(database, arguments, overrides).await;
    assert_eq!(outcome.code, Some(0), "{arguments:?}: {} {}", outcome.out, outcome.err);
    outcome.out
}

each_engine! {
    async fn a_database_without_migrations_is_not_served(kind) {
        let database = Database::create(kind).await;
        if kind == Kind::Sqlite {
            database.execute("CREATE TABLE songs (id integer PRIMARY KEY)").await;
        }
        for arguments in [&["serve"] as &[&str], &["count", "directus_users"]] {
            let outcome = waymark(&database, arguments, &[("PORT", "0")]).await;
            assert_eq!(outcome.code, Some(1), "{arguments:?}");
            assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
            assert!(outcome.err.contains("lacks 1 migration(s)"), "{}", outcome.err);
            assert!(outcome.err.contains("waymark bootstrap"), "{}", outcome.err);
        }
    }

    async fn bootstrapping_again_changes_nothing(kind) {
        let database = Database::create(kind).await;
        let first = must(&database, &["bootstrap"], &[]).await;
        assert!(first.contains("Migrations applied: 1") && first.contains("Admin created: admin@example.com"), "{first}");
        assert!(!first.contains(server::ADMIN_PASSWORD) && !first.contains("Password"), "{first}");
        let before = database.text("SELECT password FROM directus_users").await;
        let second = must(&database, &["bootstrap"], &[("ADMIN_PASSWORD", "another"), ("ADMIN_EMAIL", "b@example.com")]).await;
        assert!(second.contains("Migrations applied: 0") && second.contains("An admin exists."), "{second}");
        assert_eq!(database.text("SELECT password FROM directus_users").await, before);
        assert_eq!(database.number("SELECT COUNT(*) FROM directus_roles WHERE admin_access").await, 1);
    }

    async fn bootstrapping_takes_no_account_over(kind) {
        let database = Database::create(kind).await;
        must(&database, &["bootstrap"], &[]).await;
        database.execute("UPDATE directus_users SET role = NULL, email = 'Admin@Example.com'").await;
        let again = must(&database, &["bootstrap"], &[("ADMIN_PASSWORD", "another")]).await;
        assert!(again.contains("A user admin@example.com exists."), "{again}");
        assert_eq!(database.number("SELECT COUNT(*) FROM directus_users WHERE role IS NULL").await, 1);
        assert_eq!(database.number("SELECT COUNT(*) FROM directus_users").await, 1);
        assert_eq!(database.number("SELECT COUNT(*) FROM directus_roles WHERE admin_access").await, 1);
        let other = must(&database, &["bootstrap"], &[("ADMIN_EMAIL", "second@example.com")]).await;
        assert!(other.contains("Admin created: second@example.com"), "{other}");
        assert_eq!(database.number("SELECT COUNT(*) FROM directus_roles WHERE admin_access").await, 1);
    }

    async fn a_random_password_is_shown_once(kind) {
        let database = Database::create(kind).await;
        // an empty value is no password
        let overrides = [("ADMIN_PASSWORD", "")];
        let first = must(&database, &["bootstrap"], &overrides).await;
        let shown: Vec<&str> = first.lines().filter_map(|line| line.strip_prefix("Password (shown once): ")).collect();
        let [password] = shown.as_slice() else { panic!("one password: {first}") };
        let second = must(&database, &["bootstrap"], &overrides).await;
        assert!(!second.contains(password) && !second.contains("Password"), "{second}");
        let server = Process::serve(&database, &overrides).await;
        server.client().login(server::ADMIN_EMAIL, password).await;
    }

    async fn accounts_are_made_by_commands(kind) {
        let database = Database::create(kind).await;
        let server = Process::start(&database, &[]).await;
        let role = must(&database, &["roles", "create", "--name", "Editor", "--app"], &[]).await.trim().to_owned();
        let arguments = ["users", "create", "--email", "e@example.com", "--password", "first one", "--role", &role];
        let user = must(&database, &arguments, &[]).await.trim().to_owned();

        let editor = server.client().login("e@example.com", "first one").await;
        let (status, me) = editor.get("/users/me?fields=id,role").await;
        assert_eq!((status, &me["data"]["id"], &me["data"]["role"]), (200, &json!(user), &json!(role)));
        let (_, tokens) = server.client().post("/auth/login", json!({ "email": "e@example.com", "password": "first one" })).await;
        let refresh = json!({ "refresh_token": tokens["data"]["refresh_token"] });

        let printed = must(&database, &["users", "passwd", "--email", "E@example.com", "--password", "second one"], &[]).await;
        assert!(!printed.contains("second one"), "{printed}");
        assert_eq!(server.client().post("/auth/refresh", refresh).await.0, 401, "the session went on");
        let old = json!({ "email": "e@example.com", "password": "first one" });
        assert_eq!(server.client().post("/auth/login", old).await.0, 401);
        server.client().login("e@example.com", "second one").await;

        assert_eq!(must(&database, &["count", "directus_users"], &[]).await.trim(), "2");
        let admins = must(&database, &["roles", "create", "--name", "Chief", "--admin"], &[]).await.trim().to_owned();
        let (_, role) = server.admin().await.get(&format!("/roles/{admins}")).await;
        assert_eq!(role["data"]["admin_access"], json!(true), "{role}");
    }

    async fn commands_that_fail_say_why(kind) {
        let database = Database::create(kind).await;
        must(&database, &["bootstrap"], &[]).await;
        let email = server::ADMIN_EMAIL;
        for (arguments, told) in [
            (vec!["users", "create", "--email", email, "--password", "x"], "unique"),
            (vec!["users", "create", "--email", "no address", "--password", "x"], "email"),
            (vec!["users", "create", "--email", "x@example.com", "--password", "x", "--role", "nobody"], ""),
            (vec!["users", "passwd", "--email", "x@example.com", "--password", "x"], "x@example.com"),
            (vec!["count", "nothing"], "nothing"),
        ] {
            let outcome = waymark(&database, &arguments, &[]).await;
            assert_eq!(outcome.code, Some(1), "{arguments:?}: {}", outcome.out);
            assert!(!outcome.err.trim().is_empty() && outcome.err.contains(told), "{arguments:?}: {}", outcome.err);
        }
        assert_eq!(database.number("SELECT COUNT(*) FROM directus_users").await, 1);
    }

    async fn health_is_asked_by_a_command(kind) {
        let database = Database::create(kind).await;
        let server = Process::start(&database, &[("DB_HEALTHCHECK_THRESHOLD", "60000")]).await;
        let port = server.url.rsplit(':').next().expect("a port").to_owned();
        let ask = [("PORT", port.as_str())];
        assert_eq!(waymark(&database, &["healthcheck"], &ask).await.code, Some(0));
        server.kill().await;
        let outcome = waymark(&database, &["healthcheck"], &ask).await;
        assert_eq!(outcome.code, Some(1));
        assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
    }
}

#[tokio::test]
async fn each_bad_setting_has_its_line() {
    let database = Database::create(Kind::Sqlite).await;
    let bad = [
        ("PORT", "many"),
        ("ACCESS_TOKEN_TTL", "soon"),
        ("HASH_MEMORY_COST", "-1"),
        ("LOG_STYLE", "loud"),
        ("REFRESH_TOKEN_COOKIE_SAME_SITE", "maybe"),
        ("SECRET", ""),
    ];
    for command in [&["serve"] as &[&str], &["bootstrap"], &["config", "print"]] {
        let outcome = waymark(&database, command, &bad).await;
        assert_eq!(outcome.code, Some(1), "{command:?}");
        for (name, _) in bad {
            let lines = outcome.err.lines().filter(|line| line.contains(name)).count();
            assert_eq!(lines, 1, "{command:?}, {name}: {}", outcome.err);
        }
        assert_eq!(outcome.err.lines().count(), bad.len(), "{}", outcome.err);
    }
    assert!(!std::path::Path::new(database.url().trim_start_matches("sqlite://")).exists(), "nothing was made");
}

#[tokio::test]
async fn printed_settings_hide_each_secret() {
    let database = Database::create(Kind::Postgres).await;
    let secrets = [
        ("SECRET", "s3cret-one"),
        ("KEY", "s3cret-two"),
        ("ADMIN_PASSWORD", "s3cret-three"),
        ("DB_CONNECTION_STRING", "postgres://somebody:s3cret-four@db.example.com/x"),
        ("DB_PASSWORD", "s3cret-five"),
    ];
    let printed = must(&database, &["config", "print"], &secrets).await;
    assert!(!printed.contains("s3cret"), "{printed}");
    for (name, _) in secrets {
        assert!(printed.lines().any(|line| line.starts_with(&format!("{name} = "))), "{name}: {printed}");
    }
    assert!(printed.contains("LOG_LEVEL = \"warn\""), "{printed}");
}

#[tokio::test]
async fn an_address_in_use_is_named() {
    let database = Database::create(Kind::Sqlite).await;
    let server = Process::start(&database, &[]).await;
    let port = server.url.rsplit(':').next().expect("a port").to_owned();
    let outcome = waymark(&database, &["serve"], &[("PORT", &port)]).await;
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.err.contains("PORT") && outcome.err.contains(&port), "{}", outcome.err);
}
