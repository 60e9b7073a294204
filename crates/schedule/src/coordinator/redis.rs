//! Claims in one sorted set: member = schedule, score = occurrence in ms. `ZADD … GT CH` answers 1 to exactly one replica
//! per occurrence. Monotonic, never released, fail closed: what can't be claimed in time does not run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, FromRedisValue, IntoConnectionInfo, ProtocolVersion, PushInfo, PushKind, cmd,
};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::local::Once;
use super::{Answer, Claim, Coordinator, Health, Status, Unavailable};
use crate::error::InvalidSetting;
use crate::settings::{Deadlines, RedisSettings};
use crate::spec::check_name;

/// The member that probes claim, with a score that no occurrence has.
const PROBE: &str = "__probe__";
/// Claims that lie so far ahead of the store's clock are not made: they would silence their schedule.
const TOO_FAR_AHEAD_MS: i64 = 60_000;
const WRONG_CLOCK: &str = "The clock of this replica is far ahead of the store's, it runs no coordinated schedules.";
/// A retired schedule is forgotten after so long without a claim.
const RETIRED_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// Retired schedules read at once.
const TRIM_BATCH: usize = 1_000;

pub(crate) struct Redis {
    key: String,
    manual_prefix: String,
    manual_ttl_ms: u64,
    replica: String,
    deadlines: Deadlines,
    client: Client,
    health: Health,
    /// The connection in use and its number; none while it is down.
    live: Mutex<(u64, Option<MultiplexedConnection>)>,
    /// Wakes the supervisor when a command failed or the connection ended.
    failed: Arc<Notify>,
    /// The store's clock (ms since the epoch) when it was asked last.
    clock: Mutex<Option<(i64, Instant)>>,
    /// The own clock is far ahead of the store's.
    wrong_clock: AtomicBool,
    /// What an operator should know.
    problem: Mutex<Option<String>>,
}

