//! What a messenger is told when it is opened, and what of it is refused. No environment and no
//! files are read here, but for the credentials of NATS.

use std::{fmt, time::Duration};

use chrono::{DateTime, Utc};

use crate::local::LocalBus;

/// A setting that can't be used. Names the field and what is accepted, never a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct InvalidSetting {
    /// The field of these settings, `namespace` or `redis.url` for example.
    pub field: &'static str,
    /// What is wrong, and what is accepted.
    pub message: String,
}

impl InvalidSetting {
    pub(crate) fn new(field: &'static str, message: impl Into<String>) -> Self {
        Self { field, message: message.into() }
    }
}

/// A text that is never shown, not even by `Debug`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for Secret {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_empty() { "(empty)" } else { "(secret)" })
    }
}

/// Everything a messenger needs to know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where messages go.
    pub store: Store,
    /// Separates deployments that share a store: 1 to 64 of `A-Z a-z 0-9 _ -`. Default `waymark`.
    pub namespace: String,
    /// Who this replica is.
    pub identity: Identity,
    /// Deadlines and intervals.
    pub timing: Timing,
    /// Bounds of memory.
    pub limits: Limits,
}

impl Settings {
    /// Settings with defaults for everything but the store.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self {
            store,
            namespace: "waymark".to_owned(),
            identity: Identity::default(),
            timing: Timing::default(),
            limits: Limits::default(),
        }
    }
}

/// The store that carries the messages.
#[derive(Clone, Debug)]
pub enum Store {
    /// Memory of this process. Messengers with clones of one bus hear each other.
    Local(LocalBus),
    /// A Redis ≥ 6.2 or Valkey.
    Redis(RedisStore),
    /// A NATS server or cluster.
    Nats(NatsStore),
}

impl Store {
    /// A bus of one's own.
    #[must_use]
    pub fn local() -> Self {
        Self::Local(LocalBus::default())
    }
}

/// How a Redis is reached.
#[derive(Clone, Debug)]
pub enum RedisStore {
    /// `redis[s]://[user][:password@]host[:port][/db]`, or `unix:///path`.
    Url(Secret),
    /// The parts of such a URL.
    Parts {
        /// Host name or address.
        host: String,
        /// Port, usually 6379.
        port: u16,
        /// User of the access-control list; `None` is `default`.
        username: Option<String>,
        /// Its password.
        password: Option<Secret>,
        /// Number of the database. Channels are the same in all of them.
        db: u32,
        /// Whether the connection is encrypted.
        tls: bool,
    },
}

/// How a NATS server is reached.
#[derive(Clone, Debug, Default)]
pub struct NatsStore {
    /// `nats://host:port` or `tls://host:port` of one or more servers of a cluster.
    pub urls: Vec<Secret>,
    /// User; one in a URL is used as well.
    pub user: Option<String>,
    /// Its password.
    pub password: Option<Secret>,
    /// A token instead of user and password.
    pub token: Option<Secret>,
    /// Path of a `.creds` file.
    pub credentials: Option<String>,
}

/// Who a replica is, as the others of its namespace see it.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Unique for a process. Default: random.
    pub id: String,
    /// The secret that all replicas of one deployment share. It never leaves the process; a short
    /// keyed digest of it shows whether two replicas have the same one.
    pub key: Secret,
    /// Version of the program.
    pub version: String,
    /// Name of the machine.
    pub host: String,
    /// Time zone that schedules follow, by its IANA name. Not compared when empty.
    pub zone: String,
    /// When the process started.
    pub started: DateTime<Utc>,
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            id: uuid::Uuid::new_v4().to_string(),
            key: Secret::default(),
            version: String::new(),
            host: String::new(),
            zone: String::new(),
            started: Utc::now(),
        }
    }
}

/// Deadlines and intervals. All of them are more than zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Bound of every command, connecting included. Default 5 s.
    pub deadline: Duration,
    /// The n-th attempt in a row to reconnect waits about n times this. Default 50 ms.
    pub backoff_step: Duration,
    /// Longest wait between two attempts. Default 2 s.
    pub backoff_max: Duration,
    /// How often an idle connection has to prove that it still answers. Default 2 s.
    pub probe: Duration,
    /// How long a connection must hold after a failure until the status says that it recovered, so
    /// that a store that comes and goes is one episode. Messages flow, and subscriptions are told
    /// of the recovery, before. Default 500 ms.
    pub settle: Duration,
    /// How often a replica announces itself; it is gone after three silent ones. Default 2 s.
    pub heartbeat: Duration,
    /// Bound of [`stop`](crate::Messenger::stop). Default 2 s.
    pub stop: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(5),
            backoff_step: Duration::from_millis(50),
            backoff_max: Duration::from_secs(2),
            probe: Duration::from_secs(2),
            settle: Duration::from_millis(500),
            heartbeat: Duration::from_secs(2),
            stop: Duration::from_secs(2),
        }
    }
}

/// Bounds of memory. All of them are more than zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest payload in bytes. Default 1 MiB, which is also the default of NATS servers.
    pub message_bytes: usize,
    /// Messages that wait for being published. Default 4,096.
    pub queue_messages: usize,
    /// Bytes that wait for being published. Default 16 MiB.
    pub queue_bytes: usize,
    /// Messages that wait for the reader of one subscription. Default 1,024.
    pub subscription_messages: usize,
    /// Bytes that wait for the reader of one subscription. Default 16 MiB.
    pub subscription_bytes: usize,
    /// Replicas kept in the list. Default 1,024.
    pub replicas: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 1 << 20,
            queue_messages: 4_096,
            queue_bytes: 16 << 20,
            subscription_messages: 1_024,
            subscription_bytes: 16 << 20,
            replicas: 1_024,
        }
    }
}

/// Refuses what can't be used; what the stores refuse is theirs.
pub(crate) fn check(settings: &Settings) -> Result<(), InvalidSetting> {
    crate::name::check_namespace(&settings.namespace)?;
    let identity = &settings.identity;
    if identity.id.is_empty() || identity.id.len() > crate::topology::LONGEST_TEXT {
        return Err(InvalidSetting::new("identity.id", "1 to 256 bytes are accepted"));
    }
    for (field, text) in
        [("identity.version", &identity.version), ("identity.host", &identity.host), ("identity.zone", &identity.zone)]
    {
        if text.len() > crate::topology::LONGEST_TEXT {
            return Err(InvalidSetting::new(field, "at most 256 bytes are accepted"));
        }
    }
    let timing = &settings.timing;
    for (field, duration) in [
        ("timing.deadline", timing.deadline),
        ("timing.backoff_step", timing.backoff_step),
        ("timing.backoff_max", timing.backoff_max),
        ("timing.probe", timing.probe),
        ("timing.settle", timing.settle),
        ("timing.heartbeat", timing.heartbeat),
        ("timing.stop", timing.stop),
    ] {
        if duration < Duration::from_millis(1) || duration > Duration::from_secs(86_400) {
            return Err(InvalidSetting::new(field, "1 ms to 1 day is accepted"));
        }
    }
    let limits = &settings.limits;
    for (field, limit) in [
        ("limits.message_bytes", limits.message_bytes),
        ("limits.queue_messages", limits.queue_messages),
        ("limits.queue_bytes", limits.queue_bytes),
        ("limits.subscription_messages", limits.subscription_messages),
        ("limits.subscription_bytes", limits.subscription_bytes),
        ("limits.replicas", limits.replicas),
    ] {
        if limit == 0 {
            return Err(InvalidSetting::new(field, "must be more than 0"));
        }
    }
    Ok(())
}
