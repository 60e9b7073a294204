//! The versioned cache of users, roles and compiled policies: suspension, role and permission
//! changes act on the next request. Whatever token a caller shows, its rights come from here.
//!
//! A value is stored with the version that held before it was loaded, so that one loaded while
//! something changed is never taken for current.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use chrono::Utc;
use moka::sync::Cache;
use sea_query::{Expr, ExprTrait, JoinType, Query};
use uuid::Uuid;

use super::{
    AuthSettings,
    attempts::{AttemptStore, LocalAttempts},
    password::Passwords,
    rows, share,
    token::{self, Bearer},
};
use crate::{
    access::{Policy, rows::load_policy},
    actor::{Actor, Origin, ShareActor, UserActor},
    context::Engine,
    error::{Code, Error, Result},
    schema::Schema,
    store::Executor,
};

/// Cached users, and cached policies.
const MOST_USERS: u64 = 20_000;
const MOST_POLICIES: u64 = 2_000;
/// The cache takes no longer times than this.
const LONGEST_TTL: Duration = Duration::from_hours(24);

/// How a user is found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Credential {
    User(Uuid),
    StaticToken(String),
}

/// A user with what its role says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub user: UserActor,
    pub status: String,
    /// Addresses the role may call from; empty = any.
    pub addresses: Vec<IpAddr>,
    /// The list of addresses has entries, readable or not.
    pub restricted: bool,
}

/// A cached value and the version before it was loaded.
#[derive(Clone)]
struct Versioned<T> {
    version: u64,
    value: T,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PolicyKey {
    role: Uuid,
    app: bool,
    share: Option<ShareActor>,
    schema: u64,
}

/// Cached identities of one server, and the owners of its login work.
pub struct Identities {
    version: AtomicU64,
    users: Cache<Credential, Versioned<Arc<Identity>>>,
    policies: Cache<PolicyKey, Versioned<Arc<Policy>>>,
    /// Hashes and verifies passwords, bounded.
    pub passwords: Passwords,
    /// Counters of the log-in lock.
    pub attempts: Arc<dyn AttemptStore>,
}

impl Identities {
    /// Entries live for `ttl` at most, even if nobody tells of changes.
    #[must_use]
    pub fn new(settings: &AuthSettings, ttl: Duration) -> Self {
        let ttl = ttl.min(LONGEST_TTL);
        Self {
            version: AtomicU64::new(1),
            users: Cache::builder().max_capacity(MOST_USERS).time_to_live(ttl).build(),
            policies: Cache::builder().max_capacity(MOST_POLICIES).time_to_live(ttl).build(),
            passwords: Passwords::new(settings.clone()),
            attempts: Arc::new(LocalAttempts::default()),
        }
    }

