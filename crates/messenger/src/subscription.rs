//! A subscription: the bounded box between the store and a reader that may be slow.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use futures_util::Stream;

use crate::bus::Hub;

/// What a subscription hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message of the channel.
    Message(Bytes),
    /// The reader was too slow: so many messages, the oldest, have been dropped. Those that follow
    /// are the ones after the gap.
    Lagged(u64),
    /// The connection to the store was lost and is back: messages may have been missed. Recoveries
    /// that a slow reader missed are told as one.
    Recovered,
}

/// A stream of the messages of one channel. Dropping it ends it; with the last subscription of a
/// channel the store is told to send no more of it.
pub struct Subscription {
    pub(crate) hub: Arc<Hub>,
    pub(crate) channel: String,
    pub(crate) id: u64,
    pub(crate) inbox: Arc<Inbox>,
}

impl Subscription {
    /// The next event; `None` when the messenger has stopped and everything has been read.
    /// Cancelling loses nothing.
    pub async fn next(&mut self) -> Option<Event> {
        std::future::poll_fn(|context| self.inbox.poll(context)).await
    }

    /// Waits until the store has acknowledged this subscription on the present connection, or the
    /// messenger has stopped. While the store is away this waits: give it a deadline.
    pub async fn ready(&self) {
        self.hub.acknowledged(&self.channel).await;
    }

    /// The channel, without the namespace.
    #[must_use]
    pub fn channel(&self) -> &str {
        &self.channel
    }
}

impl Stream for Subscription {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.inbox.poll(context)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.remove(&self.channel, self.id);
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Subscription").field("channel", &self.channel).finish_non_exhaustive()
    }
}

/// What waits for one reader. When it is full the oldest goes, and is counted: the newest is worth
/// more to somebody who has to refresh anyway.
#[derive(Debug)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    longest: usize,
    largest: usize,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Event>,
    bytes: usize,
    lagged: u64,
    /// A recovery that was among what was dropped.
    recovered: bool,
    closed: bool,
    waker: Option<Waker>,
}

impl Inbox {
    pub(crate) fn new(messages: usize, bytes: usize) -> Self {
        Self { state: Mutex::default(), longest: messages, largest: bytes }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message and returns how many were dropped for it.
    pub(crate) fn message(&self, payload: Bytes) -> usize {
        let mut state = self.state();
        state.bytes += payload.len();
        state.waiting.push_back(Event::Message(payload));
        let dropped = self.shorten(&mut state);
        wake(state);
        dropped
    }

    pub(crate) fn recovered(&self) {
        let mut state = self.state();
        if state.waiting.back() != Some(&Event::Recovered) {
            state.waiting.push_back(Event::Recovered);
            self.shorten(&mut state);
        }
        wake(state);
    }

    /// The store has dropped a message before it came here.
    pub(crate) fn lost(&self) {
        let mut state = self.state();
        state.lagged += 1;
        wake(state);
    }

    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        wake(state);
    }

    fn shorten(&self, state: &mut State) -> usize {
        let mut dropped = 0;
        while state.waiting.len() > self.longest || (state.bytes > self.largest && state.waiting.len() > 1) {
            match state.waiting.pop_front() {
                Some(Event::Message(payload)) => {
                    state.bytes -= payload.len();
                    dropped += 1;
                }
                Some(Event::Recovered) => state.recovered = true,
                Some(Event::Lagged(_)) | None => {}
            }
        }
        state.lagged += dropped as u64;
        dropped
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut state = self.state();
        if state.lagged > 0 {
            return Poll::Ready(Some(Event::Lagged(std::mem::take(&mut state.lagged))));
        }
        if std::mem::take(&mut state.recovered) {
            return Poll::Ready(Some(Event::Recovered));
        }
        if let Some(event) = state.waiting.pop_front() {
            if let Event::Message(payload) = &event {
                state.bytes -= payload.len();
            }
            return Poll::Ready(Some(event));
        }
        if state.closed {
            return Poll::Ready(None);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

fn wake(mut state: MutexGuard<'_, State>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn next(inbox: &Inbox) -> Option<Event> {
        std::future::poll_fn(|context| inbox.poll(context)).await
    }

    fn message(text: &'static str) -> Event {
        Event::Message(Bytes::from_static(text.as_bytes()))
    }

    #[tokio::test]
    async fn a_gap_is_told_once_and_before_what_follows_it() {
        let inbox = Inbox::new(2, 1_000);
        assert_eq!(inbox.message("1".into()), 0);
        inbox.recovered();
        assert_eq!(inbox.message("2".into()), 1);
        assert_eq!(inbox.message("3".into()), 0);
        assert_eq!(inbox.message("4".into()), 1);
        assert_eq!(next(&inbox).await, Some(Event::Lagged(2)));
        assert_eq!(next(&inbox).await, Some(Event::Recovered));
        assert_eq!(next(&inbox).await, Some(message("3")));
        assert_eq!(next(&inbox).await, Some(message("4")));
        inbox.close();
        assert_eq!(next(&inbox).await, None);
    }

    #[tokio::test]
    async fn bytes_are_bounded_too_but_one_message_always_fits() {
        let inbox = Inbox::new(100, 10);
        assert_eq!(inbox.message("123456".into()), 0);
        assert_eq!(inbox.message("1234567890-1234567890".into()), 1);
        assert_eq!(next(&inbox).await, Some(Event::Lagged(1)));
        assert_eq!(next(&inbox).await, Some(message("1234567890-1234567890")));
        assert_eq!(inbox.message("1234567890".into()), 0);
    }
}
