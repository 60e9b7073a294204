//! Through what replicas tell each other of changes.

use std::time::Duration;

use super::{Reader, Secret, parse};

#[derive(Clone, Debug)]
pub struct Messenger {
    pub store: Store,
    pub namespace: String,
    /// Present for `redis`, and for schedules that use it.
    pub redis: Option<Secret>,
    pub nats: Nats,
    /// How old cached identities may be, and the schema while the store is away.
    pub stale_after: Duration,
}

/// A kind of store, for messages as well as for schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    Local,
    Redis,
    Nats,
}

pub(super) const STORES: &[(&str, Store)] = &[("local", Store::Local), ("redis", Store::Redis), ("nats", Store::Nats)];

/// How NATS is reached.
#[derive(Clone, Debug, Default)]
pub struct Nats {
    pub servers: Vec<Secret>,
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub token: Option<Secret>,
    /// Path of a credentials file.
    pub credentials: Option<String>,
}

impl Messenger {
    pub fn read(reader: &mut Reader<'_>) -> Self {
        let store = reader.choice("MESSENGER_STORE", STORES).unwrap_or(Store::Local);
        let namespace = reader.text("MESSENGER_NAMESPACE");
        let usable = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
        if namespace.is_empty() || namespace.len() > 64 || !namespace.chars().all(usable) {
            let is = parse::shape(&namespace);
            reader.problem("MESSENGER_NAMESPACE", &is, "1 to 64 letters, digits, - and _");
        }
        let stale_after = reader.duration_from("CACHE_SYSTEM_TTL", Duration::from_millis(100));
        Self { store, namespace, redis: redis(reader), nats: nats(reader), stale_after }
    }
}

fn redis(reader: &mut Reader<'_>) -> Option<Secret> {
    let host = reader.optional_text("MESSENGER_REDIS_HOST");
    let port = reader.number("MESSENGER_REDIS_PORT", 1..=65_535);
    let user = reader.optional_text("MESSENGER_REDIS_USERNAME");
    let password = reader.secret("MESSENGER_REDIS_PASSWORD");
    let database = reader.number("MESSENGER_REDIS_DB", 0..=65_535);
    let scheme = if reader.boolean("MESSENGER_REDIS_TLS") { "rediss" } else { "redis" };
    if let Some(url) = reader.secret("MESSENGER_REDIS") {
        return Some(url);
    }
    let host = host?;
    let user = user.map(|user| parse::percent(&user)).unwrap_or_default();
    let login = match password {
        Some(password) => format!("{user}:{}@", parse::percent(password.reveal())),
        None if user.is_empty() => String::new(),
        None => format!("{user}@"),
    };
    // An address of version 6 stands in brackets.
    let host = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host };
    Some(Secret::new(format!("{scheme}://{login}{host}:{port}/{database}")))
}

fn nats(reader: &mut Reader<'_>) -> Nats {
    Nats {
        servers: reader.list("MESSENGER_NATS").into_iter().map(Secret::new).collect(),
        user: reader.optional_text("MESSENGER_NATS_USER"),
        password: reader.secret("MESSENGER_NATS_PASSWORD"),
        token: reader.secret("MESSENGER_NATS_TOKEN"),
        credentials: reader.optional_text("MESSENGER_NATS_CREDENTIALS"),
    }
}
