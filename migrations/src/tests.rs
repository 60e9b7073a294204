//! The migrations on real databases: SQLite always, PostgreSQL and MySQL or MariaDB when
//! `WAYMARK_TEST_POSTGRES_URL` and `WAYMARK_TEST_MYSQL_URL` name a server where databases can be made.

use std::time::{SystemTime, UNIX_EPOCH};

use sea_orm::{ConnectionTrait, Database, DatabaseConnection, Statement};

async fn sql(pool: &DatabaseConnection, text: &str) {
    pool.execute_unprepared(text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
}

async fn count(pool: &DatabaseConnection, text: &str) -> i64 {
    let statement = Statement::from_string(pool.get_database_backend(), text);
    pool.query_one_raw(statement).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

fn unique_name() -> String {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    format!("mig_{}_{nanos}", std::process::id())
}

/// An empty database on each engine that is there: its URL, and how to drop it again.
async fn databases() -> Vec<(String, Option<(String, String)>)> {
    let name = unique_name();
    let file = std::env::temp_dir().join(format!("{name}.db"));
    let mut urls = vec![(format!("sqlite://{}?mode=rwc", file.display()), None)];
    for variable in ["WAYMARK_TEST_POSTGRES_URL", "WAYMARK_TEST_MYSQL_URL"] {
        let Ok(server) = std::env::var(variable) else { continue };
        let pool = Database::connect(&server).await.unwrap();
        sql(&pool, &format!("CREATE DATABASE {name}")).await;
        let base = server.rsplit_once('/').unwrap().0;
        urls.push((format!("{base}/{name}"), Some((server.clone(), format!("DROP DATABASE {name}")))));
    }
    urls
}

async fn drop_again(pool: DatabaseConnection, url: &str, how: Option<(String, String)>) {
    pool.close().await.unwrap();
    match how {
        Some((server, statement)) => sql(&Database::connect(&server).await.unwrap(), &statement).await,
        None => {
            let path = url.trim_start_matches("sqlite://").trim_end_matches("?mode=rwc");
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_ten_migrates_an_empty_database() {
    for (url, how) in databases().await {
        let pool = Database::connect(&url).await.unwrap();
        assert_eq!(super::pending(&pool).await.unwrap(), ["m20261129_000001_system_tables"]);
        let mut running = tokio::task::JoinSet::new();
        for _ in 0..10 {
            let url = url.clone();
            running.spawn(async move {
                let pool = Database::connect(&url).await.unwrap();
                let applied = super::run(&pool).await.unwrap_or_else(|error| panic!("{url}: {error}"));
                pool.close().await.unwrap();
                applied
            });
        }
        assert_eq!(running.join_all().await.into_iter().sum::<usize>(), 1, "{url}");
        assert!(super::pending(&pool).await.unwrap().is_empty());
        assert_eq!(super::run(&pool).await.unwrap(), 0);
        assert_eq!(count(&pool, "SELECT count(*) FROM directus_roles").await, 1);
        drop_again(pool, &url, how).await;
    }
}

#[tokio::test]
async fn an_older_layout_opens_in_place() {
    for (url, how) in databases().await {
        let pool = Database::connect(&url).await.unwrap();
        let id = if url.starts_with("postgres") { "uuid" } else { "char(36)" };
        sql(
            &pool,
            &format!(
                "CREATE TABLE directus_roles (id {id} PRIMARY KEY, name varchar(100) NOT NULL, icon \
             varchar(30) NOT NULL DEFAULT 'x', admin_access boolean NOT NULL DEFAULT false, app_access boolean NOT \
             NULL DEFAULT true, enforce_tfa boolean NOT NULL DEFAULT false, extra varchar(10))"
            ),
        )
        .await;
        for (number, name) in ["Editor", "editor", "Public"].iter().enumerate() {
            let values = format!("'0000000{number}-0000-4000-8000-000000000000', '{name}', 'kept'");
            sql(&pool, &format!("INSERT INTO directus_roles (id, name, extra) VALUES ({values})")).await;
        }
        sql(&pool, "CREATE TABLE directus_migrations (version varchar(255) PRIMARY KEY, name varchar(255) NOT NULL)")
            .await;
        sql(&pool, "INSERT INTO directus_migrations VALUES ('20230401A', 'x')").await;
        assert_eq!(super::run(&pool).await.unwrap_or_else(|error| panic!("{url}: {error}")), 1);
        assert_eq!(count(&pool, "SELECT count(*) FROM directus_roles WHERE extra = 'kept'").await, 3);
        let key = if url.starts_with("mysql") { "`key`" } else { "\"key\"" };
        let keys =
            format!("SELECT count(*) FROM directus_roles WHERE {key} IN ('editor', 'editor-2', 'public-2', 'public')");
        assert_eq!(count(&pool, &keys).await, 4);
        assert_eq!(count(&pool, "SELECT count(*) FROM directus_migrations").await, 1);
        assert_eq!(count(&pool, "SELECT count(*) FROM directus_users").await, 0);
        drop_again(pool, &url, how).await;
    }
}
