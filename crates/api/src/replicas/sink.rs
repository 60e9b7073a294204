//! Tells the other replicas of committed changes.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;
use waymark_core::items::events::{EventSink, ItemEvent};
use waymark_messenger::Messenger;

use super::channel;

/// Receives the engine's changes. Own schedules are woken directly, for the messenger may be away.
pub struct Sink {
    messenger: Messenger,
    schedules: Arc<Notify>,
    /// What each message says: who speaks.
    payload: String,
}

impl Sink {
    pub(super) fn new(messenger: Messenger, schedules: Arc<Notify>) -> Self {
        let payload = json!({ "replica": messenger.replica() }).to_string();
        Self { messenger, schedules, payload }
    }

    /// Tells the others that something of this channel has changed.
    pub(super) fn tell(&self, channel: &str) {
        self.messenger.publish(channel, self.payload.clone());
    }
}

impl EventSink for Sink {
    fn publish(&self, event: ItemEvent) {
        if event.touches_identity() {
            self.tell(channel::IDENTITY);
        }
        if event.touches_flows() {
            self.schedules.notify_one();
            self.tell(channel::FLOWS);
        }
    }

    fn schema_changed(&self, known: bool) {
        if known {
            self.tell(channel::SCHEMA);
        } else {
            // From nobody: news for this replica too.
            self.messenger.publish(channel::SCHEMA, "{}");
        }
    }
}
