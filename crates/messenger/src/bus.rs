//! The hub of one messenger: which channels are wanted, who reads them, and the way of an incoming
//! message to all of its readers. Nothing here waits for a reader.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use tokio::sync::watch;

use crate::{
    counters::Counters,
    settings::Limits,
    subscription::{Inbox, Subscription},
};

#[derive(Debug)]
pub(crate) struct Hub {
    state: Mutex<State>,
    /// Changes whenever the set of wanted channels may have.
    wanted: watch::Sender<()>,
    /// Changes whenever more is acknowledged, and when the hub closes.
    acknowledged: watch::Sender<()>,
    limits: Limits,
    counters: Arc<Counters>,
    /// Without a store between there is nobody to acknowledge anything.
    immediate: bool,
}

#[derive(Debug, Default)]
struct State {
    channels: HashMap<String, Channel>,
    last_id: u64,
    closed: bool,
}

#[derive(Debug)]
struct Channel {
    readers: Vec<(u64, Arc<Inbox>)>,
    acknowledged: bool,
}

impl Hub {
    pub(crate) fn new(limits: Limits, counters: Arc<Counters>, immediate: bool) -> Self {
        Self {
            state: Mutex::default(),
            wanted: watch::Sender::new(()),
            acknowledged: watch::Sender::new(()),
            limits,
            counters,
            immediate,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribe(self: &Arc<Self>, channel: &str) -> Subscription {
        let inbox = Arc::new(Inbox::new(self.limits.subscription_messages, self.limits.subscription_bytes));
        let mut state = self.state();
        if state.closed {
            inbox.close();
        }
        state.last_id += 1;
        let id = state.last_id;
        let entry = state
            .channels
            .entry(channel.to_owned())
            .or_insert_with(|| Channel { readers: Vec::new(), acknowledged: self.immediate });
        entry.readers.push((id, inbox.clone()));
        drop(state);
        self.wanted.send_replace(());
        Subscription { hub: self.clone(), channel: channel.to_owned(), id, inbox }
    }

    pub(crate) fn remove(&self, channel: &str, id: u64) {
        let mut state = self.state();
        if let Some(entry) = state.channels.get_mut(channel) {
            entry.readers.retain(|(reader, _)| *reader != id);
            if entry.readers.is_empty() {
                state.channels.remove(channel);
            }
        }
        drop(state);
        self.wanted.send_replace(());
    }

    /// Hands a message to all readers of its channel.
    pub(crate) fn deliver(&self, channel: &str, payload: &Bytes) {
        let state = self.state();
        let Some(entry) = state.channels.get(channel) else { return };
        for (_, inbox) in &entry.readers {
            self.counters.received.increase();
            let dropped = inbox.message(payload.clone());
            if dropped > 0 {
                self.counters.lagged.add(dropped);
            }
        }
    }

    /// The client of a store has dropped a message, it can't say of which channel.
    pub(crate) fn lost(&self) {
        self.for_each(|inbox| {
            self.counters.lagged.increase();
            inbox.lost();
        });
    }

    /// Tells every reader that messages may have been missed.
    pub(crate) fn recovered(&self) {
        self.for_each(|inbox| inbox.recovered());
    }

    fn for_each(&self, mut each: impl FnMut(&Inbox)) {
        for (_, inbox) in self.state().channels.values().flat_map(|channel| &channel.readers) {
            each(inbox);
        }
    }

    /// The channels that somebody reads.
    pub(crate) fn wanted(&self) -> Vec<String> {
        self.state().channels.keys().cloned().collect()
    }

    pub(crate) fn watch_wanted(&self) -> watch::Receiver<()> {
        self.wanted.subscribe()
    }

    /// The store sends these channels now.
    pub(crate) fn acknowledge<'a>(&self, channels: impl IntoIterator<Item = &'a String>) {
        let mut state = self.state();
        for channel in channels {
            if let Some(entry) = state.channels.get_mut(channel) {
                entry.acknowledged = true;
            }
        }
        drop(state);
        self.acknowledged.send_replace(());
    }

    /// The connection is gone, and with it every acknowledgement.
    pub(crate) fn disconnected(&self) {
        for channel in self.state().channels.values_mut() {
            channel.acknowledged = false;
        }
    }

    pub(crate) async fn acknowledged(&self, channel: &str) {
        let mut changes = self.acknowledged.subscribe();
        loop {
            {
                let state = self.state();
                if state.closed || state.channels.get(channel).is_some_and(|entry| entry.acknowledged) {
                    return;
                }
            }
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Ends all subscriptions, those to come included.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.for_each(Inbox::close);
        self.acknowledged.send_replace(());
    }
}
