//! Many processes that start at once on an empty database.

use std::process::{Output, Stdio};

use futures_util::future::join_all;
use waymark_tests::{Database, Process, each_engine, process};

const PROCESSES: usize = 10;

each_engine! {
    async fn heavy_one_of_ten_bootstraps_and_ten_serve(kind) {
        let database = Database::create(kind).await;
        let bootstraps = (0..PROCESSES).map(|_| {
            let mut command = process::command(&database, &["bootstrap"], &[]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).output()
        });
        let outputs: Vec<Output> = join_all(bootstraps).await.into_iter().map(|output| output.expect("output")).collect();
        let told = |text: &str| {
            outputs.iter().filter(|output| String::from_utf8_lossy(&output.stdout).contains(text)).count()
        };
        for output in &outputs {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        assert_eq!(told("Migrations applied: 0"), PROCESSES - 1, "processes that found nothing to migrate");
        assert_eq!(told("Admin created"), 1, "processes that made the admin");

        let servers = join_all((0..PROCESSES).map(|_| Process::serve(&database, &[]))).await;
        for server in &servers {
            assert_eq!(server.admin().await.get("/users/me").await.0, 200);
        }
        for (table, condition, rows) in [
            ("waymark_migrations", "1 = 1", 1),
            ("directus_users", "1 = 1", 1),
            ("directus_roles", "admin_access", 1),
        ] {
            let sql = format!("SELECT COUNT(*) FROM {table} WHERE {condition}");
            assert_eq!(database.number(&sql).await, rows, "{sql}");
        }
    }
}
