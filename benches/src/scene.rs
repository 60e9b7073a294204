//! A bootstrapped database with the collection and a reader who is no admin.

use std::sync::Arc;

use serde_json::json;
use waymark_api::{
    Settings,
    cli::bootstrap::{self, create},
    settings::Source,
};
use waymark_core::Engine;

use crate::articles;

/// The static token of the reader.
pub const TOKEN: &str = "static-token-of-the-reader-0123456789";
/// The reader's log-in.
pub const EMAIL: &str = "reader@example.com";
/// See [`EMAIL`].
pub const PASSWORD: &str = "reader-password";

/// Worker threads of a measured server.
pub const WORKERS: usize = 2;
/// Database connections of a measured server.
pub const CONNECTIONS: u32 = 8;

/// The settings of a server on a database. Everything else is as in production, but the line of
/// each request is not logged.
///
/// # Panics
/// When they are refused.
#[must_use]
pub fn settings(client: &str, url: &str) -> Settings {
    let (workers, connections) = (WORKERS.to_string(), CONNECTIONS.to_string());
    let values = [
        ("HOST", "127.0.0.1"),
        ("KEY", "waymark-bench"),
        ("SECRET", "waymark-bench-secret"),
        ("ADMIN_EMAIL", "admin@example.com"),
        ("ADMIN_PASSWORD", "password"),
        ("ACCESS_TOKEN_TTL", "1d"),
        ("LOG_LEVEL", "warn"),
        ("DB_CLIENT", client),
        ("DB_CONNECTION_STRING", url),
        ("DB_POOL__MAX", connections.as_str()),
        ("SERVER_WORKERS", workers.as_str()),
    ];
    let source = Source::of_values(values).unwrap_or_else(|problems| panic!("settings: {problems}"));
    Settings::read(&source).unwrap_or_else(|problems| panic!("settings: {problems}"))
}

/// Migrates an empty database and makes collection, rows, role, permission and reader. Gives the
/// engine and the reader's id.
///
/// # Panics
/// When the database refuses.
pub async fn open(client: &str, url: &str) -> (Arc<Engine>, String) {
    let engine = bootstrap::open(&settings(client, url)).await.unwrap_or_else(|error| panic!("bootstrap: {error}"));
    for sql in [articles::table(client == "pg"), articles::rows()] {
        engine.db.executor().execute_unprepared(&sql).await.expect("the table is made");
    }
    engine.registry.reload(&engine.db).await.expect("the schema is read");
    let ctx = engine.system_context();
    let role = create(&ctx, "directus_roles", json!({ "name": "Readers" })).await.expect("a role");
    let permission = json!({
        "role": role,
        "collection": "articles",
        "action": "read",
        "fields": ["*"],
        "permissions": {},
    });
    create(&ctx, "directus_permissions", permission).await.expect("a permission");
    let reader = json!({ "email": EMAIL, "password": PASSWORD, "token": TOKEN, "status": "active", "role": role });
    let reader = create(&ctx, "directus_users", reader).await.expect("a reader");
    drop(ctx);
    (engine, reader)
}
