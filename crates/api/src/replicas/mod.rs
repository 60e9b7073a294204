//! What makes several processes one deployment: the messenger, the caches that follow it, and the schedules
//! that fire once. Everything here belongs to one server and ends with it.

mod coherence;
mod health;
mod opened;
mod schedules;
mod sink;

use std::{sync::Arc, time::Duration};

use tokio_util::{sync::CancellationToken, task::TaskTracker};
use waymark_core::Engine;
use waymark_messenger::Messenger;
use waymark_schedule::{Scheduler, Stopped};

pub use opened::{Refused, scheduler};
pub use sink::Sink;

use crate::settings::{Settings, messenger::Store};
use coherence::Coherence;
use schedules::{Follower, Schedules};

/// Channels of the messenger; the payload names the replica that speaks.
mod channel {
    /// Tables or their metadata have changed.
    pub const SCHEMA: &str = "schema";
    /// Users, roles, permissions, settings or shares have changed.
    pub const IDENTITY: &str = "identity";
    /// Flows or operations have changed.
    pub const FLOWS: &str = "flows";

    pub const ALL: [&str; 3] = [SCHEMA, IDENTITY, FLOWS];
}

/// How long running ticks may take at the end of a server.
const LAST_TICKS: Duration = Duration::from_secs(5);
/// How long everything here may take to end.
const END: Duration = Duration::from_secs(9);
/// How long a command waits for the store, to tell running servers what it did.
const TELL: Duration = Duration::from_secs(3);

/// The parts of a server that know of other servers.
pub struct Replicas {
    pub messenger: Messenger,
    pub scheduler: Scheduler,
    sink: Arc<Sink>,
    schedules: Arc<Schedules>,
    tasks: TaskTracker,
    end: CancellationToken,
}

impl Replicas {
    /// Opens messenger and scheduler; their stores may be away.
    ///
    /// # Errors
    /// The setting that can't be used.
    pub fn open(settings: &Settings) -> Result<Self, Refused> {
        let messenger = opened::messenger(settings)?;
        let scheduler = opened::scheduler(settings, messenger.replica())?;
        let schedules = Arc::new(Schedules::new(scheduler.clone()));
        let sink = Arc::new(Sink::new(messenger.clone(), schedules.wake()));
        let (tasks, end) = (TaskTracker::new(), CancellationToken::new());
        Ok(Self { messenger, scheduler, sink, schedules, tasks, end })
    }

    /// Who is told of the engine's changes.
    #[must_use]
    pub fn sink(&self) -> Arc<Sink> {
        Arc::clone(&self.sink)
    }

    /// Begins to follow the other replicas, and registers the schedules.
    ///
    /// # Errors
    /// When a channel can't be listened to.
    pub async fn start(&self, engine: &Arc<Engine>, settings: &Settings) -> Result<(), Refused> {
        let stale_after = settings.messenger.stale_after;
        let coherence = Coherence {
            engine: Arc::clone(engine),
            messenger: self.messenger.clone(),
            sink: self.sink(),
            schedules: self.schedules.wake(),
            alone: settings.messenger.store == Store::Local,
            deaf: settings.messenger.store == Store::Local && settings.schedule.store != Store::Local,
            stale_after,
        };
        coherence.start(&self.tasks, &self.end)?;
        let mut follower = Follower::new(Arc::clone(&self.schedules), Arc::clone(engine));
        let read = follower.look().await;
        self.tasks.spawn(follower.run(read, self.end.clone()));
        Ok(())
    }

    /// No new ticks, the running ones to their end, then the messenger; within ten seconds.
    pub async fn stop(&self) {
        if tokio::time::timeout(END, self.stop_in_order()).await.is_err() {
            tracing::warn!("schedules and messenger did not end in time");
        }
    }

    async fn stop_in_order(&self) {
        self.end.cancel();
        match self.scheduler.stop(LAST_TICKS).await {
            Stopped::Finished => {}
            stopped => tracing::warn!(?stopped, "ticks of schedules were still running at the end"),
        }
        self.messenger.stop().await;
        self.tasks.close();
        if tokio::time::timeout(LAST_TICKS, self.tasks.wait()).await.is_err() {
            tracing::warn!("tasks that follow other replicas did not end in time");
        }
    }
}

/// Tells the servers of a deployment that anything may have changed: for commands that end at once. A store
/// that is away is no failure; the servers look for themselves after a while.
///
/// # Errors
/// The setting that can't be used.
pub async fn tell(settings: &Settings) -> Result<(), Refused> {
    if settings.messenger.store == Store::Local {
        return Ok(());
    }
    let messenger = opened::messenger(settings)?;
    let available = async { messenger.watch().wait_for(waymark_messenger::Status::is_available).await.is_ok() };
    if tokio::time::timeout(TELL, available).await == Ok(true) {
        channel::ALL.iter().for_each(|channel| messenger.publish(channel, "{}"));
    } else {
        tracing::warn!("the messenger's store does not answer: running servers will see the change later");
    }
    messenger.stop().await;
    Ok(())
}
