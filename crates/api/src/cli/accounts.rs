//! `waymark users`, `waymark roles`, `waymark count`: with the server's own rights.

use std::sync::Arc;

use serde_json::json;
use waymark_core::{
    Engine,
    access::Action,
    items::{self, events::NoSink, hooks::Hooks},
    query::parse,
};

use super::{Failed, bootstrap, told};
use crate::{RunError, settings::Settings, wiring};

/// Opens the engine on a migrated database, without listeners.
pub(super) async fn open(settings: &Settings) -> Result<Arc<Engine>, Failed> {
    let db = wiring::connect(&settings.database, false).await.map_err(told)?;
    let pending = waymark_migrations::pending(db.pool()).await?;
    if !pending.is_empty() {
        return Err(RunError::Pending(pending).into());
    }
    wiring::engine(settings, db, Arc::new(NoSink), Hooks::default()).await.map_err(told)
}

pub async fn create_user(settings: &Settings, email: &str, password: &str, role: Option<&str>) -> Result<(), Failed> {
    let engine = open(settings).await?;
    let user = json!({ "email": email, "password": password, "role": role, "status": "active" });
    let id = bootstrap::create(&engine.system_context(), "directus_users", user).await.map_err(told)?;
    println!("{id}");
    engine.db.clone().close().await.map_err(told)
}

pub async fn change_password(settings: &Settings, email: &str, password: &str) -> Result<(), Failed> {
    let engine = open(settings).await?;
    let ctx = engine.system_context();
    let wanted = json!({ "filter": { "email": { "_eq": email.to_lowercase() } }, "limit": 1 });
    let query = parse::from_json(&wanted, &engine.settings.limits).map_err(told)?;
    let keys = items::read_keys(&ctx, "directus_users", Action::Read, &query).await.map_err(told)?;
    if keys.is_empty() {
        return Err(format!("no user has the address {email}").into());
    }
    let change = serde_json::Map::from_iter([("password".to_owned(), password.into())]);
    items::update(&ctx, "directus_users", &keys, change).await.map_err(told)?;
    println!("Password changed.");
    engine.db.clone().close().await.map_err(told)
}

pub async fn create_role(settings: &Settings, name: &str, admin: bool, app: bool) -> Result<(), Failed> {
    let engine = open(settings).await?;
    let role = json!({ "name": name, "admin_access": admin, "app_access": app || admin });
    let id = bootstrap::create(&engine.system_context(), "directus_roles", role).await.map_err(told)?;
    println!("{id}");
    engine.db.clone().close().await.map_err(told)
}

pub async fn count(settings: &Settings, collection: &str) -> Result<(), Failed> {
    let engine = open(settings).await?;
    let ctx = engine.system_context();
    if ctx.schema.collection(collection).is_none() {
        return Err(format!("there is no collection {collection}").into());
    }
    let query = json!({ "meta": "total_count", "limit": 0 });
    let query = parse::from_json(&query, &engine.settings.limits).map_err(told)?;
    let page = items::read(&ctx, collection, &query, None).await.map_err(told)?;
    println!("{}", page.total_count.unwrap_or_default());
    engine.db.clone().close().await.map_err(told)
}
