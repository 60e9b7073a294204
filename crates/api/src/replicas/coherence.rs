//! Caches that follow the other replicas: what they changed is dropped here as soon as they say so, and all of
//! it after messages may have been lost.

use std::{sync::Arc, time::Duration};

use futures_util::FutureExt;
use tokio::{sync::Notify, time::Instant};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use waymark_core::Engine;
use waymark_messenger::{Event, Messenger, Subscription};

use super::{channel, opened::Refused, sink::Sink};

/// A look at the schema may take this share of the time between two looks, which grows to so much.
const PATIENCE: u32 = 20;
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Between two attempts to read what has changed, while the database is away.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(super) struct Coherence {
    pub engine: Arc<Engine>,
    pub messenger: Messenger,
    pub sink: Arc<Sink>,
    pub schedules: Arc<Notify>,
    /// Messages don't leave this process.
    pub alone: bool,
    /// Others are expected that this process can't hear at all: schedules are coordinated, messages are local.
    pub deaf: bool,
    /// How old things may become while nobody can tell of changes.
    pub stale_after: Duration,
}

impl Coherence {
    /// Begins to listen.
    pub(super) fn start(self, tasks: &TaskTracker, end: &CancellationToken) -> Result<(), Refused> {
        for channel in channel::ALL {
            let subscription = self
                .messenger
                .subscribe(channel)
                .map_err(|refused| Refused { name: "MESSENGER_NAMESPACE", message: refused.message })?;
            tasks.spawn(end.clone().run_until_cancelled_owned(self.clone().listen(channel, subscription)));
        }
        tasks.spawn(end.clone().run_until_cancelled_owned(self.look_around()));
        Ok(())
    }

    async fn listen(self, channel: &'static str, mut subscription: Subscription) {
        if !self.alone {
            // What was changed between the engine's first look and this moment was told to nobody here.
            subscription.ready().await;
            self.refresh(channel).await;
        }
        while let Some(event) = subscription.next().await {
            let mut stale = self.is_news(channel, &event);
            let mut recovered = event == Event::Recovered;
            // Of many messages one look tells all.
            while let Some(Some(event)) = subscription.next().now_or_never() {
                stale |= self.is_news(channel, &event);
                recovered |= event == Event::Recovered;
            }
            if stale {
                self.refresh(channel).await;
            }
            if recovered {
                // What this replica had to tell meanwhile was lost, and the others may not have noticed anything.
                self.sink.tell(channel);
            }
        }
    }

    /// Whether something may have changed that this replica does not know of.
    fn is_news(&self, channel: &str, event: &Event) -> bool {
        match event {
            Event::Message(payload) => {
                let speaker = serde_json::from_slice::<serde_json::Value>(payload);
                let own = speaker
                    .is_ok_and(|message| message.get("replica").is_some_and(|id| *id == *self.messenger.replica()));
                !own
            }
            Event::Lagged(missed) => {
                tracing::warn!(channel, missed, "messages of other replicas were missed; looking at everything again");
                true
            }
            Event::Recovered => true,
        }
    }

    async fn refresh(&self, channel: &str) {
        match channel {
            channel::IDENTITY => self.engine.identities.invalidate(),
            channel::FLOWS => self.schedules.notify_one(),
            _ => self.refresh_schema().await,
        }
    }

    /// Until it succeeds: the old schema would stay for good.
    async fn refresh_schema(&self) {
        let mut told = false;
        while let Err(error) = self.engine.registry.refresh(&self.engine.db).await {
            if !std::mem::replace(&mut told, true) {
                tracing::error!(cause = ?error.cause(), "the schema changed and can't be read; trying on");
            }
            tokio::time::sleep(RETRY).await;
        }
        self.engine.identities.invalidate();
    }

    /// Looks at everything from time to time while the others can't be heard.
    async fn look_around(self) {
        let mut pause = self.stale_after;
        let mut told = false;
        let mut lost = 0;
        loop {
            tokio::time::sleep(pause).await;
            pause = self.stale_after;
            if self.messenger.status().is_available() {
                let counts = self.messenger.counts();
                let dropped = counts.dropped_unavailable + counts.dropped_full;
                if std::mem::replace(&mut lost, dropped) != dropped {
                    // Some of it may have been ours.
                    channel::ALL.iter().for_each(|channel| self.sink.tell(channel));
                }
                if !self.deaf {
                    continue;
                }
            }
            let started = Instant::now();
            match self.engine.registry.refresh(&self.engine.db).await {
                Ok(_) => {
                    told = false;
                    self.engine.identities.invalidate();
                    pause = (started.elapsed() * PATIENCE).min(LONGEST_PAUSE).max(self.stale_after);
                }
                Err(error) if !std::mem::replace(&mut told, true) => {
                    tracing::error!(cause = ?error.cause(), "the schema can't be looked at; trying on");
                }
                Err(_) => {}
            }
            self.schedules.notify_one();
        }
    }
}
