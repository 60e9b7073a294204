//! `waymark bootstrap`: migrations, the admin role, the first admin.

use std::sync::Arc;

use rand::distr::{Alphanumeric, SampleString};
use serde_json::{Value, json};
use waymark_core::{
    Code, Ctx, Engine,
    access::Action,
    items::{self, events::NoSink, hooks::Hooks},
    query::parse,
};

use super::{Failed, told};
use crate::{settings::Settings, wiring};

/// Attempts to create the first admin, each of which only fails when another process is at it.
const ATTEMPTS: usize = 5;

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
    let engine = wiring::engine(settings, db, Arc::new(NoSink), Hooks::default()).await.map_err(told)?;
    first_admin(&engine, settings).await?;
    Ok(engine)
}

/// What became of one attempt to create the first admin.
#[derive(PartialEq, Eq)]
enum Attempt {
    Created,
    /// A user has the address.
    AddressTaken,
    /// Another process made the role meanwhile.
    RoleTaken,
}

async fn first_admin(engine: &Engine, settings: &Settings) -> Result<(), Failed> {
    let ctx = engine.system_context();
    let security = &settings.security;
    let (password, random) = match &security.admin_password {
        Some(password) => (password.reveal().to_owned(), false),
        None => (Alphanumeric.sample_string(&mut rand::rng(), 12), true),
    };
    // Role and user come in one transaction: of several processes that bootstrap at once, one wins by the
    // unique key of the role or the unique e-mail address, and the others leave nothing behind. What made one
    // lose is there when it looks again, so that more than one further attempt is rare.
    let admins = json!({ "filter": { "role": { "admin_access": { "_eq": true } } }, "limit": 1 });
    let mut last = Attempt::RoleTaken;
    for _ in 0..ATTEMPTS {
        if !find(&ctx, "directus_users", &admins).await?.is_empty() {
            println!("An admin exists.");
            return Ok(());
        }
        if last == Attempt::AddressTaken {
            println!("A user {} exists.", security.admin_email);
            return Ok(());
        }
        last = attempt(engine, &ctx, &security.admin_email, &password).await?;
        if last == Attempt::Created {
            println!("Admin created: {}", security.admin_email);
            if random {
                println!("Password (shown once): {password}");
            }
            return Ok(());
        }
    }
    Err("the first admin could not be created: other processes are at it".into())
}

async fn attempt(engine: &Engine, ctx: &Ctx<'_>, email: &str, password: &str) -> Result<Attempt, Failed> {
    let work = ctx.begin().await.map_err(told)?;
    let inner = work.ctx(ctx);
    let created = role_and_user(&inner, email, password).await;
    drop(inner);
    match created {
        Ok(()) => {
            work.commit(engine).await.map_err(told)?;
            Ok(Attempt::Created)
        }
        Err(error) if error.code() == Code::RecordNotUnique => {
            let of_user = error
                .problems()
                .any(|problem| problem.extensions.get("collection").and_then(Value::as_str) == Some("directus_users"));
            Ok(if of_user { Attempt::AddressTaken } else { Attempt::RoleTaken })
        }
        Err(error) => Err(told(error)),
    }
}

async fn role_and_user(ctx: &Ctx<'_>, email: &str, password: &str) -> waymark_core::Result<()> {
    let admins = json!({ "filter": { "admin_access": { "_eq": true } }, "limit": 1 });
    let role = match keys(ctx, "directus_roles", &admins).await?.into_iter().next() {
        Some(role) => role,
        None => create(ctx, "directus_roles", administrator()).await?,
    };
    let user = json!({
        "email": email,
        "password": password,
        "first_name": "Admin",
        "last_name": "User",
        "status": "active",
        "role": role,
    });
    create(ctx, "directus_users", user).await.map(drop)
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
    keys(ctx, collection, query).await.map_err(told)
}

async fn keys(ctx: &Ctx<'_>, collection: &str, query: &Value) -> waymark_core::Result<Vec<String>> {
    let query = parse::from_json(query, &ctx.engine.settings.limits)?;
    let keys = items::read_keys(ctx, collection, Action::Read, &query).await?;
    Ok(keys.iter().map(ToString::to_string).collect())
}
