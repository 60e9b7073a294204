//! Logging in, refreshing and logging out with local passwords. Every failure takes as long as a
//! success, and does not tell whether the user exists.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_query::{Expr, ExprTrait, Func, JoinType, Query};
use serde_json::{Map, Value};
use tokio::time::Instant;
use uuid::Uuid;

use super::{email, rows, session, token};
use crate::{
    actor::Origin,
    context::Engine,
    error::{Code, Error, Result},
    ident::Key,
    items::events::{Change, ItemEvent},
    store::{Dialect, Executor},
};

/// The provider of local passwords.
pub const DEFAULT_PROVIDER: &str = "default";

/// A login with e-mail and password.
#[derive(Clone, PartialEq, Eq)]
pub struct LoginRequest {
    pub email: String,
    pub password: String,
    pub otp: Option<String>,
}

/// What a login or a refresh gives.
#[derive(Clone, PartialEq, Eq)]
pub struct Tokens {
    pub access_token: String,
    pub refresh_token: String,
    /// Lifetime of the access token.
    pub expires: Duration,
}

impl LoginRequest {
    /// Reads a request body; members it does not know are ignored.
    ///
    /// # Errors
    /// `INVALID_PAYLOAD`.
    pub fn parse(body: &Map<String, Value>) -> Result<Self> {
        let text = |name: &str| body.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let required =
            |name: &str| text(name).ok_or_else(|| Error::invalid_payload(format!("\"{name}\" is required.")));
        let address = required("email")?;
        if !email::is_address(address, 1) {
            return Err(Error::invalid_payload("\"email\" has to be an e-mail address."));
        }
        let otp = match body.get("otp") {
            None | Some(Value::Null) => None,
            Some(Value::String(otp)) => Some(otp.clone()),
            Some(_) => return Err(Error::invalid_payload("\"otp\" has to be a string.")),
        };
        Ok(Self { email: address.to_owned(), password: required("password")?.to_owned(), otp })
    }
}

/// A user as far as logging in needs it.
struct Account {
    id: Uuid,
    password: Option<String>,
    status: String,
    provider: String,
    has_otp: bool,
    role: Option<Uuid>,
    admin: bool,
    app: bool,
}

/// Logs in. Takes at least the settings' stall time, whatever comes of it.
///
/// # Errors
/// `INVALID_CREDENTIALS`; `USER_SUSPENDED` (only with the right password, and not after too many
/// attempts); `INVALID_OTP`.
pub async fn login(engine: &Engine, request: &LoginRequest, origin: &Origin) -> Result<Tokens> {
    let until = Instant::now() + engine.settings.auth.login_stall;
    let result = login_now(engine, request, origin).await;
    tokio::time::sleep_until(until).await;
    result
}

async fn login_now(engine: &Engine, request: &LoginRequest, origin: &Origin) -> Result<Tokens> {
    let conn = engine.db.executor();
    let passwords = &engine.identities.passwords;
    let account = account_by_email(conn, &request.email).await?;
    let account = account.filter(|account| account.provider == DEFAULT_PROVIDER);
    let Some((account, hash)) = account.and_then(|mut account| account.password.take().map(|hash| (account, hash)))
    else {
        passwords.verify_nobody(&request.password).await?;
        return Err(refused());
    };
    let locked = count_attempt(engine, &account).await?;
    let right = passwords.verify(&hash, &request.password).await?;
    match account.status.as_str() {
        _ if locked || !right => return Err(refused()),
        "active" => {}
        "suspended" => return Err(Error::new(Code::UserSuspended)),
        _ => return Err(refused()),
    }
    // One-time passwords can't be checked here yet: such users can't log in without a second factor.
    if account.has_otp {
        return Err(Error::new(Code::InvalidOtp));
    }
    let now = Utc::now();
    let transaction = engine.db.begin().await?;
    let conn = transaction.executor();
    session::purge(conn, now).await?;
    let refresh_token = session::open(conn, &engine.settings.auth, account.id, origin, now).await?;
    record_login(conn, account.id, origin, now).await?;
    note_access(conn, account.id, now).await?;
    transaction.commit().await?;
    engine.identities.attempts.reset(&counter("login", account.id)).await?;
    engine.identities.attempts.reset(&counter("suspended", account.id)).await?;
    tokens(engine, &account, refresh_token, now)
}