impl Redis {
    pub(crate) fn open(
        settings: &RedisSettings,
        replica: &str,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> Result<Arc<Self>, InvalidSetting> {
        check_name("namespace", &settings.namespace)?;
        if settings.namespace.contains(char::is_whitespace) {
            return Err(InvalidSetting::new("namespace", "must not hold white space"));
        }
        // the error of the url crate may repeat parts of it: secrets
        let refused =
            || InvalidSetting::new("url", "expected redis://[user[:password]@]host[:port][/db] or rediss://…");
        let info = settings.url.as_str().into_connection_info().map_err(|_| refused())?;
        if info.redis_settings().db() < 0 {
            return Err(refused());
        }
        // With RESP3 the client tells when the connection ends, and not only the next command.
        let spoken = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let client = Client::open(info.set_redis_settings(spoken)).map_err(|_| refused())?;
        let redis = Arc::new(Self {
            key: format!("{}:schedule-coordination", settings.namespace),
            manual_prefix: format!("{}:schedule-manual", settings.namespace),
            manual_ttl_ms: u64::try_from(settings.manual_ttl.as_millis()).unwrap_or(u64::MAX / 2).max(1),
            replica: replica.to_owned(),
            deadlines: settings.deadlines.clone(),
            client,
            health: Health::new("redis"),
            live: Mutex::new((0, None)),
            failed: Arc::default(),
            clock: Mutex::default(),
            wrong_clock: AtomicBool::new(false),
            problem: Mutex::default(),
        });
        let (supervisor, stop) = (redis.clone(), stop.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = supervisor.supervise() => {}
                () = supervisor.readiness() => {}
            }
        });
        Ok(redis)
    }

    /// Says once that the first connection did not come; never ends.
    async fn readiness(&self) {
        tokio::time::sleep(self.deadlines.readiness).await;
        self.health.tell();
        std::future::pending().await
    }

    /// Dials, probes, and keeps probing; drops and redials what fails.
    async fn supervise(&self) {
        let mut attempt = 0_u32;
        loop {
            match self.dial().await {
                Ok(number) => {
                    attempt = 0;
                    self.watch_over(number).await;
                }
                Err(reason) => {
                    self.health.unavailable(&reason);
                    tokio::time::sleep(self.deadlines.redial(attempt)).await;
                    attempt = attempt.saturating_add(1);
                }
            }
        }
    }

    /// A connection that has proven itself by a probe.
    async fn dial(&self) -> Result<u64, String> {
        let failed = Arc::clone(&self.failed);
        let listening = move |push: PushInfo| {
            if push.kind == PushKind::Disconnection {
                failed.notify_one();
            }
            Ok::<_, redis::aio::SendError>(())
        };
        let config = AsyncConnectionConfig::new()
            .set_push_sender(listening)
            .set_connection_timeout(Some(self.deadlines.command))
            .set_response_timeout(Some(self.deadlines.command));
        let dialled = self.client.get_multiplexed_async_connection_with_config(&config);
        let connection = match tokio::time::timeout(self.deadlines.command, dialled).await {
            Ok(dialled) => dialled.map_err(|error| reason(&error))?,
            Err(_) => return Err("no connection within the deadline".to_owned()),
        };
        self.probe(connection.clone()).await?;
        let number = {
            let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
            live.0 += 1;
            live.1 = Some(connection);
            // under the lock, so that no failure of this connection is told before it
            self.health.available();
            live.0
        };
        Ok(number)
    }

    /// Returns when connection `number` has failed.
    async fn watch_over(&self, number: u64) {
        loop {
            tokio::select! {
                () = self.failed.notified() => {}
                () = tokio::time::sleep(self.deadlines.probe_every) => {}
            }
            let Some((current, connection)) = self.connection() else { return };
            if current != number {
                return;
            }
            if let Err(reason) = self.probe(connection).await {
                self.drop_connection(number, &reason);
                return;
            }
        }
    }

    /// Proves that claims work on the live key: reachable, permitted, and a server that knows `GT`.
    async fn probe(&self, connection: MultiplexedConnection) -> Result<(), String> {
        let mut probe = cmd("ZADD");
        probe.arg(&self.key).arg("GT").arg("CH").arg(0).arg(PROBE);
        self.ask::<i64>(connection.clone(), &probe).await?;
        self.look_at_clock(connection).await;
        Ok(())
    }

    /// Asks for the store's time, and for claims that lie in the future: a replica whose clock was far ahead has made
    /// them, and until then their schedules are silent everywhere. Rights to ask are not taken for granted.
    async fn look_at_clock(&self, connection: MultiplexedConnection) {
        let Ok((seconds, micros)) = self.ask::<(i64, i64)>(connection.clone(), &cmd("TIME")).await else { return };
        let now = seconds * 1_000 + micros / 1_000;
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, Instant::now()));
        let mut ahead = cmd("ZREVRANGEBYSCORE");
        ahead.arg(&self.key).arg("+inf").arg(now + TOO_FAR_AHEAD_MS).arg("WITHSCORES").arg("LIMIT").arg(0).arg(1);
        let Ok(ahead) = self.ask::<Vec<(String, f64)>>(connection, &ahead).await else { return };
        let found = ahead.first().map(|(name, _)| {
            format!("the schedule {name} was claimed for a time that is still to come, and is silent until then")
        });
        let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = found.as_ref().filter(|found| problem.as_ref() != Some(*found)) {
            tracing::error!("{found}: was a replica's clock far ahead?");
        }
        *problem = found;
    }

    /// How far an occurrence lies ahead of the store's clock (ms), as far as that is known.
    fn ahead(&self, occurrence: i64) -> Option<i64> {
        let (then, asked) = (*self.clock.lock().unwrap_or_else(PoisonError::into_inner))?;
        Some(occurrence - then - i64::try_from(asked.elapsed().as_millis()).unwrap_or(0))
    }

    async fn ask<T: FromRedisValue>(
        &self,
        mut connection: MultiplexedConnection,
        command: &redis::Cmd,
    ) -> Result<T, String> {
        match tokio::time::timeout(self.deadlines.command, command.query_async::<T>(&mut connection)).await {
            Ok(answer) => answer.map_err(|error| reason(&error)),
            Err(_) => Err("no answer within the deadline".to_owned()),
        }
    }

    /// Sends a command on the live connection; any failure, the server's refusal included, makes the store unavailable.
    async fn command<T: FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, Unavailable> {
        let Some((number, connection)) = self.connection() else {
            let status = self.health.watch();
            let reason = match &*status.borrow() {
                Status::Unavailable { reason, .. } => reason.clone(),
                Status::Available => "not connected".to_owned(),
            };
            return Err(Unavailable(reason));
        };
        self.ask(connection, command).await.map_err(|reason| {
            self.drop_connection(number, &reason);
            Unavailable(reason)
        })
    }

    fn connection(&self) -> Option<(u64, MultiplexedConnection)> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.1.clone().map(|connection| (live.0, connection))
    }

    /// Drops connection `number` unless a newer one has come meanwhile.
    fn drop_connection(&self, number: u64, reason: &str) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if live.0 == number && live.1.take().is_some() {
            self.health.unavailable(reason);
            self.failed.notify_one();
        }
    }
}

