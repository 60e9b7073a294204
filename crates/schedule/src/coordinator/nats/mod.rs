//! Leases in a JetStream key-value bucket: a run is a key that is created once, rewritten with the revision its holder
//! knows, and taken over from a holder that stopped renewing. Judged by write answers and the bucket's own timestamps.

mod connection;
mod history;
mod last;
mod lease;
mod marker;
mod orphans;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::jetstream::{kv::UpdateErrorKind, stream::LastRawMessageErrorKind};
use async_trait::async_trait;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::connection::Live;
use self::last::Last;
use self::lease::Lease;
use self::marker::{Marker, last_subject, run_subject};
use super::{Answer, Claim, Coordinator, Health, Orphan, Status, Unavailable};
use crate::error::InvalidSetting;
use crate::history::RunRecord;
use crate::settings::NatsSettings;

/// Orphans offered and not yet looked at.
const MOST_ORPHANS: usize = 256;
/// Keys of runs remembered from the watch.
const MOST_SEEN: usize = 20_000;
/// Unconfirmed claims remembered.
const MOST_UNCONFIRMED: usize = 10_000;

pub(crate) struct Nats {
    settings: NatsSettings,
    host: String,
    replica: String,
    servers: Vec<async_nats::ServerAddr>,
    health: Health,
    live: Mutex<(u64, Option<Arc<Live>>)>,
    failed: Notify,
    /// Claims of ours that are being made, run or recorded.
    active: Mutex<HashSet<String>>,
    /// Claims of ours that had no answer: if one was written after all, it must not be taken for a run.
    unconfirmed: Mutex<VecDeque<String>>,
    /// Runs that the watch has shown: asking for them again is spared.
    seen: Mutex<Seen>,
    /// What is known of, and still to be written under, `last.<name>`.
    last: Mutex<HashMap<Arc<str>, Last>>,
    orphans: mpsc::Sender<Orphan>,
    offered: tokio::sync::Mutex<mpsc::Receiver<Orphan>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// A value of the bucket.
struct Stored {
    revision: u64,
    value: bytes::Bytes,
}

/// The newest keys of runs, a bounded number of them.
#[derive(Default)]
struct Seen {
    keys: HashSet<Arc<str>>,
    order: VecDeque<Arc<str>>,
}

impl Seen {
    fn note(&mut self, key: &str) {
        if !self.keys.contains(key) {
            let key: Arc<str> = key.into();
            self.keys.insert(key.clone());
            self.order.push_back(key);
            if self.order.len() > MOST_SEEN
                && let Some(oldest) = self.order.pop_front()
            {
                self.keys.remove(&oldest);
            }
        }
    }
}

/// Why a write by revision did not happen.
enum Refusal {
    /// Somebody else wrote.
    Conflict,
    Unavailable(String),
}

impl Nats {
    pub(crate) fn open(
        settings: &NatsSettings,
        host: &str,
        replica: &str,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> Result<Arc<Self>, InvalidSetting> {
        let servers = connection::check(settings)?;
        let (orphans, offered) = mpsc::channel(MOST_ORPHANS);
        let nats = Arc::new(Self {
            settings: settings.clone(),
            host: host.to_owned(),
            replica: replica.to_owned(),
            servers,
            health: Health::new("nats"),
            live: Mutex::default(),
            failed: Notify::new(),
            active: Mutex::default(),
            unconfirmed: Mutex::default(),
            seen: Mutex::default(),
            last: Mutex::default(),
            orphans,
            offered: tokio::sync::Mutex::new(offered),
            tasks: tasks.clone(),
            stop: stop.clone(),
        });
        tasks.spawn(last::keep_written(nats.clone()));
        let (supervisor, stop) = (nats.clone(), stop.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = connection::supervise(supervisor.clone()) => {}
                () = connection::readiness(&supervisor) => {}
            }
        });
        Ok(nats)
    }

