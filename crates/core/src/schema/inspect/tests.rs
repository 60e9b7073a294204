//! Inspection of real databases: SQLite always, PostgreSQL and MySQL or MariaDB when
//! `WAYMARK_TEST_POSTGRES_URL` and `WAYMARK_TEST_MYSQL_URL` name a server where databases can be made.

use std::time::Instant;

use sea_orm::{ConnectOptions, ConnectionTrait, Database};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    schema::{Accountability, Field, FieldType, Schema, Side, registry::SchemaRegistry},
    store::{Db, Dialect},
};

struct Server {
    db: Db,
    url: String,
    drop: Option<(String, String)>,
}

impl Server {
    async fn sql(&self, text: &str) {
        self.db.pool().execute_unprepared(text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
    }

    async fn close(self) {
        self.db.close().await.unwrap();
        match self.drop {
            Some((server, statement)) => {
                Database::connect(server).await.unwrap().execute_unprepared(&statement).await.unwrap();
            }
            None => {
                std::fs::remove_file(self.url.trim_start_matches("sqlite://").trim_end_matches("?mode=rwc")).unwrap()
            }
        }
    }
}

/// A new database on each engine that is there, migrated.
async fn servers() -> Vec<Server> {
    let name = format!("mig_{}", Uuid::new_v4().simple());
    let file = std::env::temp_dir().join(format!("{name}.db"));
    let mut urls = vec![(format!("sqlite://{}?mode=rwc", file.display()), None)];
    for variable in ["WAYMARK_TEST_POSTGRES_URL", "WAYMARK_TEST_MYSQL_URL"] {
        let Ok(server) = std::env::var(variable) else { continue };
        let pool = Database::connect(&server).await.unwrap();
        pool.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
        let url = format!("{}/{name}", server.rsplit_once('/').unwrap().0);
        urls.push((url, Some((server, format!("DROP DATABASE {name}")))));
    }
    let mut servers = Vec::new();
    for (url, drop) in urls {
        let mut options = ConnectOptions::new(&url);
        options.max_connections(3);
        let pool = Database::connect(options).await.unwrap();
        waymark_migrations::run(&pool).await.unwrap();
        servers.push(Server { db: Db::new(pool).await.unwrap(), url, drop });
    }
    servers
}

fn field<'a>(schema: &'a Schema, collection: &str, field: &str) -> &'a Field {
    let fields = &schema.collection(collection).unwrap_or_else(|| panic!("{collection}")).fields;
    fields.get(field).unwrap_or_else(|| panic!("{collection}.{field}"))
}

/// What must be the same whatever the engine.
fn summary(schema: &Schema) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, collection) in &schema.collections {
        for (field_name, field) in &collection.fields {
            let column = field.column.as_ref().map(|column| {
                let key = column.foreign_key.as_ref();
                (
                    column.nullable,
                    column.max_length.filter(|_| field.kind == FieldType::String),
                    column.unique,
                    column.primary_key,
                    column.auto_increment,
                    column.has_default,
                    column.default.clone(),
                    column.default_expression.clone(),
                    key.map(|key| {
                        (key.table.clone(), key.column.clone(), key.on_delete.clone(), key.on_update.clone())
                    }),
                )
            });
            lines.push(format!("{name}.{field_name}: {:?} {:?} {column:?}", field.kind, field.special));
        }
        for (field, link) in &collection.links {
            lines.push(format!("{name}.{field} -> {:?} {:?}", link.side, link.relation.one_collection));
        }
    }
    lines
}

