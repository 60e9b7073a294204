//! A bootstrapped database with the collections, a reader who sees all of them and a tenant who sees its
//! own. Neither is an admin.

use std::sync::Arc;

use serde_json::{Value, json};
use waymark_api::{
    Settings,
    cli::bootstrap::{self, create},
    settings::Source,
};
use waymark_core::{Ctx, Engine};

use crate::{articles, posts, purchases, relations};

/// A user that asks.
pub struct Caller {
    pub email: &'static str,
    pub password: &'static str,
    /// Its static token.
    pub token: &'static str,
}

/// May read everything, and create purchases.
pub const READER: Caller =
    Caller { email: "reader@example.com", password: "reader-password", token: "static-token-of-the-reader-0123456789" };
/// May read some fields of what belongs to its authors.
pub const TENANT: Caller =
    Caller { email: "tenant@example.com", password: "tenant-password", token: "static-token-of-the-tenant-0123456789" };

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

/// Migrates an empty database and makes collections, rows, roles, permissions and callers. Gives the
/// engine and the tenant's id.
///
/// # Panics
/// When the database refuses.
pub async fn open(client: &str, url: &str) -> (Arc<Engine>, String) {
    let engine = bootstrap::open(&settings(client, url)).await.unwrap_or_else(|error| panic!("bootstrap: {error}"));
    let postgres = client == "pg";
    let mut statements = vec![articles::table(postgres), articles::rows()];
    statements.extend(posts::tables(postgres));
    statements.extend(purchases::tables(postgres));
    statements.extend(posts::rows());
    statements.extend(relations::METADATA.iter().map(|sql| (*sql).to_owned()));
    for sql in statements {
        engine.db.executor().execute_unprepared(&sql).await.expect("the tables are made");
    }
    engine.registry.reload(&engine.db).await.expect("the schema is read");
    let ctx = engine.system_context();
    let all = |collection, action| permission(collection, action, json!(["*"]), json!({}));
    let read = ["articles", "authors", "posts", "comments", "tags", "posts_tags", "purchases", "purchase_lines"];
    let write = ["purchases", "purchase_lines"].map(|collection| all(collection, "create"));
    let everything = read.map(|collection| all(collection, "read")).into_iter().chain(write).collect();
    user(&ctx, &READER, everything).await;
    let mine = |path: Value| json!({ "_and": [path] });
    let own = vec![
        permission(
            "posts",
            "read",
            json!(["id", "title", "slug", "views", "published", "author"]),
            mine(json!({ "author": { "owner": { "_eq": "$CURRENT_USER" } } })),
        ),
        permission("authors", "read", json!(["id", "name"]), mine(json!({ "owner": { "_eq": "$CURRENT_USER" } }))),
    ];
    let tenant = user(&ctx, &TENANT, own).await;
    drop(ctx);
    engine.db.executor().execute_unprepared(&posts::own(&tenant)).await.expect("the tenant's authors");
    (engine, tenant)
}

fn permission(collection: &str, action: &str, fields: Value, rows: Value) -> Value {
    json!({ "collection": collection, "action": action, "fields": fields, "permissions": rows })
}

/// A user with a role of its own; gives its id.
async fn user(ctx: &Ctx<'_>, caller: &Caller, permissions: Vec<Value>) -> String {
    let role = create(ctx, "directus_roles", json!({ "name": caller.email })).await.expect("a role");
    for mut permission in permissions {
        permission["role"] = json!(role);
        create(ctx, "directus_permissions", permission).await.expect("a permission");
    }
    let user = json!({
        "email": caller.email,
        "password": caller.password,
        "token": caller.token,
        "status": "active",
        "role": role,
    });
    create(ctx, "directus_users", user).await.expect("a user")
}
