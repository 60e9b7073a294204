//! A database of the same layout that another server made, somewhat older and with things of its own,
//! opens in place.

use serde_json::json;
use waymark_tests::{Database, Kind, Process, each_engine};

const ROLE: &str = "11111111-1111-4111-8111-111111111111";
const USER: &str = "22222222-2222-4222-8222-222222222222";

/// "correct horse", hashed by the reference implementation of argon2 with the parameters that servers
/// on Node use by default.
const HASH: &str = "$argon2id$v=19$m=65536,t=3,p=4$AAECAwQFBgcICQoLDA0ODw$V38f836aPlLJfTn46DiRwbc7Dof/4EKc7o7eL7AF/kQ";

/// `{uuid}`, `{increment}`, `{moment}` and `"` are written as the engine has them.
const LAYOUT: &str = r#"
CREATE TABLE directus_migrations (version varchar(255) PRIMARY KEY, name varchar(255) NOT NULL, timestamp {moment});
INSERT INTO directus_migrations (version, name) VALUES ('20201028A', 'Remove Collection Foreign Keys');
INSERT INTO directus_migrations (version, name) VALUES ('20230721A', 'Require Shares Fields');

CREATE TABLE directus_collections (collection varchar(64) PRIMARY KEY, icon varchar(30), note text,
    hidden boolean NOT NULL DEFAULT false, singleton boolean NOT NULL DEFAULT false, translations json,
    preview_url varchar(255), versioning boolean NOT NULL DEFAULT false);
INSERT INTO directus_collections (collection, note, preview_url) VALUES ('articles', 'texts', 'https://example.com');

CREATE TABLE directus_fields (id {increment}, collection varchar(64) NOT NULL, field varchar(64) NOT NULL,
    special varchar(64), interface varchar(64), options json, readonly boolean NOT NULL DEFAULT false,
    hidden boolean NOT NULL DEFAULT false, sort integer, width varchar(30), invented varchar(10));
INSERT INTO directus_fields (collection, field, special, interface, invented) VALUES ('articles', 'tags', 'cast-csv', 'tags', 'kept');

CREATE TABLE directus_roles (id {uuid} PRIMARY KEY, name varchar(100) NOT NULL, icon varchar(30) NOT NULL DEFAULT 'x',
    description text, ip_access text, enforce_tfa boolean NOT NULL DEFAULT false,
    admin_access boolean NOT NULL DEFAULT false, app_access boolean NOT NULL DEFAULT true, module_list json);
INSERT INTO directus_roles (id, name, admin_access) VALUES ('{role}', 'Chief Editor', true);

CREATE TABLE directus_users (id {uuid} PRIMARY KEY, first_name varchar(50), last_name varchar(50),
    email varchar(128) UNIQUE, password varchar(255), location varchar(255), title varchar(50), description text,
    tags json, avatar {uuid}, language varchar(255), tfa_secret varchar(255),
    status varchar(16) NOT NULL DEFAULT 'active', role {uuid} REFERENCES directus_roles (id), token varchar(255),
    last_access {moment}, last_page varchar(255), shoe_size integer);
INSERT INTO directus_users (id, first_name, email, password, role, shoe_size)
    VALUES ('{user}', 'Ada', 'Ada@example.com', '{hash}', '{role}', 38);

CREATE TABLE directus_sessions (token varchar(64) PRIMARY KEY, "user" {uuid}, expires {moment}, ip varchar(255),
    user_agent varchar(255));

CREATE TABLE directus_permissions (id {increment}, role {uuid} REFERENCES directus_roles (id),
    collection varchar(64) NOT NULL, action varchar(10) NOT NULL, permissions json, validation json, presets json,
    fields text, "limit" integer);
INSERT INTO directus_permissions (role, collection, action, permissions, fields, "limit")
    VALUES (NULL, 'articles', 'read', '{"status":{"_eq":"published"}}', 'title,tags', 5);

CREATE TABLE articles (id {increment}, title varchar(255), status varchar(20), tags text);
INSERT INTO articles (title, status, tags) VALUES ('One', 'published', 'a,b');
INSERT INTO articles (title, status, tags) VALUES ('Two', 'draft', NULL);
"#;

