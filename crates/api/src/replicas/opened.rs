//! From settings to a messenger and a scheduler. What their crates refuse is told by the name of the variable.

use std::{fmt, sync::Arc};

use waymark_messenger::{Identity, Messenger, NatsStore, RedisStore, Store};
use waymark_schedule::{NatsSettings, RedisSettings, Scheduler, StoreSettings, SystemClock};

use crate::settings::{Settings, messenger};

/// A setting that messenger or scheduler refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The variable, as far as it is known.
    pub name: &'static str,
    pub message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)
    }
}

impl std::error::Error for Refused {}

/// Opens the messenger.
///
/// # Errors
/// The variable that can't be used.
pub(super) fn messenger(settings: &Settings) -> Result<Messenger, Refused> {
    let own = &settings.messenger;
    let secret = |secret: &crate::settings::Secret| waymark_messenger::Secret::from(secret.reveal());
    let store = match own.store {
        messenger::Store::Local => Store::local(),
        messenger::Store::Redis => Store::Redis(RedisStore::Url(own.redis.as_ref().map(secret).unwrap_or_default())),
        messenger::Store::Nats => Store::Nats(NatsStore {
            urls: own.nats.servers.iter().map(secret).collect(),
            user: own.nats.user.clone(),
            password: own.nats.password.as_ref().map(secret),
            token: own.nats.token.as_ref().map(secret),
            credentials: own.nats.credentials.clone(),
        }),
    };
    let mut opened = waymark_messenger::Settings::new(store);
    opened.namespace.clone_from(&own.namespace);
    opened.identity = Identity {
        key: secret(&settings.security.key),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: host(),
        zone: settings.schedule.timezone.clone(),
        ..Identity::default()
    };
    let kind = own.store;
    Messenger::open(opened).map_err(|refused| Refused { name: variable(kind, refused.field), message: refused.message })
}

/// Opens the scheduler for a replica.
///
/// # Errors
/// The variable that can't be used.
pub fn scheduler(settings: &Settings, replica: &str) -> Result<Scheduler, Refused> {
    let (own, messenger) = (&settings.schedule, &settings.messenger);
    let refused = |field: &str, message: String| Refused { name: variable(own.store, field), message };
    let store = match own.store {
        messenger::Store::Local => StoreSettings::Local,
        messenger::Store::Redis => {
            let url = messenger.redis.as_ref().map(|url| url.reveal().to_owned()).unwrap_or_default();
            StoreSettings::Redis(RedisSettings::new(url, &messenger.namespace))
        }
        messenger::Store::Nats => {
            let nats = &messenger.nats;
            let servers: Vec<&str> = nats.servers.iter().map(crate::settings::Secret::reveal).collect();
            let password = nats.password.as_ref().map(|password| password.reveal().to_owned()).unwrap_or_default();
            let credentials = nats.credentials.as_deref().map(std::fs::read_to_string).transpose();
            let credentials = credentials
                .map_err(|error| refused("credentials", format!("the file can't be read ({})", error.kind())))?;
            StoreSettings::Nats(NatsSettings {
                user: nats.user.clone().map(|user| (user, password)),
                token: nats.token.as_ref().map(|token| token.reveal().to_owned()),
                credentials,
                bucket: own.nats_bucket.clone(),
                history_ttl: own.history_ttl,
                lease: own.lock_ttl,
                ..NatsSettings::new(servers.join(","))
            })
        }
    };
    let mut opened = waymark_schedule::Settings::new(store);
    replica.clone_into(&mut opened.replica);
    opened.host = host();
    opened.catch_up_max = own.catch_up_max;
    opened.timezone =
        waymark_schedule::parse_timezone(&own.timezone).map_err(|error| refused(error.field, error.message))?;
    Scheduler::open(opened, Arc::new(SystemClock::new())).map_err(|error| refused(error.field, error.message))
}

/// The variable behind a field of the crates.
fn variable(store: messenger::Store, field: &str) -> &'static str {
    match field {
        "namespace" => "MESSENGER_NAMESPACE",
        "bucket" => "SCHEDULE_NATS_BUCKET",
        "timezone" => "SCHEDULE_TIMEZONE",
        "lease" => "SCHEDULE_LOCK_TTL",
        "history_ttl" => "SCHEDULE_HISTORY_TTL",
        "credentials" | "nats.credentials" => "MESSENGER_NATS_CREDENTIALS",
        "nats.user" | "user" => "MESSENGER_NATS_USER",
        _ => match store {
            messenger::Store::Local => "MESSENGER_STORE",
            messenger::Store::Redis => "MESSENGER_REDIS",
            messenger::Store::Nats => "MESSENGER_NATS",
        },
    }
}

/// The name of this machine; shown to admins, decides nothing.
fn host() -> String {
    let named = std::env::var("HOSTNAME").ok().or_else(|| std::fs::read_to_string("/proc/sys/kernel/hostname").ok());
    let named = named.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty() && name.len() <= 200);
    named.unwrap_or_else(|| "unknown".to_owned())
}
