//! Messages on their way to the store: bounded by count and bytes, closed while there is no
//! connection. Many publishers, one taker.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use tokio::sync::Notify;

/// A message on its way.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) channel: String,
    pub(crate) payload: Bytes,
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Closed,
    /// `first`: the first since the queue was empty.
    Full {
        first: bool,
    },
}

#[derive(Debug)]
pub(crate) struct PublishQueue {
    state: Mutex<State>,
    longest: usize,
    largest: usize,
    filled: Notify,
    idle: Notify,
}

#[derive(Debug, Default)]
struct State {
    open: bool,
    waiting: VecDeque<Outgoing>,
    bytes: usize,
    taken: usize,
    overflowed: bool,
}

/// At most so much is handed to the store in one go.
const BATCH: usize = 64;
const BATCH_BYTES: usize = 1 << 20;

impl PublishQueue {
    pub(crate) fn new(messages: usize, bytes: usize) -> Self {
        Self { state: Mutex::default(), longest: messages, largest: bytes, filled: Notify::new(), idle: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn open(&self) {
        self.state().open = true;
    }

    /// Takes nothing any more and forgets what waits; returns how many messages that were, the
    /// batch in hand included.
    pub(crate) fn close(&self) -> usize {
        let state = std::mem::take(&mut *self.state());
        self.idle.notify_waiters();
        state.waiting.len() + state.taken
    }

    pub(crate) fn push(&self, message: Outgoing) -> Result<(), Refused> {
        let mut state = self.state();
        if !state.open {
            return Err(Refused::Closed);
        }
        let bytes = state.bytes.saturating_add(message.payload.len());
        if state.waiting.len() >= self.longest || (bytes > self.largest && !state.waiting.is_empty()) {
            return Err(Refused::Full { first: !std::mem::replace(&mut state.overflowed, true) });
        }
        state.bytes = bytes;
        state.waiting.push_back(message);
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// The next messages in their order, at least one; [`done`](Self::done) follows.
    pub(crate) async fn take(&self) -> Vec<Outgoing> {
        loop {
            if let Some(batch) = self.try_take() {
                return batch;
            }
            self.filled.notified().await;
        }
    }

    fn try_take(&self) -> Option<Vec<Outgoing>> {
        let mut state = self.state();
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < BATCH && bytes < BATCH_BYTES {
            let Some(message) = state.waiting.pop_front() else { break };
            bytes += message.payload.len();
            batch.push(message);
        }
        state.bytes = state.bytes.saturating_sub(bytes);
        state.taken = batch.len();
        if state.waiting.is_empty() {
            state.overflowed = false;
        }
        (!batch.is_empty()).then_some(batch)
    }

    /// The batch that was taken is with the store.
    pub(crate) fn done(&self) {
        self.state().taken = 0;
        self.idle.notify_waiters();
    }

    /// Waits until nothing waits and nothing is in hand.
    pub(crate) async fn idle(&self) {
        loop {
            let notified = self.idle.notified();
            {
                let state = self.state();
                if state.waiting.is_empty() && state.taken == 0 {
                    return;
                }
            }
            notified.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: usize) -> Outgoing {
        Outgoing { channel: "c".to_owned(), payload: Bytes::from(vec![0; bytes]) }
    }

    #[tokio::test]
    async fn a_queue_is_bounded_by_messages_and_by_bytes_and_says_so_once_an_episode() {
        let queue = PublishQueue::new(3, 100);
        assert_eq!(queue.push(message(1)), Err(Refused::Closed));
        queue.open();
        queue.push(message(60)).unwrap();
        assert_eq!(queue.push(message(60)), Err(Refused::Full { first: true }));
        queue.push(message(1)).unwrap();
        queue.push(message(1)).unwrap();
        assert_eq!(queue.push(message(1)), Err(Refused::Full { first: false }));
        assert_eq!(queue.take().await.len(), 3);
        queue.done();
        queue.idle().await;
        queue.push(message(500)).unwrap();
        assert_eq!(queue.push(message(1)), Err(Refused::Full { first: true }));
        assert_eq!(queue.close(), 1);
        assert_eq!(queue.push(message(1)), Err(Refused::Closed));
        queue.idle().await;
    }

    #[tokio::test]
    async fn what_is_in_hand_when_the_store_goes_counts_as_dropped() {
        let queue = PublishQueue::new(1_000, 1_000);
        queue.open();
        for _ in 0..100 {
            queue.push(message(1)).unwrap();
        }
        assert_eq!(queue.take().await.len(), BATCH);
        assert_eq!(queue.close(), 100);
    }
}