#[async_trait]
impl Coordinator for Redis {
    async fn claim(&self, claim: Claim) -> Result<Answer, Unavailable> {
        let won = if let Some(key) = &claim.manual {
            let mut command = cmd("SET");
            // the name's length keeps ("a:b", "c") and ("a", "b:c") apart
            command
                .arg(format!("{}:{}:{}:{key}", self.manual_prefix, claim.name.len(), claim.name))
                .arg(&self.replica)
                .arg("NX")
                .arg("PX")
                .arg(self.manual_ttl_ms);
            self.command::<Option<String>>(&command).await?.is_some()
        } else {
            let wrong = self.ahead(claim.occurrence).is_some_and(|ahead| ahead > TOO_FAR_AHEAD_MS);
            if self.wrong_clock.swap(wrong, Ordering::SeqCst) != wrong && wrong {
                tracing::error!("{WRONG_CLOCK}");
            }
            if wrong {
                return Err(Unavailable(WRONG_CLOCK.to_owned()));
            }
            let mut command = cmd("ZADD");
            command.arg(&self.key).arg("GT").arg("CH").arg(claim.occurrence).arg(&*claim.name);
            self.command::<i64>(&command).await? == 1
        };
        Ok(if won { Answer::Won(Box::new(Once)) } else { Answer::Lost })
    }

    async fn last_known(&self, name: &str) -> Result<Option<i64>, Unavailable> {
        let mut command = cmd("ZSCORE");
        command.arg(&self.key).arg(name);
        let score = self.command::<Option<f64>>(&command).await?;
        // Milliseconds since 1970 are exact in 53 bits.
        #[allow(clippy::cast_possible_truncation)]
        Ok(score.map(|score| score as i64))
    }

    fn problem(&self) -> Option<String> {
        if self.wrong_clock.load(Ordering::SeqCst) {
            return Some(WRONG_CLOCK.to_owned());
        }
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn claim_deadline(&self) -> Duration {
        self.deadlines.command
    }

    fn status(&self) -> watch::Receiver<Status> {
        self.health.watch()
    }

    async fn trim_retired(&self, registered: &[Arc<str>]) -> Result<u64, Unavailable> {
        let (seconds, _micros): (i64, i64) = self.command(&cmd("TIME")).await?;
        let cutoff = seconds * 1_000 - RETIRED_MS;
        let mut read = cmd("ZRANGEBYSCORE");
        read.arg(&self.key).arg(1).arg(format!("({cutoff}")).arg("WITHSCORES").arg("LIMIT").arg(0).arg(TRIM_BATCH);
        let old: Vec<(String, f64)> = self.command(&read).await?;
        let kept = |name: &str| registered.iter().any(|registered| **registered == *name);
        let scores_kept: Vec<f64> = old.iter().filter(|(name, _)| kept(name)).map(|(_, score)| *score).collect();
        let mut trimmed = 0;
        for (_, score) in old.iter().filter(|(name, score)| !kept(name) && !scores_kept.contains(score)) {
            // by score: a member that is claimed meanwhile has another one and stays
            let mut remove = cmd("ZREMRANGEBYSCORE");
            remove.arg(&self.key).arg(*score).arg(*score);
            trimmed += self.command::<u64>(&remove).await?;
        }
        Ok(trimmed)
    }
}

/// One line without addresses or secrets.
fn reason(error: &redis::RedisError) -> String {
    if error.is_timeout() {
        return "no answer within the deadline".to_owned();
    }
    if error.is_connection_refusal() {
        return "the connection was refused".to_owned();
    }
    match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        (Some(code), None) => code.to_owned(),
        _ => error.to_string(),
    }
}
