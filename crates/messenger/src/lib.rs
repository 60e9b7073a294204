//! Publish/subscribe between the replicas of one deployment: in memory, over Redis or over NATS.
//! Bytes and names only; what they mean is for others to know.
//!
//! ```
//! use waymark_messenger::{Event, Messenger, Settings, Store};
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let messenger = Messenger::open(Settings::new(Store::local()))?;
//! let mut news = messenger.subscribe("news")?;
//! news.ready().await;
//!
//! messenger.publish("news", "hello");
//! assert_eq!(news.next().await, Some(Event::Message("hello".into())));
//!
//! messenger.stop().await;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it promises
//! - [`Messenger::publish`] never waits and never fails. While the store is away messages are
//!   dropped and counted, not kept.
//! - A replica hears its own messages exactly once, like everyone's, and those of one replica on
//!   one channel in their order. Namespaces never hear each other.
//! - A subscription that is read too slowly loses its oldest messages and is told how many, once
//!   per gap ([`Event::Lagged`]). It holds up neither publishers nor other subscriptions.
//! - A store that is absent at the start, dies, restarts, or keeps connections open and answers
//!   nothing is noticed and dialled again. When the connection is back, all subscriptions have been
//!   acknowledged and a publish has succeeded, every subscription hears [`Event::Recovered`]:
//!   messages may have been missed.
//! - [`Status`] and the log tell episodes, not reconnects: one warn line ([`UNAVAILABLE`]) and, once
//!   a connection has held for a while, one info line ([`RECOVERED`]).
//! - [`Messenger::topology`] lists the live replicas, and replicas that don't belong together.
//!
//! # What it doesn't
//! Messages are not stored, repeated or acknowledged by their receivers: who depends on them has to
//! refresh its state on [`Event::Lagged`] and [`Event::Recovered`].
//!
//! # Stores
//! On Redis (≥ 6.2, or Valkey) a channel is `<namespace>:<channel>`; a user with an access-control
//! list needs `&<namespace>:* +publish +subscribe +unsubscribe +hello`. On NATS it is
//! `<namespace>.<channel>`; a user with permissions needs to publish and to subscribe on
//! `<namespace>.>`. All servers of a NATS cluster should be given: those that the cluster tells of
//! are not remembered over a reconnect.

mod backoff;
mod bus;
mod counters;
mod health;
mod link;
mod local;
mod messenger;
mod name;
mod nats;
mod publisher;
mod queue;
mod redis;
mod session;
mod settings;
mod subscription;
mod topology;

pub use counters::Counts;
pub use health::{RECOVERED, Reason, Status, UNAVAILABLE};
pub use local::LocalBus;
pub use messenger::Messenger;
pub use publisher::QUEUE_FULL;
pub use settings::{Identity, InvalidSetting, Limits, NatsStore, RedisStore, Secret, Settings, Store, Timing};
pub use subscription::{Event, Subscription};
pub use topology::{FOREIGN, ForeignReplica, Problem, Replica, Topology, ZONE};
