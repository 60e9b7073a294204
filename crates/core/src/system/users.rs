//! Rules of `directus_users`: addresses, credentials, states, the last admin, and which sessions
//! end with a change. Hashing and masking are the special fields' business.

use sea_query::{Expr, ExprTrait, Func, Keyword, Query};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::admins;
use crate::{
    actor::PUBLIC_ROLE,
    auth::{email, password_policy, rows, session},
    context::Ctx,
    error::{Code, Error, Problem, Result},
    ident::Key,
};

const COLLECTION: &str = "directus_users";
const STATES: [&str; 5] = ["draft", "invited", "active", "suspended", "archived"];
/// What concealed fields are read as; it comes back from clients that send a whole item.
const MASK: &str = "**********";
const CONCEALED: [&str; 5] = ["password", "tfa_secret", "token", "external_identifier", "auth_data"];

/// # Errors
/// `INVALID_PAYLOAD`, `FAILED_VALIDATION`, `RECORD_NOT_UNIQUE`.
pub(super) async fn before_create(ctx: &Ctx<'_>, payloads: &mut [Map<String, Value>]) -> Result<()> {
    let mut seen = Vec::new();
    for payload in payloads.iter_mut() {
        check_payload(ctx, payload).await?;
        if let Some(address) = address(payload) {
            let folded = address.to_lowercase();
            if seen.contains(&folded) {
                return Err(taken(address));
            }
            seen.push(folded);
        }
    }
    for payload in payloads.iter() {
        ensure_address_free(ctx, payload, &[]).await?;
    }
    Ok(())
}

/// # Errors
/// As [`before_create`].
pub(super) async fn before_update(ctx: &Ctx<'_>, keys: &[Key], payload: &mut Map<String, Value>) -> Result<()> {
    check_payload(ctx, payload).await?;
    let users = ids(keys);
    if let Some(address) = address(payload)
        && users.len() > 1
    {
        return Err(taken(address));
    }
    ensure_address_free(ctx, payload, &users).await?;
    if !ctx.actor.is_system() && (payload.contains_key("provider") || payload.contains_key("external_identifier")) {
        payload.insert("auth_data".to_owned(), Value::Null);
    }
    if payload.contains_key("role") || payload.contains_key("status") {
        admins::lock_active(ctx).await?;
    }
    end_sessions(ctx, &users, payload).await
}

/// # Errors
/// `UNPROCESSABLE_ENTITY` when no active admin is left.
pub(super) async fn after_update(ctx: &Ctx<'_>, payload: &Map<String, Value>) -> Result<()> {
    if payload.contains_key("role") || payload.contains_key("status") {
        admins::ensure_one_left(ctx).await?;
    }
    Ok(())
}

/// # Errors
/// `UNPROCESSABLE_ENTITY` when no active admin would be left.
pub(super) async fn before_delete(ctx: &Ctx<'_>, keys: &[Key]) -> Result<()> {
    let users = ids(keys);
    admins::ensure_one_stays(ctx, |admin| users.contains(&admin.user)).await?;
    // This reference has no foreign-key rule that would do it.
    let update = Query::update()
        .table("directus_notifications")
        .value("sender", Expr::Keyword(Keyword::Null))
        .and_where(Expr::col("sender").is_in(rows::uuids(ctx.conn.dialect(), users)))
        .to_owned();
    ctx.conn.execute(ctx.conn.build(&update)).await.map(drop)
}

/// Remembers the page a user was on last; needs no permission and leaves no activity.
///
/// # Errors
/// `VALUE_TOO_LONG`, `INVALID_PAYLOAD` for a NUL character.
pub async fn track_page(ctx: &Ctx<'_>, user: Uuid, page: &str) -> Result<()> {
    if page.contains('\0') {
        return Err(Error::invalid_payload("\"last_page\" holds a character that can't be stored."));
    }
    if page.chars().count() > 255 {
        return Err(Error::new(Code::ValueTooLong).with("collection", COLLECTION).with("field", "last_page"));
    }
    let update = Query::update()
        .table(COLLECTION)
        .value("last_page", page)
        .and_where(Expr::col("id").eq(rows::uuid(ctx.conn.dialect(), user)))
        .to_owned();
    ctx.conn.execute(ctx.conn.build(&update)).await.map(drop)
}

