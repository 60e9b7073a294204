//! The messenger itself: what a program opens, publishes through, subscribes to and stops.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicBool},
};

use bytes::Bytes;
use chrono::Utc;
use tokio::{sync::watch, time::timeout};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{
    bus::Hub,
    counters::{Counters, Counts},
    health::{Health, Reason, Status},
    link::Dialer,
    local::LocalBus,
    name,
    nats::NatsDialer,
    publisher::{Publisher, Way},
    queue::PublishQueue,
    redis::RedisDialer,
    session::Session,
    settings::{self, InvalidSetting, Settings, Store, Timing},
    subscription::Subscription,
    topology::{Announcer, Topology},
};

/// Publishes to and hears from all replicas of a namespace. Clones are the same messenger; when the
/// last one is dropped its tasks end.
#[derive(Clone)]
pub struct Messenger(Arc<Inner>);

struct Inner {
    hub: Arc<Hub>,
    publisher: Publisher,
    health: Arc<Health>,
    announcer: Arc<Announcer>,
    counters: Arc<Counters>,
    namespace: String,
    replica: String,
    timing: Timing,
    tasks: TaskTracker,
    end: CancellationToken,
    _end: DropGuard,
}

impl Messenger {
    /// Checks the settings and starts; the store may be away.
    ///
    /// Has to be called within a tokio runtime.
    ///
    /// # Errors
    /// Names the field that can't be used.
    pub fn open(settings: Settings) -> Result<Self, InvalidSetting> {
        settings::check(&settings)?;
        let (namespace, timing) = (settings.namespace.as_str(), settings.timing);
        let dialer: Box<dyn Dialer> = match &settings.store {
            Store::Local(bus) => return Ok(Self::start(&settings, Some(bus.clone()), None)),
            Store::Redis(store) => Box::new(RedisDialer::new(store, namespace, timing.deadline)?),
            Store::Nats(store) => Box::new(NatsDialer::new(store, namespace, timing.deadline)?),
        };
        Ok(Self::start(&settings, None, Some(dialer)))
    }

    fn start(settings: &Settings, bus: Option<LocalBus>, dialer: Option<Box<dyn Dialer>>) -> Self {
        let (timing, limits) = (settings.timing, settings.limits);
        let counters = Arc::new(Counters::default());
        let hub = Arc::new(Hub::new(limits, counters.clone(), bus.is_some()));
        let queue = Arc::new(PublishQueue::new(limits.queue_messages, limits.queue_bytes));
        let connecting = Status::Unavailable { since: Utc::now(), reason: Reason::Connecting };
        let store = dialer.as_ref().map_or("local", |dialer| dialer.store());
        let health = Arc::new(Health::new(store, connecting, counters.clone()));
        let way = match &bus {
            Some(bus) => Way::Local { bus: bus.clone(), namespace: settings.namespace.clone() },
            None => Way::Queue(queue.clone()),
        };
        let publisher = Publisher {
            way,
            largest: limits.message_bytes,
            counters: counters.clone(),
            refused: Arc::new(AtomicBool::new(false)),
        };
        let announcer = Arc::new(Announcer::new(
            publisher.clone(),
            &settings.identity,
            &settings.namespace,
            timing.heartbeat,
            &limits,
            counters.clone(),
        ));
        let (tasks, end) = (TaskTracker::new(), CancellationToken::new());
        // Before the first connection, which is confirmed with this subscription on it.
        let announcements = hub.subscribe(name::TOPOLOGY);
        tasks.spawn(announcer.clone().run(announcements, health.links(), end.clone()));
        if let Some(bus) = bus {
            bus.join(&settings.namespace, &hub);
            health.linked();
        }
        if let Some(dialer) = dialer {
            let (hub, health, counters) = (hub.clone(), health.clone(), counters.clone());
            let session = Session { dialer, hub, queue, health, counters, timing };
            tasks.spawn(session.run(end.clone()));
        }
        tasks.close();
        Self(Arc::new(Inner {
            hub,
            publisher,
            health,
            announcer,
            counters,
            namespace: settings.namespace.clone(),
            replica: settings.identity.id.clone(),
            timing,
            tasks,
            _end: end.clone().drop_guard(),
            end,
        }))
    }

    /// Publishes to every subscription of the channel in the namespace, those of this messenger
    /// included. Returns at once and never fails: while the store is away, or takes messages more
    /// slowly than they come, they are dropped and [counted](Self::counts).
    ///
    /// Messages of one messenger are heard in the order of these calls.
    pub fn publish(&self, channel: &str, payload: impl Into<Bytes>) {
        if name::check_channel(channel).is_err() {
            return self.0.publisher.refuse(channel, "not a name of a channel");
        }
        self.0.publisher.publish(channel, payload.into());
    }

    /// Listens to a channel from now on; [`Subscription::ready`] waits until the store has
    /// acknowledged it.
    ///
    /// # Errors
    /// When the name is not 1 to 128 letters, digits, `-` and `_`, or begins with `messenger-`.
    pub fn subscribe(&self, channel: &str) -> Result<Subscription, InvalidSetting> {
        name::check_channel(channel)?;
        Ok(self.0.hub.subscribe(channel))
    }

    /// Whether messages flow.
    #[must_use]
    pub fn status(&self) -> Status {
        self.0.health.status()
    }

    /// The same, to be awaited: `messenger.watch().wait_for(Status::is_available)`.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Status> {
        self.0.health.watch()
    }

    /// What has been counted so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.0.counters.read()
    }

    /// The live replicas of the namespace and what is wrong with them.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.0.announcer.topology()
    }

    /// The same, to be awaited. Changes with the members and problems, not with every heartbeat.
    #[must_use]
    pub fn watch_topology(&self) -> watch::Receiver<Topology> {
        self.0.announcer.watch()
    }

    /// The namespace.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.0.namespace
    }

    /// The id of this replica.
    #[must_use]
    pub fn replica(&self) -> &str {
        &self.0.replica
    }

    /// Says goodbye, hands what waits to the store as far as that succeeds in time
    /// ([`Timing::stop`]), and ends all tasks and subscriptions. Returns within twice that time.
    pub async fn stop(&self) {
        let inner = &self.0;
        if !inner.end.is_cancelled() {
            inner.announcer.leave();
            match &inner.publisher.way {
                Way::Local { bus, .. } => bus.leave(&inner.hub),
                Way::Queue(queue) => {
                    let _ = timeout(inner.timing.stop, queue.idle()).await;
                }
            }
            inner.health.stopped();
            inner.end.cancel();
            inner.hub.close();
        }
        let _ = timeout(inner.timing.stop, inner.tasks.wait()).await;
    }
}

impl fmt::Debug for Messenger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Messenger")
            .field("namespace", &self.0.namespace)
            .field("replica", &self.0.replica)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
