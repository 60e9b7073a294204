//! Rules of `directus_roles`: keys, the reserved public role, the last admin, and what goes with a
//! deleted role.

use std::collections::HashSet;

use sea_query::{Expr, ExprTrait, Query};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{admins, role_key};
use crate::{
    actor::PUBLIC_ROLE,
    auth::rows,
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    items::events::{Change, ItemEvent},
};

/// What can't be changed on the public role.
const FIXED_ON_PUBLIC: [&str; 5] = ["admin_access", "app_access", "enforce_tfa", "ip_access", "users"];

/// Derives the keys that are not given.
///
/// # Errors
/// `INVALID_PAYLOAD`.
pub(super) async fn before_create(ctx: &Ctx<'_>, payloads: &mut [Map<String, Value>]) -> Result<()> {
    let mut given = HashSet::new();
    for payload in payloads.iter() {
        match payload.get("key") {
            None | Some(Value::Null) => {}
            Some(Value::String(key)) if key == "public" => {
                return Err(Error::invalid_payload("The key \"public\" is reserved."));
            }
            Some(Value::String(key)) if role_key::is_normal(key) => {
                if !given.insert(key.clone()) {
                    return Err(Error::invalid_payload("The same \"key\" is given to several roles."));
                }
            }
            Some(_) => {
                let message = "\"key\" has to begin with a letter and to be made of a-z, 0-9 and single underscores.";
                return Err(Error::invalid_payload(message));
            }
        }
    }
    let mut taken = given;
    for payload in payloads.iter_mut().filter(|payload| payload.get("key").is_none_or(Value::is_null)) {
        let Some(name) = payload.get("name").and_then(Value::as_str) else {
            return Err(Error::invalid_payload("A role needs a \"name\" or a \"key\"."));
        };
        let base = role_key::derive(name);
        taken.extend(stored_keys(ctx, &base).await?);
        let key = role_key::numbered(&base, |key| taken.contains(key));
        taken.insert(key.clone());
        payload.insert("key".to_owned(), key.into());
    }
    Ok(())
}

/// # Errors
/// `INVALID_PAYLOAD`.
pub(super) async fn before_update(ctx: &Ctx<'_>, keys: &[Key], payload: &mut Map<String, Value>) -> Result<()> {
    let roles = ids(keys);
    if let Some(key) = payload.get("key") {
        if !has_key(ctx, &roles, key).await? {
            return Err(Error::invalid_payload("The \"key\" of a role can't be changed."));
        }
        payload.shift_remove("key");
    }
    let changes = |name: &&str| payload.get(*name).is_some_and(is_set);
    if roles.contains(&PUBLIC_ROLE) && FIXED_ON_PUBLIC.iter().any(changes) {
        return Err(Error::invalid_payload("Flags, addresses and users of the public role can't be changed."));
    }
    if touches_admins(payload) {
        admins::lock_active(ctx).await?;
    }
    Ok(())
}

/// # Errors
/// `UNPROCESSABLE_ENTITY` when no active admin is left.
pub(super) async fn after_update(ctx: &Ctx<'_>, payload: &Map<String, Value>) -> Result<()> {
    if touches_admins(payload) { admins::ensure_one_left(ctx).await } else { Ok(()) }
}

/// Suspends the users of the roles and removes their permissions and presets.
///
/// # Errors
/// `INVALID_PAYLOAD` for the public role, `UNPROCESSABLE_ENTITY` when no active admin would be left.
pub(super) async fn before_delete(ctx: &Ctx<'_>, keys: &[Key]) -> Result<()> {
    let roles = ids(keys);
    if roles.contains(&PUBLIC_ROLE) {
        return Err(Error::invalid_payload("The public role can't be deleted."));
    }
    if roles.is_empty() {
        return Ok(());
    }
    admins::ensure_one_stays(ctx, |admin| roles.contains(&admin.role)).await?;
    let conn = ctx.conn;
    let of_roles = || Expr::col("role").is_in(rows::uuids(conn.dialect(), roles.iter().copied()));
    for table in ["directus_permissions", "directus_presets"] {
        let delete = Query::delete().from_table(table).and_where(of_roles()).to_owned();
        conn.execute(conn.build(&delete)).await?;
    }
    let select = Query::select().column("id").from("directus_users").and_where(of_roles()).to_owned();
    let mut users = Vec::new();
    for row in conn.query(conn.build(&select)).await? {
        users.extend(rows::read_uuid(conn.dialect(), &row, "id")?.map(Key::Uuid));
    }
    if users.is_empty() {
        return Ok(());
    }
    let update = Query::update()
        .table("directus_users")
        .value("status", "suspended")
        .value("role", Expr::Keyword(sea_query::Keyword::Null))
        .and_where(of_roles())
        .to_owned();
    conn.execute(conn.build(&update)).await?;
    ctx.emit(ItemEvent { collection: "directus_users".into(), change: Change::Update, keys: users });
    Ok(())
}

fn touches_admins(payload: &Map<String, Value>) -> bool {
    payload.contains_key("admin_access") || payload.contains_key("users")
}

/// Whether a value differs from what the public role has: nothing.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Bool(true) | Value::Object(_) => true,
    }
}

/// Keys in use that begin like this one.
async fn stored_keys(ctx: &Ctx<'_>, base: &str) -> Result<Vec<String>> {
    // The underscores in it match more than themselves, which does no harm.
    let select = Query::select()
        .column("key")
        .from("directus_roles")
        .and_where(Expr::col("key").like(format!("{base}%")))
        .to_owned();
    let mut keys = Vec::new();
    for row in ctx.conn.query(ctx.conn.build(&select)).await? {
        keys.extend(rows::read_text(&row, "key")?);
    }
    Ok(keys)
}

/// Whether the only role has this key already.
async fn has_key(ctx: &Ctx<'_>, roles: &[Uuid], key: &Value) -> Result<bool> {
    let [role] = roles else { return Ok(false) };
    let select = Query::select()
        .column("key")
        .from("directus_roles")
        .and_where(Expr::col("id").eq(rows::uuid(ctx.conn.dialect(), *role)))
        .to_owned();
    let Some(row) = ctx.conn.query_one(ctx.conn.build(&select)).await? else { return Ok(false) };
    Ok(rows::read_text(&row, "key")?.as_deref() == key.as_str())
}

/// Keys of roles are uuids; others exist nowhere.
fn ids(keys: &[Key]) -> Vec<Uuid> {
    keys.iter().filter_map(super::uuid_key).collect()
}
