//! The live list of replicas. Each announces itself on a reserved channel, asks the others to do so
//! when it comes, and says so when it leaves. Every replica keeps a list of its own, by its own
//! monotonic clock, so clocks that differ do no harm.

mod announcement;
mod problems;
mod roster;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

pub use problems::{FOREIGN, ForeignReplica, Problem, ZONE};

use announcement::{Announcement, Kind};
use problems::Episodes;
use roster::Roster;

use crate::{
    counters::Counters,
    publisher::Publisher,
    settings::{Identity, Limits},
    subscription::{Event, Subscription},
};

/// Bytes of an id, a version, a host, a zone.
pub(crate) const LONGEST_TEXT: usize = 256;

/// Answers to the questions of others are at least this far apart, so that many replicas that
/// start at once don't make a storm.
const PAUSE: Duration = Duration::from_millis(100);

/// The replicas of a namespace, as seen by one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// The live replicas, this one included, by their start and id.
    pub replicas: Vec<Replica>,
    /// What is wrong with them.
    pub problems: Vec<Problem>,
}

/// A live replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    /// Unique for a process.
    pub id: String,
    /// When the process started, by its own clock.
    pub started: DateTime<Utc>,
    /// Version of the program.
    pub version: String,
    /// Name of the machine.
    pub host: String,
    /// Time zone that its schedules follow.
    pub zone: String,
    /// Whether it is the one that made this list.
    pub own: bool,
    /// Whether it belongs to another deployment, which has another key.
    pub foreign: bool,
    /// How long it has been silent.
    pub silent_for: Duration,
}

/// Announces this replica and listens to the others.
pub(crate) struct Announcer {
    pub(crate) publisher: Publisher,
    /// It has said goodbye: no sign of life follows.
    left: AtomicBool,
    own: Announcement,
    roster: Mutex<Roster>,
    seen: watch::Sender<Topology>,
    heartbeat: Duration,
    counters: Arc<Counters>,
}

impl Announcer {
    pub(crate) fn new(
        publisher: Publisher,
        identity: &Identity,
        namespace: &str,
        heartbeat: Duration,
        limits: &Limits,
        counters: Arc<Counters>,
    ) -> Self {
        let own = Announcement::new(identity, namespace);
        let roster = Roster::new(own.clone(), heartbeat * 3, limits.replicas);
        let seen = watch::Sender::new(roster.topology(Instant::now()));
        Self { publisher, left: AtomicBool::new(false), own, roster: Mutex::new(roster), seen, heartbeat, counters }
    }

    pub(crate) fn topology(&self) -> Topology {
        let mut roster = self.roster.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        roster.expire(now);
        roster.topology(now)
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Topology> {
        self.seen.subscribe()
    }

    fn publish(&self, kind: Kind) {
        if self.left.load(Ordering::SeqCst) {
            return;
        }
        self.publisher.publish(crate::name::TOPOLOGY, self.own.encode(kind));
    }

    /// The others need not wait for this one to expire.
    pub(crate) fn leave(&self) {
        self.publish(Kind::Leaving);
        self.left.store(true, Ordering::SeqCst);
    }

    pub(crate) async fn run(
        self: Arc<Self>,
        mut subscription: Subscription,
        mut links: watch::Receiver<u64>,
        stop: CancellationToken,
    ) {
        let mut episodes = Episodes::default();
        let mut announce_at = Instant::now();
        let mut announced: Option<Instant> = None;
        links.mark_changed();
        loop {
            let expiry = self.roster.lock().unwrap_or_else(PoisonError::into_inner).next_expiry();
            let wake = expiry.map_or(announce_at, |expiry| expiry.min(announce_at));
            tokio::select! {
                () = stop.cancelled() => return,
                linked = links.changed() => {
                    if linked.is_err() {
                        return;
                    }
                    // A new connection: who is there? It says who asks, too.
                    if *links.borrow_and_update() > 0 {
                        self.publish(Kind::Question);
                        announced = Some(Instant::now());
                        announce_at = Instant::now() + self.heartbeat;
                    }
                }
                event = subscription.next() => match event {
                    None => return,
                    Some(Event::Message(payload)) => {
                        if self.hear(&payload) {
                            let now = Instant::now();
                            announce_at = announce_at.min(announced.map_or(now, |last| now.max(last + PAUSE)));
                        }
                    }
                    // The heartbeats say it all again.
                    Some(Event::Lagged(_) | Event::Recovered) => {}
                },
                () = sleep_until(wake) => {}
            }
            if announce_at <= Instant::now() {
                self.publish(Kind::Heartbeat);
                announced = Some(Instant::now());
                announce_at = Instant::now() + self.heartbeat;
            }
            self.look(&mut episodes);
        }
    }

    /// Takes an announcement in. Returns whether it asks for an answer.
    fn hear(&self, payload: &Bytes) -> bool {
        let Some(announcement) = Announcement::decode(payload) else {
            self.counters.malformed_announcements.increase();
            return false;
        };
        let answer = announcement.kind == Kind::Question && announcement.id != self.own.id;
        let mut roster = self.roster.lock().unwrap_or_else(PoisonError::into_inner);
        if !roster.hear(announcement, Instant::now()) {
            self.counters.replicas_beyond_limit.increase();
        }
        answer
    }

    /// Tells what has changed.
    fn look(&self, episodes: &mut Episodes) {
        let topology = self.topology();
        episodes.report(&topology.problems);
        self.seen.send_if_modified(|seen| {
            let changed = !same_members(seen, &topology);
            if changed {
                *seen = topology;
            }
            changed
        });
    }
}

/// Equal but for how long they have been silent.
fn same_members(one: &Topology, other: &Topology) -> bool {
    one.problems == other.problems
        && one.replicas.len() == other.replicas.len()
        && one.replicas.iter().zip(&other.replicas).all(|(one, other)| {
            let silent_for = one.silent_for;
            *one == Replica { silent_for, ..other.clone() }
        })
}
