//! Watching for runs whose holder died: every open marker is followed, and one that the bucket's own clock shows as not
//! renewed for a whole lease is offered to the runner. Claims of ours that were written although no
//! answer came in time are closed as failed, so that they don't run after the store's recovery; those of schedules that
//! make up for what they missed are left open, and taken over after the lease.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{DeliverPolicy, ReplayPolicy, push};
use chrono::Utc;
use futures_util::StreamExt;
use tokio::time::Instant;

use super::connection::{DateTime, Live, millis, server_now};
use super::marker::{Marker, RUNS, run_subject};
use super::{Nats, Unavailable};
use crate::coordinator::Orphan;
use crate::history::Outcome;

/// What is re-read when the watch begins anew, beside what was not seen.
const OVERLAP_OF_WATCHES: Duration = Duration::from_secs(60);
/// Open runs followed at most; more than that are found again by later watches.
const MOST_OPEN: usize = 100_000;

/// What outlives a connection.
#[derive(Default)]
pub(super) struct Watched {
    open: HashMap<String, Open>,
    newest: Option<DateTime>,
}

struct Open {
    revision: u64,
    /// When it was written, by the bucket's clock (ms).
    written: i64,
    marker: Marker,
    offered: Option<Instant>,
}

/// Follows the runs of the bucket as long as the connection lives; returns when the watch broke.
pub(super) async fn watch(nats: &Arc<Nats>, live: &Arc<Live>, watched: &mut Watched) {
    loop {
        if follow(nats, live, watched).await.is_err() && nats.live().map_or(true, |now| now.number != live.number) {
            // the connection is told elsewhere
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(nats.settings.deadlines.redial_max).await;
    }
}

async fn follow(nats: &Arc<Nats>, live: &Arc<Live>, watched: &mut Watched) -> Result<(), Unavailable> {
    let deadline = nats.settings.deadlines.command;
    let (mut now, stamp) = server_now(nats, live).await?;
    let mut read = Instant::now();
    // after an outage every lease looks old: its holder gets the time to renew it
    let fair = read + nats.settings.lease / 3;
    let start_time = match watched.newest {
        Some(newest) => newest - OVERLAP_OF_WATCHES.max(nats.settings.lease),
        None => stamp - nats.settings.takeover_window,
    };
    let consumer = live.kv.stream.create_consumer(push::OrderedConfig {
        deliver_subject: live.client.new_inbox(),
        description: Some("open runs".to_owned()),
        filter_subject: format!("{}{RUNS}", live.kv.prefix),
        deliver_policy: DeliverPolicy::ByStartTime { start_time },
        replay_policy: ReplayPolicy::Instant,
        ..Default::default()
    });
    let consumer = tokio::time::timeout(deadline, consumer).await.map_err(|_| broken())?.map_err(|_| broken())?;
    let mut messages = consumer.messages().await.map_err(|_| broken())?;
    let mut look =
        tokio::time::interval((nats.settings.lease / 6).clamp(Duration::from_millis(50), Duration::from_secs(5)));
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            message = messages.next() => match message {
                Some(Ok(message)) => watched.note(nats, live, &message),
                _ => return Err(broken()),
            },
            _ = look.tick() => {
                // an estimate that only decides whether the bucket is asked
                let estimate = now + i64::try_from(read.elapsed().as_millis()).unwrap_or_default();
                let fair = Instant::now() >= fair;
                if watched.has_candidate(nats, estimate, fair) {
                    (now, _) = server_now(nats, live).await?;
                    read = Instant::now();
                    watched.offer(nats, now, fair).await;
                }
            }
        }
    }
}

fn broken() -> Unavailable {
    Unavailable("the watch of open runs broke".to_owned())
}

impl Watched {
    fn note(&mut self, nats: &Nats, live: &Live, message: &Message) {
        let Ok(info) = message.info() else { return };
        self.newest = Some(self.newest.map_or(info.published, |newest| newest.max(info.published)));
        let Some(key) = message.subject.strip_prefix(live.kv.prefix.as_str()) else { return };
        nats.seen.lock().unwrap_or_else(PoisonError::into_inner).note(key);
        // a marker under a strange key is none of ours
        let ours = |marker: &Marker| marker.is_open() && run_subject(&marker.claim_of(marker.started_at)) == key;
        match Marker::parse(&message.payload).filter(ours) {
            Some(marker) if self.open.len() < MOST_OPEN || self.open.contains_key(key) => {
                let written = millis(info.published);
                let open = Open { revision: info.stream_sequence, written, marker, offered: None };
                self.open.insert(key.to_owned(), open);
            }
            Some(_) => {}
            None => {
                self.open.remove(key);
            }
        }
    }

    fn has_candidate(&self, nats: &Nats, now: i64, fair: bool) -> bool {
        let candidate =
            |open: &Open| open.is_unconfirmed(nats) || (fair && open.is_over(nats, now) && open.may_be_offered(nats));
        self.open.values().any(|open| candidate(open) && !nats.is_active(&open.marker.claim))
    }

    async fn offer(&mut self, nats: &Arc<Nats>, now: i64, fair: bool) {
        let mut closed = Vec::new();
        for (key, open) in &mut self.open {
            if nats.is_active(&open.marker.claim) {
                continue;
            }
            if open.is_unconfirmed(nats) {
                let error = "the claim was not confirmed in time, the occurrence did not run";
                if close(nats, key, open, error).await {
                    tracing::error!(schedule = open.marker.name, key, error, "scheduled run lost");
                    closed.push(key.clone());
                }
            } else if !fair || !open.is_over(nats, now) || !open.may_be_offered(nats) {
            } else if open.marker.attempt >= nats.settings.max_attempts {
                let error = format!("given up: the holder died in each of {} attempts", open.marker.attempt);
                if close(nats, key, open, &error).await {
                    tracing::error!(schedule = open.marker.name, key, error, "scheduled run given up");
                    closed.push(key.clone());
                }
            } else {
                let orphan = Orphan {
                    claim: open.marker.claim_of(Utc::now()),
                    attempt: open.marker.attempt + 1,
                    key: key.clone(),
                    revision: open.revision,
                };
                if nats.orphans.try_send(orphan).is_ok() {
                    open.offered = Some(Instant::now());
                }
            }
        }
        for key in closed {
            self.open.remove(&key);
        }
    }
}

impl Open {
    /// A claim of this process whose answer never came.
    fn is_unconfirmed(&self, nats: &Nats) -> bool {
        self.marker.replica == nats.replica && nats.is_unconfirmed(&self.marker.claim)
    }

    fn is_over(&self, nats: &Nats, now: i64) -> bool {
        now - self.written >= i64::try_from(nats.settings.lease.as_millis()).unwrap_or(i64::MAX)
    }

    fn may_be_offered(&self, nats: &Nats) -> bool {
        let again = (nats.settings.lease / 3).min(Duration::from_secs(10));
        self.offered.is_none_or(|offered| offered.elapsed() >= again)
    }
}

/// Ends an open marker that nobody holds; `false` when the store could not say.
async fn close(nats: &Arc<Nats>, key: &str, open: &Open, error: &str) -> bool {
    let ended = open.marker.ended(&Outcome::Failed(error.to_owned()), Utc::now());
    let written = nats.write(key, ended.to_bytes(), open.revision, nats.settings.deadlines.command).await;
    matches!(written, Ok(_) | Err(super::Refusal::Conflict))
}