    /// Everything cached is stale from now on.
    pub fn invalidate(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// Grows with every change of users, roles, permissions and settings; part of cache keys.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }

    /// The caller's compiled policy.
    ///
    /// # Errors
    /// When the permission rows can't be read.
    pub async fn policy(&self, engine: &Engine, schema: &Arc<Schema>, actor: &Actor) -> Result<Arc<Policy>> {
        let Some(role) = actor.effective_role().filter(|_| !actor.is_admin()) else {
            return Ok(Arc::new(Policy::unrestricted()));
        };
        let share = actor.as_share().cloned();
        let key = PolicyKey { role, app: actor.has_app_access(), share, schema: schema.version };
        let version = self.version();
        if let Some(known) = self.policies.get(&key).filter(|known| known.version == version) {
            return Ok(known.value);
        }
        let value = Arc::new(load_policy(engine, schema, actor).await?);
        self.policies.insert(key, Versioned { version, value: Arc::clone(&value) });
        Ok(value)
    }

    /// The current row of a user and its role; unknown ones are not cached.
    async fn identity(&self, conn: Executor<'_>, credential: Credential) -> Result<Option<Arc<Identity>>> {
        let version = self.version();
        if let Some(known) = self.users.get(&credential).filter(|known| known.version == version) {
            return Ok(Some(known.value));
        }
        let Some(identity) = load_identity(conn, &credential).await?.map(Arc::new) else { return Ok(None) };
        self.users.insert(credential, Versioned { version, value: Arc::clone(&identity) });
        Ok(Some(identity))
    }
}

/// Who shows this bearer value: an access token or a static token, with the rights its user or share
/// has now.
///
/// # Errors
/// `INVALID_TOKEN`, `TOKEN_EXPIRED` (access tokens), `INVALID_CREDENTIALS` (no such user, or one
/// that is not active), `INVALID_IP`.
pub async fn actor_for_token(engine: &Engine, token: &str, origin: Origin) -> Result<Actor> {
    let (credential, session) = match token::read(&engine.settings.auth, token, Utc::now())? {
        Some(Bearer::User(claims)) => (Credential::User(claims.user), claims.session),
        Some(Bearer::Share(id)) => return share::actor(engine, id, origin).await,
        None => (Credential::StaticToken(token.to_owned()), None),
    };
    Ok(actor(engine, credential, origin).await?.in_session(session))
}

/// A user with the rights it has now, for work that goes on after its token was checked.
///
/// # Errors
/// `INVALID_CREDENTIALS`, `INVALID_IP`.
pub async fn actor_for_user(engine: &Engine, user: Uuid, origin: Origin) -> Result<Actor> {
    actor(engine, Credential::User(user), origin).await
}

async fn actor(engine: &Engine, credential: Credential, origin: Origin) -> Result<Actor> {
    let identity = engine.identities.identity(engine.db.executor(), credential).await?;
    let identity = identity.filter(|identity| identity.status == "active");
    let identity = identity.ok_or_else(|| Error::new(Code::InvalidCredentials))?;
    if !identity.admits(origin.ip) {
        return Err(Error::new(Code::InvalidIp));
    }
    Ok(Actor::user(identity.user.clone(), origin))
}

impl Identity {
    /// Whether the role may call from this address. IPv4 addresses written as IPv6 count as IPv4.
    #[must_use]
    pub fn admits(&self, address: Option<IpAddr>) -> bool {
        !self.restricted || address.is_some_and(|address| self.addresses.contains(&address.to_canonical()))
    }
}

async fn load_identity(conn: Executor<'_>, credential: &Credential) -> Result<Option<Identity>> {
    let dialect = conn.dialect();
    let wanted = match credential {
        Credential::User(id) => Expr::col(("user", "id")).eq(rows::uuid(dialect, *id)),
        // Longer ones fit no column; a NUL is refused by PostgreSQL.
        Credential::StaticToken(token) if token.is_empty() || token.len() > 1020 || token.contains('\0') => {
            return Ok(None);
        }
        Credential::StaticToken(token) => Expr::col(("user", "token")).eq(token.as_str()),
    };
    let select = Query::select()
        .columns([("user", "id"), ("user", "status"), ("user", "role"), ("user", "token")])
        .columns([("role", "admin_access"), ("role", "app_access"), ("role", "ip_access")])
        .from_as("directus_users", "user")
        .join_as(JoinType::LeftJoin, "directus_roles", "role", Expr::col(("role", "id")).equals(("user", "role")))
        .and_where(wanted)
        .to_owned();
    let Some(row) = conn.query_one(conn.build(&select)).await? else { return Ok(None) };
    // Some collations find a token of other case.
    if let Credential::StaticToken(token) = credential
        && rows::read_text(&row, "token")?.as_deref() != Some(token)
    {
        return Ok(None);
    }
    let Some(id) = rows::read_uuid(dialect, &row, "id")? else { return Ok(None) };
    let (addresses, restricted) = parse_addresses(rows::read_text(&row, "ip_access")?.as_deref().unwrap_or_default());
    Ok(Some(Identity {
        user: UserActor {
            id,
            role: rows::read_uuid(dialect, &row, "role")?,
            admin: rows::read_bool(&row, "admin_access")?,
            app: rows::read_bool(&row, "app_access")?,
        },
        status: rows::read_text(&row, "status")?.unwrap_or_default(),
        addresses,
        restricted,
    }))
}

/// The list as stored: separated by commas. Entries that are no addresses admit nobody.
pub(super) fn parse_addresses(list: &str) -> (Vec<IpAddr>, bool) {
    let entries: Vec<&str> = list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect();
    let addresses = entries.iter().filter_map(|entry| entry.parse::<IpAddr>().ok());
    (addresses.map(|address| address.to_canonical()).collect(), !entries.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn identity(list: &str) -> Identity {
        let (addresses, restricted) = parse_addresses(list);
        let user = UserActor { id: Uuid::nil(), role: None, admin: false, app: false };
        Identity { user, status: "active".into(), addresses, restricted }
    }

    #[test]
    fn addresses_are_compared_reduced() {
        let local = Some("127.0.0.1".parse().unwrap());
        let mapped = Some("::ffff:127.0.0.1".parse().unwrap());
        let six = Some("::1".parse().unwrap());
        assert!(identity("").admits(None) && identity(" , ").admits(local));
        assert!(identity("10.9.8.7, 127.0.0.1").admits(local));
        assert!(identity("127.0.0.1").admits(mapped));
        assert!(identity("::ffff:127.0.0.1").admits(local));
        assert!(identity("10.9.8.7,0:0:0:0:0:0:0:1").admits(six));
        assert!(!identity("10.9.8.7").admits(local));
        assert!(!identity("10.9.8.7").admits(None));
        assert!(!identity("127.0.0.0/8").admits(local));
    }
}
