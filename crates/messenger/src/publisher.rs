//! The way out: to the local bus at once, or into the queue of the session. Never waits, never fails.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;

use crate::{
    counters::Counters,
    local::LocalBus,
    queue::{Outgoing, PublishQueue, Refused},
};

/// The text of the warn line when messages are published faster than the store takes them.
pub const QUEUE_FULL: &str = "The messenger's publish queue is full, messages are dropped.";

#[derive(Clone)]
pub(crate) struct Publisher {
    pub(crate) way: Way,
    pub(crate) largest: usize,
    pub(crate) counters: Arc<Counters>,
    /// Whether a message that can't be published has been logged.
    pub(crate) refused: Arc<AtomicBool>,
}

#[derive(Clone)]
pub(crate) enum Way {
    Local { bus: LocalBus, namespace: String },
    Queue(Arc<PublishQueue>),
}

impl Publisher {
    pub(crate) fn publish(&self, channel: &str, payload: Bytes) {
        if payload.len() > self.largest {
            return self.refuse(channel, "too large");
        }
        match &self.way {
            Way::Local { bus, namespace } => {
                bus.publish(namespace, channel, &payload);
                self.counters.published.increase();
            }
            Way::Queue(queue) => match queue.push(Outgoing { channel: channel.to_owned(), payload }) {
                Ok(()) => {}
                // The warn line of the episode has been written, the info line at its end counts.
                Err(Refused::Closed) => self.counters.dropped_unavailable.increase(),
                Err(Refused::Full { first }) => {
                    self.counters.dropped_full.increase();
                    if first {
                        tracing::warn!("{QUEUE_FULL}");
                    }
                }
            },
        }
    }

    /// Counts a message that no store would take: a fault of the program, logged once.
    pub(crate) fn refuse(&self, channel: &str, why: &'static str) {
        self.counters.dropped_refused.increase();
        if !self.refused.swap(true, Ordering::Relaxed) {
            tracing::error!(channel, why, "A message can't be published; further ones are only counted.");
        }
    }
}
