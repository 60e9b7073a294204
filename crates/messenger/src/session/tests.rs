//! The session on stores that refuse, hang and hang up, in simulated time.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use chrono::Utc;

use super::*;
use crate::{health::Status, queue::Outgoing, settings::Limits};

/// A store that refuses, hangs, or hangs up after a while.
#[derive(Clone, Copy)]
enum Behaviour {
    Refuses,
    Hangs,
    HangsUpAfter(Duration),
    NeverAcknowledges,
    NeverAnswersProbes,
}

struct Fake {
    behaviour: Behaviour,
    attempts: Arc<AtomicUsize>,
}

#[async_trait]
impl Dialer for Fake {
    fn store(&self) -> &'static str {
        "fake"
    }

    async fn dial(&self, _delivery: Delivery) -> Result<Box<dyn Link>, Reason> {
        self.attempts.fetch_add(1, Ordering::SeqCst);
        match self.behaviour {
            Behaviour::Refuses => Err(Reason::Refused),
            Behaviour::Hangs => pending().await,
            behaviour => Ok(Box::new(FakeLink(behaviour))),
        }
    }
}

struct FakeLink(Behaviour);

#[async_trait]
impl Link for FakeLink {
    async fn subscribe(&self, _channels: &[String]) -> Result<(), Reason> {
        if matches!(self.0, Behaviour::NeverAcknowledges) { pending().await } else { Ok(()) }
    }

    async fn unsubscribe(&self, _channels: &[String]) -> Result<(), Reason> {
        Ok(())
    }

    async fn publish(&self, _batch: &[Outgoing]) -> Result<(), Reason> {
        Ok(())
    }

    async fn probe(&self) -> Result<(), Reason> {
        if matches!(self.0, Behaviour::NeverAnswersProbes) { pending().await } else { Ok(()) }
    }

    async fn ended(&self) -> Reason {
        match self.0 {
            Behaviour::HangsUpAfter(time) => sleep(time).await,
            _ => pending().await,
        }
        Reason::Disconnected
    }
}

struct Running {
    health: Arc<Health>,
    counters: Arc<Counters>,
    attempts: Arc<AtomicUsize>,
    stop: CancellationToken,
    tasks: tokio_util::task::TaskTracker,
}

fn run(behaviour: Behaviour) -> Running {
    let (counters, limits) = (Arc::new(Counters::default()), Limits::default());
    let connecting = Status::Unavailable { since: Utc::now(), reason: Reason::Connecting };
    let health = Arc::new(Health::new("fake", connecting, counters.clone()));
    let hub = Arc::new(Hub::new(limits, counters.clone(), false));
    let attempts = Arc::new(AtomicUsize::new(0));
    let (stop, tasks) = (CancellationToken::new(), tokio_util::task::TaskTracker::new());
    let wanted = hub.subscribe("wanted");
    let session = Session {
        dialer: Box::new(Fake { behaviour, attempts: attempts.clone() }),
        hub,
        queue: Arc::new(PublishQueue::new(10, 10)),
        health: health.clone(),
        counters: counters.clone(),
        timing: Timing::default(),
    };
    let until = stop.clone();
    tasks.spawn(async move {
        session.run(until).await;
        drop(wanted);
    });
    tasks.close();
    Running { health, counters, attempts, stop, tasks }
}

impl Running {
    fn attempts(&self) -> usize {
        self.attempts.load(Ordering::SeqCst)
    }

    fn reason(&self) -> Option<Reason> {
        match self.health.status() {
            Status::Available => None,
            Status::Unavailable { reason, .. } => Some(reason),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_become_rarer_and_never_stop() {
    let running = run(Behaviour::Refuses);
    sleep(Duration::from_secs(1)).await;
    assert!((5..=10).contains(&running.attempts()), "{}", running.attempts());
    sleep(Duration::from_secs(600)).await;
    let before = running.attempts();
    sleep(Duration::from_secs(600)).await;
    assert!((300..=600).contains(&(running.attempts() - before)), "{}", running.attempts() - before);
    assert_eq!((running.reason(), running.counters.read().episodes), (Some(Reason::Refused), 1));
    running.stop.cancel();
    running.tasks.wait().await;
}

#[tokio::test(start_paused = true)]
async fn whatever_is_not_answered_in_time_is_given_up() {
    for behaviour in [Behaviour::Hangs, Behaviour::NeverAcknowledges, Behaviour::NeverAnswersProbes] {
        let running = run(behaviour);
        sleep(Duration::from_millis(4_999)).await;
        assert_eq!((running.reason(), running.attempts()), (Some(Reason::Connecting), 1));
        sleep(Duration::from_millis(2)).await;
        assert_eq!(running.reason(), Some(Reason::TimedOut));
        sleep(Duration::from_millis(60)).await;
        assert_eq!(running.attempts(), 2);
        running.stop.cancel();
        running.tasks.wait().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_comes_and_goes_is_one_episode() {
    let running = run(Behaviour::HangsUpAfter(Duration::from_millis(400)));
    sleep(Duration::from_millis(1)).await;
    assert_eq!(running.reason(), None);
    sleep(Duration::from_secs(600)).await;
    let counts = running.counters.read();
    assert_eq!((running.reason(), counts.episodes), (Some(Reason::Disconnected), 1));
    assert!(counts.reconnects > 1_000, "{counts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_holds_ends_the_episode_and_the_next_begins_another() {
    let running = run(Behaviour::HangsUpAfter(Duration::from_secs(10)));
    sleep(Duration::from_secs(105)).await;
    let counts = running.counters.read();
    assert_eq!((running.reason(), counts.episodes, counts.reconnects), (None, 10, 10));
}