/// Exchanges a refresh token; the old one ends at once.
///
/// # Errors
/// `INVALID_CREDENTIALS` (unknown, expired, used, user not active), `USER_SUSPENDED`,
/// `SERVICE_UNAVAILABLE` when local logins are switched off.
pub async fn refresh(engine: &Engine, refresh_token: &str) -> Result<Tokens> {
    let started = Instant::now();
    let conn = engine.db.executor();
    let now = Utc::now();
    let user = session::find(conn, refresh_token, now).await?.and_then(|session| session.user);
    let Some(user) = user else { return Err(refused()) };
    let account = account_by_id(conn, user).await?.ok_or_else(refused)?;
    if account.status != "active" {
        session::close(conn, refresh_token).await?;
        tokio::time::sleep_until(started + engine.settings.auth.login_stall).await;
        return Err(if account.status == "suspended" { Error::new(Code::UserSuspended) } else { refused() });
    }
    if account.provider == DEFAULT_PROVIDER && engine.settings.auth.disable_default {
        return Err(Error::with_message(Code::ServiceUnavailable, "The provider of this user is not available."));
    }
    let transaction = engine.db.begin().await?;
    let conn = transaction.executor();
    let new = session::rotate(conn, &engine.settings.auth, refresh_token, now).await?.ok_or_else(refused)?;
    note_access(conn, account.id, now).await?;
    transaction.commit().await?;
    tokens(engine, &account, new, now)
}

/// Ends the session of a refresh token; unknown ones are no error.
///
/// # Errors
/// As statements.
pub async fn logout(engine: &Engine, refresh_token: &str) -> Result<()> {
    session::close(engine.db.executor(), refresh_token).await
}

#[track_caller]
fn refused() -> Error {
    Error::new(Code::InvalidCredentials)
}

fn tokens(engine: &Engine, account: &Account, refresh_token: String, now: DateTime<Utc>) -> Result<Tokens> {
    let settings = &engine.settings.auth;
    let Account { id, role, admin, app, .. } = *account;
    let subject = token::Subject { user: id, role, admin, app, session: &refresh_token };
    let access_token = token::issue(settings, subject, now)?;
    Ok(Tokens { access_token, refresh_token, expires: settings.access_token_ttl })
}

/// Two counters a user: one leads to suspension; the other keeps guesses at suspended users from
/// learning that they are right.
fn counter(kind: &str, user: Uuid) -> String {
    format!("{kind}:{user}")
}

/// Counts this attempt. True when it is one too many: an active user is suspended by it.
async fn count_attempt(engine: &Engine, account: &Account) -> Result<bool> {
    let kind = match account.status.as_str() {
        "active" => "login",
        "suspended" => "suspended",
        _ => return Ok(false),
    };
    let Some(limit) = attempt_limit(engine.db.executor()).await? else { return Ok(false) };
    let attempts = &engine.identities.attempts;
    if attempts.count(&counter(kind, account.id)).await? <= limit {
        return Ok(false);
    }
    if kind == "login" {
        suspend(engine, account.id).await?;
        attempts.reset(&counter(kind, account.id)).await?;
    }
    Ok(true)
}

/// The settings' limit; 25 while there are no settings, none when it is null.
async fn attempt_limit(conn: Executor<'_>) -> Result<Option<u64>> {
    // as a text: the column is signed or not, by engine and by who made the table
    let text = if conn.dialect() == Dialect::Mysql { "char" } else { "text" };
    let limit = Expr::col("auth_login_attempts").cast_as(text);
    let select = Query::select().expr_as(limit, "limit").from("directus_settings").limit(1).to_owned();
    let Some(row) = conn.query_one(conn.build(&select)).await? else { return Ok(Some(25)) };
    Ok(rows::read_text(&row, "limit")?.map(|limit| limit.parse().unwrap_or(0)))
}