fn layout(kind: Kind) -> String {
    let (uuid, increment, moment) = match kind {
        Kind::Sqlite => ("char(36)", "integer PRIMARY KEY AUTOINCREMENT", "datetime"),
        Kind::Postgres => ("uuid", "serial PRIMARY KEY", "timestamptz"),
        Kind::Mysql => ("char(36)", "int unsigned PRIMARY KEY AUTO_INCREMENT", "timestamp NULL"),
    };
    let words = [
        ("{uuid}", uuid),
        ("{increment}", increment),
        ("{moment}", moment),
        ("{role}", ROLE),
        ("{user}", USER),
        ("{hash}", HASH),
    ];
    let mut text = words.iter().fold(LAYOUT.to_owned(), |text, (word, value)| text.replace(word, value));
    if kind == Kind::Mysql {
        for name in ["user", "limit"] {
            text = text.replace(&format!("\"{name}\""), &format!("`{name}`"));
        }
    }
    text
}

each_engine! {
    async fn a_database_of_another_server_opens_in_place(kind) {
        let database = Database::create(kind).await;
        database.execute(&layout(kind)).await;
        let server = Process::start(&database, &[]).await;

        // What was there is what it was.
        for (sql, expected) in [
            ("SELECT COUNT(*) FROM directus_migrations", 2),
            ("SELECT COUNT(*) FROM directus_users", 1),
            ("SELECT COUNT(*) FROM directus_users WHERE shoe_size = 38", 1),
            ("SELECT COUNT(*) FROM directus_fields WHERE invented = 'kept'", 1),
            ("SELECT COUNT(*) FROM directus_collections WHERE preview_url = 'https://example.com'", 1),
            ("SELECT COUNT(*) FROM directus_permissions WHERE role IS NULL", 1),
            ("SELECT COUNT(*) FROM waymark_migrations", 1),
        ] {
            assert_eq!(database.number(sql).await, expected, "{sql}");
        }
        assert_eq!(database.text("SELECT password FROM directus_users").await, HASH);
        let name = database.text("SELECT name FROM directus_migrations WHERE version = '20230721A'").await;
        assert_eq!(name, "Require Shares Fields");

        // The permission without a role is the public's.
        let (status, body) = server.client().get("/items/articles").await;
        assert_eq!((status, &body["data"]), (200, &json!([{ "title": "One", "tags": ["a", "b"] }])), "{body}");
        assert_eq!(server.client().post("/items/articles", json!({ "title": "Three" })).await.0, 403);

        // Its admin logs in with the password of before, and works.
        let admin = server.client().login("ada@example.com", "correct horse").await;
        let (status, me) = admin.get("/users/me?fields=first_name,provider,role.name,role.key").await;
        assert_eq!(status, 200, "{me}");
        assert_eq!(me["data"]["first_name"], json!("Ada"));
        assert_eq!(me["data"]["role"], json!({ "name": "Chief Editor", "key": "chief-editor" }));
        let role = admin.create_role("Reader", false).await;
        admin.permit(Some(&role), "articles", "read", json!({})).await;
        let user = admin.create_user(Some(&role)).await;
        let reader = server.client().login(&user.email, &user.password).await;
        let (_, body) = reader.get("/items/articles?fields=title&sort=id").await;
        assert_eq!(body["data"], json!([{ "title": "One" }, { "title": "Two" }]));
        let item = admin.must_post("/items/articles", json!({ "title": "Three", "tags": ["c"] })).await;
        assert_eq!((&item["title"], &item["tags"]), (&json!("Three"), &json!(["c"])));
        let (status, body) = admin.get("/collections/articles").await;
        assert_eq!((status, &body["data"]["meta"]["note"]), (200, &json!("texts")), "{body}");
        assert_eq!(admin.get("/permissions").await.0, 200);
        assert_eq!(admin.get("/users?fields=*").await.0, 200);

        // Starting again finds nothing to do.
        server.kill().await;
        let server = Process::start(&database, &[]).await;
        assert_eq!(server.client().get("/items/articles").await.0, 200);
        assert_eq!(database.number("SELECT COUNT(*) FROM directus_migrations").await, 2);
    }
}
