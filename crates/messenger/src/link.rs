//! What a store has to offer: connections that are confirmed, used and thrown away. Redialling,
//! deadlines, probing and status are the same for all stores and live in `session`.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{bus::Hub, counters::Counters, health::Reason, queue::Outgoing};

/// Makes connections to one store.
#[async_trait]
pub(crate) trait Dialer: Send + Sync + 'static {
    /// The name of the store, for the log.
    fn store(&self) -> &'static str;

    /// One attempt. May be cancelled at any moment.
    async fn dial(&self, delivery: Delivery) -> Result<Box<dyn Link>, Reason>;
}

/// One connection (which may be two sockets). It never reconnects by itself. Dropping it closes it
/// and ends its tasks.
#[async_trait]
pub(crate) trait Link: Send + Sync {
    /// Asks for channels, and returns when the store has acknowledged all of them.
    async fn subscribe(&self, channels: &[String]) -> Result<(), Reason>;

    async fn unsubscribe(&self, channels: &[String]) -> Result<(), Reason>;

    /// Hands messages to the store in their order.
    async fn publish(&self, batch: &[Outgoing]) -> Result<(), Reason>;

    /// Publishes where nobody listens, and returns when both directions have answered.
    async fn probe(&self) -> Result<(), Reason>;

    /// Waits for the end of the connection.
    async fn ended(&self) -> Reason;
}

/// Where incoming messages go. Never waits.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) hub: Arc<Hub>,
    pub(crate) counters: Arc<Counters>,
}

impl Delivery {
    pub(crate) fn deliver(&self, channel: &str, payload: &Bytes) {
        self.hub.deliver(channel, payload);
    }
}