async fn suspend(engine: &Engine, user: Uuid) -> Result<()> {
    let conn = engine.db.executor();
    let update = Query::update()
        .table("directus_users")
        .value("status", "suspended")
        .and_where(Expr::col("id").eq(rows::uuid(conn.dialect(), user)))
        .to_owned();
    conn.execute(conn.build(&update)).await?;
    let keys = vec![Key::Uuid(user)];
    engine.system_context().emit(ItemEvent { collection: "directus_users".into(), change: Change::Update, keys });
    Ok(())
}

async fn account_by_email(conn: Executor<'_>, address: &str) -> Result<Option<Account>> {
    account(conn, Expr::expr(Func::lower(Expr::col(("user", "email")))).eq(address.to_lowercase())).await
}

async fn account_by_id(conn: Executor<'_>, user: Uuid) -> Result<Option<Account>> {
    account(conn, Expr::col(("user", "id")).eq(rows::uuid(conn.dialect(), user))).await
}

async fn account(conn: Executor<'_>, wanted: Expr) -> Result<Option<Account>> {
    let dialect = conn.dialect();
    let select = Query::select()
        .columns(["id", "password", "status", "provider", "tfa_secret", "role"].map(|name| ("user", name)))
        .columns([("role", "admin_access"), ("role", "app_access")])
        .from_as("directus_users", "user")
        .join_as(JoinType::LeftJoin, "directus_roles", "role", Expr::col(("role", "id")).equals(("user", "role")))
        .and_where(wanted)
        .limit(1)
        .to_owned();
    let Some(row) = conn.query_one(conn.build(&select)).await? else { return Ok(None) };
    let Some(id) = rows::read_uuid(dialect, &row, "id")? else { return Ok(None) };
    Ok(Some(Account {
        id,
        password: rows::read_text(&row, "password")?.filter(|hash| !hash.is_empty()),
        status: rows::read_text(&row, "status")?.unwrap_or_default(),
        provider: rows::read_text(&row, "provider")?.unwrap_or_default(),
        has_otp: rows::read_text(&row, "tfa_secret")?.is_some_and(|secret| !secret.is_empty()),
        role: rows::read_uuid(dialect, &row, "role")?,
        admin: rows::read_bool(&row, "admin_access")?,
        app: rows::read_bool(&row, "app_access")?,
    }))
}

async fn record_login(conn: Executor<'_>, user: Uuid, origin: &Origin, now: DateTime<Utc>) -> Result<()> {
    let dialect = conn.dialect();
    let mut insert = Query::insert();
    insert
        .into_table("directus_activity")
        .columns(["action", "user", "timestamp", "ip", "user_agent", "collection", "item", "origin"])
        .values([
            Expr::val("login"),
            rows::uuid(dialect, user),
            rows::moment(dialect, now),
            rows::short_text(origin.ip.map(|ip| ip.to_string()).as_deref()),
            rows::short_text(origin.user_agent.as_deref()),
            Expr::val("directus_users"),
            Expr::val(user.to_string()),
            rows::short_text(origin.origin.as_deref()),
        ])
        .map_err(Error::internal)?;
    conn.execute(conn.build(&insert)).await.map(drop)
}

async fn note_access(conn: Executor<'_>, user: Uuid, now: DateTime<Utc>) -> Result<()> {
    let update = Query::update()
        .table("directus_users")
        .value("last_access", rows::moment(conn.dialect(), now))
        .and_where(Expr::col("id").eq(rows::uuid(conn.dialect(), user)))
        .to_owned();
    conn.execute(conn.build(&update)).await.map(drop)
}