/// What holds for new and changed users alike.
async fn check_payload(ctx: &Ctx<'_>, payload: &mut Map<String, Value>) -> Result<()> {
    for name in CONCEALED {
        if payload.get(name).and_then(Value::as_str) == Some(MASK) {
            payload.shift_remove(name);
        }
    }
    let system = ctx.actor.is_system();
    if !system && payload.contains_key("tfa_secret") {
        return Err(Error::invalid_payload("\"tfa_secret\" can't be written."));
    }
    if !system && !ctx.actor.is_admin() {
        for name in ["provider", "external_identifier"] {
            if payload.contains_key(name) {
                return Err(Error::invalid_payload(format!("\"{name}\" can only be written by admins.")));
            }
        }
    }
    check_address(payload)?;
    if let Some(status) = payload.get("status")
        && !status.as_str().is_some_and(|status| STATES.contains(&status))
    {
        let problem = Problem::failed_validation("status", Some("in"), "\"status\" is none of the states of users.");
        return Err(Error::from(problem).with("valid", STATES.map(Value::from).to_vec()));
    }
    if role_of(payload) == Some(PUBLIC_ROLE) {
        return Err(Error::invalid_payload("The public role can't be given to users."));
    }
    for name in ["password", "token"] {
        if payload.get(name).is_some_and(|value| !value.is_null() && !value.is_string()) {
            return Err(Error::invalid_payload(format!("\"{name}\" has to be a text.")));
        }
    }
    match payload.get("password").and_then(Value::as_str) {
        Some(password) if !password.is_empty() => password_policy::check(ctx.conn, password).await,
        _ => Ok(()),
    }
}

fn check_address(payload: &Map<String, Value>) -> Result<()> {
    match payload.get("email") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(address)) if email::is_address(address, 2) => Ok(()),
        Some(_) => {
            Err(Problem::failed_validation("email", Some("email"), "\"email\" has to be an e-mail address.").into())
        }
    }
}

fn address(payload: &Map<String, Value>) -> Option<&str> {
    payload.get("email").and_then(Value::as_str)
}

/// The role as a key or as a nested item with one.
fn role_of(payload: &Map<String, Value>) -> Option<Uuid> {
    let role = match payload.get("role")? {
        Value::Object(nested) => nested.get("id")?,
        plain => plain,
    };
    Uuid::try_parse(role.as_str()?).ok()
}

#[track_caller]
fn taken(address: &str) -> Error {
    Error::new(Code::RecordNotUnique).with("collection", COLLECTION).with("field", "email").with("invalid", address)
}

/// The unique index alone would let the same address in with other capitals.
async fn ensure_address_free(ctx: &Ctx<'_>, payload: &Map<String, Value>, own: &[Uuid]) -> Result<()> {
    let Some(address) = address(payload) else { return Ok(()) };
    let dialect = ctx.conn.dialect();
    let mut select = Query::select();
    select
        .column("id")
        .from(COLLECTION)
        .and_where(Expr::expr(Func::lower(Expr::col("email"))).eq(address.to_lowercase()))
        .limit(1);
    if !own.is_empty() {
        select.and_where(Expr::col("id").is_not_in(rows::uuids(dialect, own.iter().copied())));
    }
    match ctx.conn.query_one(ctx.conn.build(&select)).await? {
        Some(_) => Err(taken(address)),
        None => Ok(()),
    }
}

/// A new password or address ends all other sessions at once. Sessions of users that are not active
/// are of no use anyway, and end for good when such a user is activated again.
async fn end_sessions(ctx: &Ctx<'_>, users: &[Uuid], payload: &Map<String, Value>) -> Result<()> {
    let mut ending: Vec<Uuid> = Vec::new();
    if payload.contains_key("password") {
        ending.extend(users);
    } else if payload.contains_key("email") || payload.contains_key("status") {
        let dialect = ctx.conn.dialect();
        let select = Query::select()
            .columns(["id", "email", "status"])
            .from(COLLECTION)
            .and_where(Expr::col("id").is_in(rows::uuids(dialect, users.iter().copied())))
            .to_owned();
        for row in ctx.conn.query(ctx.conn.build(&select)).await? {
            let moved = payload.contains_key("email") && rows::read_text(&row, "email")?.as_deref() != address(payload);
            let revived = payload.get("status").and_then(Value::as_str) == Some("active")
                && rows::read_text(&row, "status")?.as_deref() != Some("active");
            if moved || revived {
                ending.extend(rows::read_uuid(dialect, &row, "id")?);
            }
        }
    }
    if ending.is_empty() {
        return Ok(());
    }
    session::close_all_others(ctx.conn, &ctx.engine.settings.auth, &ending, &ctx.actor).await
}

/// Keys of users are uuids; others exist nowhere.
fn ids(keys: &[Key]) -> Vec<Uuid> {
    keys.iter().filter_map(super::uuid_key).collect()
}