#[tokio::test]
async fn system_tables_look_the_same_on_all_engines() {
    let mut first: Option<Vec<String>> = None;
    for server in servers().await {
        let registry = SchemaRegistry::open(&server.db, Vec::new()).await.unwrap();
        let schema = registry.current();
        assert_eq!(schema.collections.len(), 18, "{:?}", schema.collections.keys());
        assert_eq!(schema.version, 1);
        assert!(schema.collection("directus_sessions").is_none() && schema.collection("directus_migrations").is_none());
        assert_eq!(field(&schema, "directus_users", "id").kind, FieldType::Uuid);
        assert_eq!(field(&schema, "directus_users", "last_access").kind, FieldType::Timestamp);
        assert_eq!(field(&schema, "directus_permissions", "fields").kind, FieldType::Csv);
        assert_eq!(field(&schema, "directus_files", "tags").kind, FieldType::Json);
        assert_eq!(schema.collection("directus_roles").unwrap().link("users").unwrap().side, Side::OneToMany);
        assert_eq!(schema.collection("directus_users").unwrap().link("avatar").unwrap().side, Side::ManyToOne);
        assert!(schema.collection("directus_fields").unwrap().link("group").is_none());
        assert_eq!(schema.collection("directus_activity").unwrap().accountability, Accountability::None);
        assert!(schema.collection("directus_settings").unwrap().singleton);
        for collection in schema.collections.values() {
            assert!(collection.system);
            for field in collection.fields.values() {
                assert!(field.meta.is_some(), "{}.{} is in no list", collection.name, field.name);
            }
        }
        let lines = summary(&schema);
        match &first {
            None => first = Some(lines),
            Some(first) => {
                assert_eq!(first.len(), lines.len());
                for (one, other) in first.iter().zip(&lines) {
                    assert_eq!(one, other, "{}", server.url);
                }
            }
        }
        server.close().await;
    }
}

fn tables_by_hand(dialect: Dialect) -> Vec<&'static str> {
    let authors = match dialect {
        Dialect::Postgres => {
            "CREATE TABLE authors (id uuid PRIMARY KEY, name character varying(40) NOT NULL UNIQUE, score numeric(8,3) \
             DEFAULT 1.5, color varchar(20) DEFAULT 'it''s', born date DEFAULT '2024-05-05', seen timestamptz DEFAULT \
             now(), wake timestamp, data json DEFAULT '{\"a\":1}', raw bytea, big bigint DEFAULT 9, yes boolean NOT NULL \
             DEFAULT true, size integer DEFAULT -3)"
        }
        Dialect::Mysql => {
            "CREATE TABLE authors (id char(36) PRIMARY KEY, name varchar(40) NOT NULL UNIQUE, score decimal(8,3) DEFAULT \
             1.5, color varchar(20) DEFAULT 'it''s', born date DEFAULT '2024-05-05', seen timestamp NULL DEFAULT \
             CURRENT_TIMESTAMP, wake datetime, data json DEFAULT ('{\"a\":1}'), raw blob, big bigint DEFAULT 9, yes \
             tinyint(1) NOT NULL DEFAULT 1, size int DEFAULT -3)"
        }
        Dialect::Sqlite => {
            "CREATE TABLE authors (id CHAR(36) PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE, score DECIMAL(8,3) DEFAULT \
             1.5, color varchar(20) DEFAULT 'it''s', born date DEFAULT '2024-05-05', seen timestamp DEFAULT \
             CURRENT_TIMESTAMP, wake datetime, data json DEFAULT '{\"a\":1}', raw BLOB, big bigint DEFAULT 9, yes boolean \
             NOT NULL DEFAULT true, size int DEFAULT -3)"
        }
    };
    let (books, sums) = match dialect {
        Dialect::Postgres => (
            "CREATE TABLE books (id serial PRIMARY KEY, author uuid REFERENCES authors (id) ON DELETE SET NULL)",
            "CREATE TABLE sums (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, a integer, twice integer \
             GENERATED ALWAYS AS (a * 2) STORED, book integer REFERENCES books (id))",
        ),
        Dialect::Mysql => (
            "CREATE TABLE books (id int AUTO_INCREMENT PRIMARY KEY, author char(36), FOREIGN KEY (author) REFERENCES \
             authors (id) ON DELETE SET NULL ON UPDATE NO ACTION)",
            "CREATE TABLE sums (id int AUTO_INCREMENT PRIMARY KEY, a int, twice int GENERATED ALWAYS AS (a * 2) STORED, \
             book int, FOREIGN KEY (book) REFERENCES books (id) ON DELETE NO ACTION ON UPDATE NO ACTION)",
        ),
        Dialect::Sqlite => (
            "CREATE TABLE books (id INTEGER PRIMARY KEY, author char(36) REFERENCES Authors ON DELETE SET NULL)",
            "CREATE TABLE sums (id integer PRIMARY KEY AUTOINCREMENT, a int, twice int GENERATED ALWAYS AS (a * 2) \
             STORED, book int REFERENCES books (id))",
        ),
    };
    let pair = "CREATE TABLE pair (a int NOT NULL, b int NOT NULL, PRIMARY KEY (a, b))";
    vec![authors, books, sums, pair, "CREATE VIEW seen_view AS SELECT id FROM books"]
}

