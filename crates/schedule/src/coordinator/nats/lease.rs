//! A held lease: renewed every third of its life, ended with the revision we hold, lost when it could not be renewed in
//! time or somebody else wrote.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::marker::Marker;
use super::{Nats, Refusal, Unavailable};
use crate::coordinator::Hold;
use crate::history::{Origin, Outcome};

pub(super) struct Lease {
    held: Arc<Held>,
}

struct Held {
    nats: Arc<Nats>,
    key: String,
    marker: Marker,
    state: Mutex<Renewal>,
    lost: CancellationToken,
    ended: CancellationToken,
}

/// What renewal and completion both change.
struct Renewal {
    revision: u64,
    /// The lease is ours until a lease's life after this.
    renewed: Instant,
}

impl Lease {
    /// `asked` is when the claim was sent: the lease can't be younger than that.
    pub(super) fn start(nats: Arc<Nats>, key: String, marker: Marker, revision: u64, asked: Instant) -> Self {
        let held = Arc::new(Held {
            nats: nats.clone(),
            key,
            marker,
            state: Mutex::new(Renewal { revision, renewed: asked }),
            lost: CancellationToken::new(),
            ended: CancellationToken::new(),
        });
        let renewed = held.clone();
        nats.tasks.spawn(async move {
            tokio::select! {
                () = renewed.ended.cancelled() => {}
                () = renewed.nats.stop.cancelled() => {}
                () = renewed.keep() => {}
            }
        });
        Self { held }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // a run that was dropped is not renewed: another replica takes it over
        self.held.ended.cancel();
    }
}

impl Held {
    fn life(&self) -> Duration {
        self.nats.settings.lease
    }

    /// Renews until the lease is lost.
    async fn keep(&self) {
        let (third, retry) = (self.life() / 3, (self.life() / 20).min(Duration::from_secs(1)));
        let mut pause = third;
        loop {
            tokio::time::sleep(pause).await;
            let mut state = self.state.lock().await;
            let left = (state.renewed + self.life()).saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.lose();
                return;
            }
            let asked = Instant::now();
            let deadline = left.min(self.nats.settings.deadlines.command);
            pause = match self.rewrite(&mut state, &self.marker, deadline).await {
                Ok(()) => {
                    state.renewed = asked;
                    third
                }
                Err(Refusal::Conflict) => {
                    self.lose();
                    return;
                }
                Err(Refusal::Unavailable(_)) => retry.min(left),
            };
        }
    }

    fn lose(&self) {
        // still remembered: this process must not take over what it may still be running
        self.lost.cancel();
    }

    /// Writes over our own marker. A conflict may be with a write of ours whose answer was lost: the claim tells.
    async fn rewrite(&self, state: &mut Renewal, marker: &Marker, deadline: Duration) -> Result<(), Refusal> {
        for _ in 0..2 {
            match self.nats.write(&self.key, marker.to_bytes(), state.revision, deadline).await {
                Ok(revision) => {
                    state.revision = revision;
                    return Ok(());
                }
                Err(Refusal::Unavailable(reason)) => return Err(Refusal::Unavailable(reason)),
                Err(Refusal::Conflict) => {
                    let entry = self.nats.read(&self.key).await.map_err(|error| Refusal::Unavailable(error.0))?;
                    let Some(entry) = entry.filter(|entry| entry.revision > state.revision) else {
                        return Err(Refusal::Conflict);
                    };
                    match Marker::parse(&entry.value) {
                        Some(there) if there.claim == marker.claim && there.is_open() => {
                            state.revision = entry.revision
                        }
                        // it is written already
                        Some(there) if there.claim == marker.claim && !marker.is_open() => return Ok(()),
                        _ => return Err(Refusal::Conflict),
                    }
                }
            }
        }
        Err(Refusal::Conflict)
    }

    /// Records the end, trying again while this process lives: as long as nobody has taken the run over, the end is the
    /// end, however old the lease is.
    async fn record(&self, ended: &Marker) -> Result<(), Unavailable> {
        let mut state = self.state.lock().await;
        loop {
            match self.rewrite(&mut state, ended, self.nats.settings.deadlines.command).await {
                Ok(()) => return Ok(()),
                Err(Refusal::Conflict) => return Err(Unavailable("the run was taken over meanwhile".to_owned())),
                Err(Refusal::Unavailable(_)) => {
                    tokio::time::sleep((self.life() / 20).min(Duration::from_millis(500))).await;
                }
            }
        }
    }

    async fn end(&self, ended: &Marker) -> Result<(), Unavailable> {
        let recorded = self.record(ended).await;
        self.nats.forget(&self.marker.claim);
        if recorded.is_ok() && ended.completed_at.is_some() && ended.origin != Origin::Manual {
            self.nats.completed(&Arc::from(ended.name.as_str()), ended.scheduled_at.timestamp_millis()).await;
        }
        recorded
    }
}

#[async_trait]
impl Hold for Lease {
    fn attempt(&self) -> u32 {
        self.held.marker.attempt
    }

    fn lost(&self) -> Option<CancellationToken> {
        Some(self.held.lost.clone())
    }

    async fn finish(self: Box<Self>, outcome: &Outcome, at: DateTime<Utc>) -> Result<(), Unavailable> {
        let held = self.held.clone();
        held.ended.cancel();
        if held.lost.is_cancelled() {
            held.nats.forget(&held.marker.claim);
            return Err(Unavailable("the run was taken over meanwhile".to_owned()));
        }
        let ended = held.marker.ended(outcome, at);
        let deadline = held.nats.settings.deadlines.command;
        let (tasks, stop) = (held.nats.tasks.clone(), held.nats.stop.clone());
        // it goes on when the caller no longer waits: an end that isn't recorded is a second run
        let mut recording = tasks.spawn(async move {
            tokio::select! {
                ended = held.end(&ended) => ended,
                () = stop.cancelled() => Err(Unavailable("the scheduler stopped".to_owned())),
            }
        });
        match tokio::time::timeout(deadline, &mut recording).await {
            Ok(Ok(recorded)) => recorded,
            Ok(Err(_)) => Err(Unavailable("the scheduler stopped".to_owned())),
            Err(_) => {
                tracing::debug!(key = self.held.key, "the end of a run is not recorded yet; it is tried again");
                Ok(())
            }
        }
    }
}
