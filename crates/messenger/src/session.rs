//! Keeps one connection to a store: dials, confirms, uses, watches, and starts again. All waiting
//! has a deadline; nothing is kept for later while there is no connection.

use std::{collections::HashSet, future::pending, sync::Arc, time::Duration};

use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    backoff::Backoff,
    bus::Hub,
    counters::Counters,
    health::{Health, Reason},
    link::{Delivery, Dialer, Link},
    queue::PublishQueue,
    settings::Timing,
};

pub(crate) struct Session {
    pub(crate) dialer: Box<dyn Dialer>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) queue: Arc<PublishQueue>,
    pub(crate) health: Arc<Health>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) timing: Timing,
}

impl Session {
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut backoff = Backoff::new(self.timing.backoff_step, self.timing.backoff_max);
        let mut failed_before = false;
        loop {
            let ended = stop.run_until_cancelled(self.connection(&mut backoff, failed_before)).await;
            self.counters.dropped_unavailable.add(self.queue.close());
            self.hub.disconnected();
            let Some(reason) = ended else { return };
            failed_before = true;
            self.health.lost(reason);
            if stop.run_until_cancelled(sleep(backoff.next())).await.is_none() {
                return;
            }
        }
    }

    /// One connection from the attempt to its end.
    async fn connection(&self, backoff: &mut Backoff, failed_before: bool) -> Reason {
        let (link, subscribed) = match self.confirmed().await {
            Ok(confirmed) => confirmed,
            Err(reason) => return reason,
        };
        backoff.reset();
        self.queue.open();
        // Not before: who waits for it publishes next.
        self.hub.acknowledge(&subscribed);
        if failed_before {
            self.hub.recovered();
        }
        let settling = self.health.linked();
        tokio::select! {
            biased;
            reason = link.ended() => reason,
            reason = self.keep_subscribed(&*link, subscribed) => reason,
            reason = self.keep_publishing(&*link) => reason,
            reason = self.keep_probing(&*link) => reason,
            reason = self.settle(settling) => reason,
        }
    }

    /// A new connection on which everything wanted is acknowledged and a publish has succeeded.
    async fn confirmed(&self) -> Result<(Box<dyn Link>, HashSet<String>), Reason> {
        let delivery = Delivery { hub: self.hub.clone(), counters: self.counters.clone() };
        let link = self.in_time(self.dialer.dial(delivery)).await?;
        let confirm = async {
            let mut subscribed = HashSet::new();
            self.in_time(self.subscribe(&*link, &mut subscribed)).await?;
            self.in_time(link.probe()).await?;
            Ok(subscribed)
        };
        let subscribed = tokio::select! {
            biased;
            reason = link.ended() => return Err(reason),
            subscribed = confirm => subscribed?,
        };
        Ok((link, subscribed))
    }

    /// Makes the subscriptions of the connection those that are wanted, and returns them.
    async fn subscribe(&self, link: &dyn Link, subscribed: &mut HashSet<String>) -> Result<Vec<String>, Reason> {
        let wanted = self.hub.wanted();
        let missing: Vec<String> = wanted.iter().filter(|channel| !subscribed.contains(*channel)).cloned().collect();
        if !missing.is_empty() {
            link.subscribe(&missing).await?;
            subscribed.extend(missing);
        }
        let surplus: Vec<String> = subscribed.iter().filter(|channel| !wanted.contains(*channel)).cloned().collect();
        if !surplus.is_empty() {
            link.unsubscribe(&surplus).await?;
            for channel in &surplus {
                subscribed.remove(channel);
            }
        }
        Ok(wanted)
    }

    async fn keep_subscribed(&self, link: &dyn Link, mut subscribed: HashSet<String>) -> Reason {
        let mut changes = self.hub.watch_wanted();
        loop {
            // Once more after the start: something may have changed since.
            match self.in_time(self.subscribe(link, &mut subscribed)).await {
                // Only these: a channel that was dropped and is wanted again is in the next round.
                Ok(wanted) => self.hub.acknowledge(&wanted),
                Err(reason) => return reason,
            }
            if changes.changed().await.is_err() {
                return pending().await;
            }
        }
    }

    async fn keep_publishing(&self, link: &dyn Link) -> Reason {
        loop {
            let batch = self.queue.take().await;
            if let Err(reason) = self.in_time(link.publish(&batch)).await {
                return reason;
            }
            self.counters.published.add(batch.len());
            self.queue.done();
        }
    }

    async fn keep_probing(&self, link: &dyn Link) -> Reason {
        let mut ticks = interval_at(Instant::now() + self.timing.probe, self.timing.probe);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Err(reason) = self.in_time(link.probe()).await {
                return reason;
            }
        }
    }

    async fn settle(&self, settling: bool) -> Reason {
        if settling {
            sleep(self.timing.settle).await;
            self.health.settled();
        }
        pending().await
    }

    async fn in_time<T>(&self, command: impl Future<Output = Result<T, Reason>>) -> Result<T, Reason> {
        within(self.timing.deadline, command).await
    }
}

async fn within<T>(deadline: Duration, command: impl Future<Output = Result<T, Reason>>) -> Result<T, Reason> {
    timeout(deadline, command).await.unwrap_or(Err(Reason::TimedOut))
}

#[cfg(test)]
mod tests;