#[tokio::test]
async fn tables_made_by_hand_look_the_same_on_all_engines() {
    let mut first: Option<Vec<String>> = None;
    for server in servers().await {
        for statement in tables_by_hand(server.db.dialect()) {
            server.sql(statement).await;
        }
        let group = if server.db.dialect() == Dialect::Mysql { "`group`" } else { "\"group\"" };
        server
            .sql(&format!(
                "INSERT INTO directus_collections (collection, accountability, {group}) VALUES ('authors', NULL, NULL)"
            ))
            .await;
        server.sql("INSERT INTO directus_fields (collection, field, special, options) VALUES ('authors', 'id', 'uuid', '{\"a\":[1]}'), ('authors', 'books', 'o2m', NULL)").await;
        server.sql("INSERT INTO directus_relations (many_collection, many_field, one_collection, one_field) VALUES ('books', 'author', 'authors', 'books')").await;
        let registry = SchemaRegistry::open(&server.db, vec!["excluded".to_owned()]).await.unwrap();
        let schema = registry.current();
        assert!(schema.collection("pair").is_none() && schema.collection("seen_view").is_none());
        let default = |name: &str| field(&schema, "authors", name).column.as_ref().unwrap().default.clone();
        assert_eq!(default("score"), Some("1.5".parse::<serde_json::Number>().unwrap().into()), "{}", server.url);
        assert_eq!(default("color"), Some(json!("it's")));
        assert_eq!(default("data"), Some(json!({"a": 1})));
        assert_eq!(default("yes"), Some(Value::Bool(true)));
        let score = field(&schema, "authors", "score").column.as_ref().unwrap();
        assert_eq!((score.numeric_precision, score.numeric_scale), (Some(8), Some(3)));
        assert_eq!(field(&schema, "authors", "raw").kind, FieldType::Binary);
        assert_eq!(field(&schema, "books", "author").kind, FieldType::Uuid);
        assert_eq!(field(&schema, "authors", "id").meta.as_ref().unwrap().0["options"], json!({"a": [1]}));
        assert_eq!(field(&schema, "authors", "id").meta.as_ref().unwrap().0["hidden"], json!(false));
        assert!(field(&schema, "sums", "twice").column.as_ref().unwrap().generated);
        assert!(field(&schema, "books", "id").column.as_ref().unwrap().auto_increment);
        assert_eq!(schema.collection("authors").unwrap().accountability, Accountability::None);
        let lines: Vec<String> = summary(&schema).into_iter().filter(|line| !line.starts_with("directus_")).collect();
        match &first {
            None => first = Some(lines),
            Some(first) => assert_eq!(first, &lines, "{}", server.url),
        }
        server.sql("DROP TABLE sums").await;
        let (one, other) = tokio::join!(registry.reload(&server.db), registry.reload(&server.db));
        let version = other.unwrap().version;
        assert!(one.unwrap().collection("sums").is_none() && version > 1);
        assert_eq!(registry.refresh(&server.db).await.unwrap().version, version, "nothing has changed");
        server.sql("CREATE TABLE products (id integer PRIMARY KEY)").await;
        let schema = registry.refresh(&server.db).await.unwrap();
        assert!(schema.collection("products").is_some() && schema.version == version + 1);
        server.close().await;
    }
}

/// A measurement, not a test: `cargo test -p waymark-core thousand -- --ignored --nocapture`.
#[tokio::test]
#[ignore = "makes a thousand tables and prints how long their inspection takes"]
async fn a_thousand_tables() {
    for server in servers().await {
        for number in 0..1000 {
            let columns: Vec<String> = (1..10).map(|column| format!("c{column} varchar(50) DEFAULT 'x'")).collect();
            server.sql(&format!("CREATE TABLE t{number} (id int PRIMARY KEY, {})", columns.join(", "))).await;
        }
        let registry = SchemaRegistry::open(&server.db, Vec::new()).await.unwrap();
        let started = Instant::now();
        let before = server.db.statement_count();
        registry.reload(&server.db).await.unwrap();
        println!(
            "{:?}: {:?}, {} statements",
            server.db.dialect(),
            started.elapsed(),
            server.db.statement_count() - before
        );
        server.close().await;
    }
}