    fn live(&self) -> Result<Arc<Live>, Unavailable> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.1.clone().ok_or_else(|| {
            let status = self.health.watch();
            let reason = match &*status.borrow() {
                Status::Unavailable { reason, .. } => reason.clone(),
                Status::Available => "not connected".to_owned(),
            };
            Unavailable(reason)
        })
    }

    /// Drops connection `number` unless a newer one has come meanwhile.
    fn drop_connection(&self, number: u64, reason: &str) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if live.0 == number && live.1.take().is_some() {
            self.health.unavailable(reason);
            self.failed.notify_one();
        }
    }

    /// Runs one request within `deadline`; what fails drops the connection.
    async fn within<T, E: std::fmt::Display>(
        &self,
        live: &Live,
        deadline: Duration,
        request: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Unavailable> {
        let reason = match tokio::time::timeout(deadline, request).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer within the deadline".to_owned(),
        };
        self.drop_connection(live.number, &reason);
        Err(Unavailable(reason))
    }

    /// Writes `key` if its revision is still `revision` (0: if there is no such key).
    async fn write(&self, key: &str, value: bytes::Bytes, revision: u64, deadline: Duration) -> Result<u64, Refusal> {
        let live = self.live().map_err(|error| Refusal::Unavailable(error.0))?;
        let write = async {
            match live.kv.update(key, value, revision).await {
                Ok(revision) => Ok(Some(revision)),
                Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(None),
                Err(error) => Err(error),
            }
        };
        match self.within(&live, deadline, write).await {
            Ok(Some(revision)) => Ok(revision),
            Ok(None) => Err(Refusal::Conflict),
            Err(error) => Err(Refusal::Unavailable(error.0)),
        }
    }

    /// The newest value of `key`, unless it was deleted. Asked of the stream's leader: a follower may lag behind a write
    /// of ours, and a finished run would look as if it had been taken over.
    async fn read(&self, key: &str) -> Result<Option<Stored>, Unavailable> {
        let live = self.live()?;
        let subject = format!("{}{key}", live.kv.prefix);
        let read = async {
            match live.kv.stream.get_last_raw_message_by_subject(&subject).await {
                Ok(message) => Ok(Some(Stored { revision: message.sequence, value: message.payload })),
                Err(error) if matches!(error.kind(), LastRawMessageErrorKind::NoMessageFound) => Ok(None),
                Err(error) => Err(error),
            }
        };
        let stored = self.within(&live, self.settings.deadlines.command, read).await?;
        // What is deleted leaves an empty message; nothing of ours is empty.
        Ok(stored.filter(|stored| !stored.value.is_empty()))
    }

    fn remember(&self, claim: &str) {
        self.active.lock().unwrap_or_else(PoisonError::into_inner).insert(claim.to_owned());
    }

    fn forget(&self, claim: &str) {
        self.active.lock().unwrap_or_else(PoisonError::into_inner).remove(claim);
    }

    fn is_active(&self, claim: &str) -> bool {
        self.active.lock().unwrap_or_else(PoisonError::into_inner).contains(claim)
    }

    /// Writes an open marker and, if that went well, keeps it renewed.
    async fn hold(
        self: &Arc<Self>,
        key: String,
        marker: Marker,
        revision: u64,
        makes_up: bool,
    ) -> Result<Answer, Unavailable> {
        let asked = Instant::now();
        // before it is sent: whoever watches the bucket may see it before we have the answer
        self.remember(&marker.claim);
        match self.write(&key, marker.to_bytes(), revision, self.settings.deadlines.command).await {
            Ok(revision) => Ok(Answer::Won(Box::new(Lease::start(self.clone(), key, marker, revision, asked)))),
            Err(refusal) => {
                self.forget(&marker.claim);
                match refusal {
                    Refusal::Conflict => Ok(Answer::Lost),
                    Refusal::Unavailable(reason) => {
                        // of a schedule that makes up for what it missed it is an orphan after the lease
                        if !makes_up {
                            self.doubt(marker);
                        }
                        Err(Unavailable(reason))
                    }
                }
            }
        }
    }

    /// A claim without an answer may have been written.
    fn doubt(&self, marker: Marker) {
        // a takeover in doubt is an orphan again after the lease
        if marker.attempt == 1 {
            let mut unconfirmed = self.unconfirmed.lock().unwrap_or_else(PoisonError::into_inner);
            unconfirmed.push_back(marker.claim);
            while unconfirmed.len() > MOST_UNCONFIRMED {
                unconfirmed.pop_front();
            }
        }
    }

    fn is_unconfirmed(&self, claim: &str) -> bool {
        let unconfirmed = self.unconfirmed.lock().unwrap_or_else(PoisonError::into_inner);
        unconfirmed.iter().any(|known| known == claim)
    }
}

/// What the runner asks; a shared one, for leases outlive the question.
pub(crate) struct Leases(pub(crate) Arc<Nats>);

#[async_trait]
impl Coordinator for Leases {
    async fn claim(&self, claim: Claim) -> Result<Answer, Unavailable> {
        let key = run_subject(&claim);
        if self.0.seen.lock().unwrap_or_else(PoisonError::into_inner).keys.contains(key.as_str()) {
            // there is a marker: the answer of the store is known
            self.0.live()?;
            return Ok(Answer::Lost);
        }
        let marker = Marker::new(&claim, 1, &self.0.host, &self.0.replica);
        self.0.hold(key, marker, 0, claim.makes_up).await
    }

    fn claim_deadline(&self) -> Duration {
        self.0.settings.deadlines.command
    }

    async fn unkeyed(&self, claim: Claim) -> Result<Answer, Unavailable> {
        self.claim(claim).await
    }

    fn status(&self) -> watch::Receiver<Status> {
        self.0.health.watch()
    }

    fn catches_up(&self) -> bool {
        true
    }

    async fn last_completed(&self, name: &str) -> Result<Option<i64>, Unavailable> {
        let entry = self.0.read(&last_subject(name)).await?;
        Ok(entry.and_then(|entry| last::parse(&entry.value)))
    }

    async fn settled(&self, claim: &Claim) {
        let key = run_subject(claim);
        let mut pause = Duration::from_millis(50);
        // a dead holder's run is taken over within two leases; after that its order no longer matters
        let give_up = Instant::now() + self.0.settings.lease * 2;
        while Instant::now() < give_up {
            match self.0.read(&key).await {
                Ok(Some(entry)) if Marker::parse(&entry.value).is_some_and(|marker| marker.is_open()) => {}
                _ => return,
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    async fn next_orphan(&self) -> Orphan {
        match self.0.offered.lock().await.recv().await {
            Some(orphan) => orphan,
            // can't be: the sender lives as long as this
            None => std::future::pending().await,
        }
    }

    async fn take_over(&self, orphan: Orphan) -> Result<Answer, Unavailable> {
        let marker = Marker::new(&orphan.claim, orphan.attempt, &self.0.host, &self.0.replica);
        self.0.hold(orphan.key, marker, orphan.revision, orphan.claim.makes_up).await
    }

    async fn history(&self, name: &str, most: usize) -> Result<Option<Vec<RunRecord>>, Unavailable> {
        history::read(&self.0, name, most).await.map(Some)
    }
}
