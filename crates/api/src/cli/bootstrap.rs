//! `waymark bootstrap`: migrations, the admin role, the first admin.

use std::sync::Arc;

use rand::distr::{Alphanumeric, SampleString};
use serde_json::{Value, json};
use waymark_core::{
    Code, Ctx, Engine,
    access::Action,
    items::{self, events::NoSink},
    query::parse,
};

use super::{Failed, told};
use crate::{settings::Settings, wiring};

/// Migrates and creates what is missing; prints the password of a new admin.
pub async fn run(settings: &Settings) -> Result<(), Failed> {
    let engine = open(settings).await?;
    engine.db.clone().close().await.map_err(told)
}

/// The same, leaving the engine open.
pub async fn open(settings: &Settings) -> Result<Arc<Engine>, Failed> {
    let db = wiring::connect(&settings.database, true).await.map_err(told)?;
    let applied = waymark_migrations::run(db.pool()).await?;
    println!("Migrations applied: {applied}");
    let engine = wiring::engine(settings, db, Arc::new(NoSink)).await.map_err(told)?;
    first_admin(&engine, settings).await?;
    Ok(engine)
}

async fn first_admin(engine: &Engine, settings: &Settings) -> Result<(), Failed> {
    let ctx = engine.system_context();
    let admins = json!({ "filter": { "role": { "admin_access": { "_eq": true } } }, "limit": 1 });
    if !find(&ctx, "directus_users", &admins).await?.is_empty() {
        println!("An admin exists.");
        return Ok(());
    }
    let security = &settings.security;
    let (password, random) = match &security.admin_password {
        Some(password) => (password.reveal().to_owned(), false),
        None => (Alphanumeric.sample_string(&mut rand::rng(), 12), true),
    };
    // Role and user in one transaction: of several processes that bootstrap at once, one wins by the unique
    // e-mail address and the others leave nothing behind.
    let work = ctx.begin().await.map_err(told)?;
    let inner = work.ctx(&ctx);
    let role = match existing_role(&inner).await? {
        Some(role) => role,
        None => create(&inner, "directus_roles", administrator()).await.map_err(told)?,
    };
    let user = json!({
        "email": security.admin_email,
        "password": password,
        "first_name": "Admin",
        "last_name": "User",
        "status": "active",
        "role": role,
    });
    let created = create(&inner, "directus_users", user).await;
    drop(inner);
    match created {
        Ok(_) => work.commit(engine).await.map_err(told)?,
        Err(error) if error.code() == Code::RecordNotUnique => {
            println!("A user {} exists.", security.admin_email);
            return Ok(());
        }
        Err(error) => return Err(told(error)),
    }
    println!("Admin created: {}", security.admin_email);
    if random {
        println!("Password (shown once): {password}");
    }
    Ok(())
}

async fn existing_role(ctx: &Ctx<'_>) -> Result<Option<String>, Failed> {
    let admins = json!({ "filter": { "admin_access": { "_eq": true } }, "limit": 1 });
    Ok(find(ctx, "directus_roles", &admins).await?.into_iter().next())
}

fn administrator() -> Value {
    json!({
        "name": "Administrator",
        "icon": "verified",
        "description": "Members may do everything.",
        "admin_access": true,
        "app_access": true,
    })
}

/// Creates one item; gives its key as text.
pub async fn create(ctx: &Ctx<'_>, collection: &str, item: Value) -> waymark_core::Result<String> {
    let Value::Object(item) = item else { return Err(waymark_core::Error::internal("no object")) };
    let keys = items::create(ctx, collection, vec![item]).await?;
    keys.first().map(ToString::to_string).ok_or_else(|| waymark_core::Error::internal("no key"))
}

/// Keys of the items a query selects, as text.
pub async fn find(ctx: &Ctx<'_>, collection: &str, query: &Value) -> Result<Vec<String>, Failed> {
    let query = parse::from_json(query, &ctx.engine.settings.limits).map_err(told)?;
    let keys = items::read_keys(ctx, collection, Action::Read, &query).await.map_err(told)?;
    Ok(keys.iter().map(ToString::to_string).collect())
}
