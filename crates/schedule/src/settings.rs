//! What a scheduler is opened with. Checked by [`Scheduler::open`](crate::Scheduler::open), secrets hidden in `Debug`.

use std::fmt;
use std::time::Duration;

use chrono_tz::Tz;

use crate::error::InvalidSetting;
use crate::spec::check_name;

/// Everything but the clock.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Who coordinates.
    pub store: StoreSettings,
    /// Identity of this replica, unique among the processes that share the store.
    pub replica: String,
    /// Host name, for history only.
    pub host: String,
    /// Zone of cron expressions that name none. Must be the same on every replica.
    pub timezone: Tz,
    /// An occurrence later than this on its own timer is skipped (2 s).
    pub late_limit: Duration,
    /// Ticks that may wait per schedule with `overlap: queue` (100).
    pub queue_limit: usize,
    /// Runs remembered per schedule (100).
    pub history_limit: usize,
    /// Most occurrences that `catch_up: all` makes up for, the newest (1,000).
    pub catch_up_max: usize,
    /// Claims in flight at once, over all schedules (64).
    pub concurrent_claims: usize,
}

impl Settings {
    /// The defaults, with a random replica id, UTC, and the host's name from `HOSTNAME`.
    pub fn new(store: StoreSettings) -> Self {
        Self {
            store,
            replica: uuid::Uuid::new_v4().to_string(),
            host: std::env::var("HOSTNAME")
                .ok()
                .filter(|host| !host.is_empty())
                .unwrap_or_else(|| "unknown".to_owned()),
            timezone: Tz::UTC,
            late_limit: Duration::from_secs(2),
            queue_limit: 100,
            history_limit: 100,
            catch_up_max: 1_000,
            concurrent_claims: 64,
        }
    }

    pub(crate) fn check(&self) -> Result<(), InvalidSetting> {
        check_name("replica", &self.replica)?;
        check_name("host", &self.host)?;
        if self.concurrent_claims == 0 {
            return Err(InvalidSetting::new("concurrent_claims", "must be more than 0"));
        }
        match &self.store {
            StoreSettings::Local => Ok(()),
            StoreSettings::Redis(redis) => redis.deadlines.check(),
            StoreSettings::Nats(nats) => nats.deadlines.check(),
        }
    }
}

/// Who coordinates.
#[derive(Debug, Clone)]
pub enum StoreSettings {
    /// Nobody: this process runs everything.
    Local,
    /// Claims in a sorted set of a Redis ≥ 6.2 or Valkey.
    Redis(RedisSettings),
    /// Leases in a JetStream key-value bucket.
    Nats(NatsSettings),
}

/// Deadlines and pauses of a store's connection.
#[derive(Debug, Clone)]
pub struct Deadlines {
    /// Of each command (5 s).
    pub command: Duration,
    /// How long the first connection may take before it counts, and is logged, as unavailable (10 s).
    pub readiness: Duration,
    /// Between two probes of an idle connection (2 s).
    pub probe_every: Duration,
    /// First pause before redialling (50 ms); it doubles, with jitter, up to `redial_max`.
    pub redial_min: Duration,
    /// Longest pause before redialling (2 s).
    pub redial_max: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            command: Duration::from_secs(5),
            readiness: Duration::from_secs(10),
            probe_every: Duration::from_secs(2),
            redial_min: Duration::from_millis(50),
            redial_max: Duration::from_secs(2),
        }
    }
}

impl Deadlines {
    fn check(&self) -> Result<(), InvalidSetting> {
        for (field, value) in [
            ("command_deadline", self.command),
            ("readiness", self.readiness),
            ("probe_every", self.probe_every),
            ("redial_min", self.redial_min),
        ] {
            if value.is_zero() {
                return Err(InvalidSetting::new(field, "must be more than 0 ms"));
            }
        }
        if self.redial_max < self.redial_min {
            return Err(InvalidSetting::new("redial_max", "must not be less than redial_min"));
        }
        Ok(())
    }

    /// The pause before attempt number `attempt` (from 0), with jitter of a quarter.
    pub(crate) fn redial(&self, attempt: u32) -> Duration {
        let pause = self.redial_min.saturating_mul(1_u32 << attempt.min(16)).min(self.redial_max);
        pause.mul_f64(rand::random_range(0.75..=1.0))
    }
}

/// Claims on Redis.
#[derive(Clone)]
pub struct RedisSettings {
    /// `redis://[user[:password]@]host[:port][/db]` or `rediss://…`.
    pub url: String,
    /// Separates deployments that share a Redis.
    pub namespace: String,
    /// How long a manual dedup key is remembered (24 h).
    pub manual_ttl: Duration,
    /// Deadlines of the connection.
    pub deadlines: Deadlines,
}

impl RedisSettings {
    /// The defaults for a server and namespace.
    pub fn new(url: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            namespace: namespace.into(),
            manual_ttl: Duration::from_secs(24 * 60 * 60),
            deadlines: Deadlines::default(),
        }
    }
}

impl fmt::Debug for RedisSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisSettings")
            .field("namespace", &self.namespace)
            .field("manual_ttl", &self.manual_ttl)
            .field("deadlines", &self.deadlines)
            .finish_non_exhaustive()
    }
}

/// Leases on NATS JetStream.
#[derive(Clone)]
pub struct NatsSettings {
    /// One or more servers, separated by commas: `nats://host:port,nats://other`.
    pub url: String,
    /// User and password.
    pub user: Option<(String, String)>,
    /// Token.
    pub token: Option<String>,
    /// Contents of a `.creds` file (not its path).
    pub credentials: Option<String>,
    /// The bucket (`scheduler`): letters, digits, `-` and `_`. Created if missing, never altered.
    pub bucket: String,
    /// How long the bucket keeps entries, set when it is created; `None` keeps them for ever (7 days).
    pub history_ttl: Option<Duration>,
    /// Copies of the bucket in a cluster, set when it is created (1).
    pub copies: usize,
    /// Life of a lease without renewal (5 min). It is renewed every third of it.
    pub lease: Duration,
    /// How far back a starting replica looks for runs whose holder died (24 h).
    pub takeover_window: Duration,
    /// A run whose holders died this often is given up as failed (5).
    pub max_attempts: u32,
    /// Deadlines of the connection.
    pub deadlines: Deadlines,
}

impl NatsSettings {
    /// The defaults for a server.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            user: None,
            token: None,
            credentials: None,
            bucket: "scheduler".to_owned(),
            history_ttl: Some(Duration::from_secs(7 * 24 * 60 * 60)),
            copies: 1,
            lease: Duration::from_secs(5 * 60),
            takeover_window: Duration::from_secs(24 * 60 * 60),
            max_attempts: 5,
            deadlines: Deadlines::default(),
        }
    }
}

impl fmt::Debug for NatsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsSettings")
            .field("bucket", &self.bucket)
            .field("history_ttl", &self.history_ttl)
            .field("lease", &self.lease)
            .field("takeover_window", &self.takeover_window)
            .field("max_attempts", &self.max_attempts)
            .field("deadlines", &self.deadlines)
            .finish_non_exhaustive()
    }
}
