//! A store that is absent, dies, comes back, answers nothing, or drops its connections: what is
//! noticed, how fast, and how many lines are written about it.

use std::time::{Duration, Instant};

use tracing::Level;
use waymark_messenger::{Messenger, RECOVERED, Reason, Settings, Timing, UNAVAILABLE};

use crate::stage::{
    Kind, Lines, Stage, available, each_store, heard, impatient, next, opened, quick, recovered, subscribed,
    unavailable,
};

const GONE: &[Reason] = &[Reason::Refused, Reason::Disconnected, Reason::TimedOut];

/// One warn line and one info line, and nothing else of anybody.
fn assert_one_episode(lines: &Lines) {
    assert_eq!(lines.all(), [(Level::WARN, UNAVAILABLE.to_owned()), (Level::INFO, RECOVERED.to_owned())]);
}

/// How many entries the directory has, where there is such a thing.
fn entries(directory: &str) -> usize {
    std::fs::read_dir(directory).map_or(0, Iterator::count)
}

each_store! {
    async fn a_store_that_is_absent_at_the_start_is_found_later(kind: Kind) {
        let (lines, _guard) = Lines::capture();
        let mut stage = Stage::set(kind).await;
        stage.server.kill();
        let messenger = Messenger::open(stage.settings()).unwrap();
        let mut subscription = messenger.subscribe("news").unwrap();
        unavailable(&messenger, GONE).await;
        messenger.publish("news", "lost");
        assert!(messenger.counts().dropped_unavailable > 0);
        stage.server.restart().await;
        assert_eq!(next(&mut subscription).await, waymark_messenger::Event::Recovered);
        messenger.publish("news", "heard");
        assert_eq!(heard(&mut subscription).await, "heard");
        available(&messenger).await;
        assert_one_episode(&lines);
    }

    async fn a_store_that_is_killed_and_restarted_loses_no_subscription(kind: Kind) {
        let (lines, _guard) = Lines::capture();
        let mut stage = Stage::set(kind).await;
        let messenger = stage.messenger().await;
        let mut subscriptions = Vec::new();
        for number in 0..20 {
            subscriptions.push(subscribed(&messenger, &format!("channel-{number}")).await);
        }
        stage.server.kill();
        unavailable(&messenger, GONE).await;
        let added = messenger.subscribe("added-meanwhile").unwrap();
        stage.server.restart().await;
        subscriptions.push(added);
        for subscription in &mut subscriptions {
            recovered(subscription).await;
            let channel = subscription.channel().to_owned();
            messenger.publish(&channel, channel.clone());
            assert_eq!(heard(subscription).await, channel);
        }
        available(&messenger).await;
        assert_one_episode(&lines);
        let counts = messenger.counts();
        assert_eq!((counts.episodes, counts.reconnects), (1, 1));
    }

    async fn open_sockets_that_answer_nothing_are_noticed_and_dialled_again(kind: Kind) {
        let (lines, _guard) = Lines::capture();
        let stage = Stage::set(kind).await;
        let messenger = opened(Settings { timing: impatient(), ..stage.settings() }).await;
        let mut subscription = subscribed(&messenger, "news").await;
        let before = stage.proxy.connections();
        stage.proxy.stall();
        let start = Instant::now();
        for _ in 0..20_000 {
            messenger.publish("news", "into the void");
        }
        assert!(start.elapsed() < Duration::from_secs(2), "publishing waits for a stalled store");
        unavailable(&messenger, &[Reason::TimedOut]).await;
        let counts = messenger.counts();
        assert!(counts.dropped_full > 0 && counts.dropped_unavailable > 0, "{counts:?}");
        stage.proxy.restore();
        recovered(&mut subscription).await;
        messenger.publish("news", "heard");
        // What had been on its way may still come.
        while heard(&mut subscription).await != "heard" {}
        available(&messenger).await;
        assert!(stage.proxy.connections() > before);
        assert_eq!(lines.at(Level::WARN), [waymark_messenger::QUEUE_FULL, UNAVAILABLE]);
        assert_eq!(lines.at(Level::INFO), [RECOVERED]);
    }

    async fn a_frozen_server_is_noticed_while_nobody_publishes(kind: Kind) {
        let stage = Stage::set(kind).await;
        let messenger = opened(Settings { timing: impatient(), ..stage.settings() }).await;
        let mut subscription = subscribed(&messenger, "news").await;
        stage.server.stop_answering();
        unavailable(&messenger, &[Reason::TimedOut]).await;
        stage.server.continue_answering();
        recovered(&mut subscription).await;
        available(&messenger).await;
    }

    async fn a_thousand_reconnects_in_a_row_are_one_episode_and_subscriptions_live_after_each(kind: Kind) {
        let (lines, _guard) = Lines::capture();
        let stage = Stage::set(kind).await;
        let step = Duration::from_millis(1);
        let timing = Timing { backoff_step: step, backoff_max: step, settle: Duration::from_secs(3), ..quick() };
        let messenger = opened(Settings { timing, ..stage.settings() }).await;
        let mut subscription = subscribed(&messenger, "news").await;
        for number in 0..1_000 {
            stage.proxy.drop_all();
            recovered(&mut subscription).await;
            messenger.publish("news", number.to_string());
            assert_eq!(heard(&mut subscription).await, number.to_string());
        }
        assert!(!messenger.status().is_available(), "recovered before the connection has held");
        available(&messenger).await;
        assert_one_episode(&lines);
        let counts = messenger.counts();
        assert_eq!((counts.episodes, counts.reconnects), (1, 1_000));
        let held = (entries("/proc/self/task"), entries("/proc/self/fd"));
        assert!(held.0 < 500 && held.1 < 500, "threads and files of past connections are held: {held:?}");
    }

    async fn connections_that_are_reset_at_once_are_one_episode_too(kind: Kind) {
        let (lines, _guard) = Lines::capture();
        let stage = Stage::set(kind).await;
        let messenger = stage.messenger().await;
        let before = stage.proxy.connections();
        stage.proxy.cut();
        while stage.proxy.connections() < before + 50 {
            tokio::task::yield_now().await;
        }
        stage.proxy.restore();
        available(&messenger).await;
        assert_one_episode(&lines);
    }

    async fn a_slow_line_is_no_failure(kind: Kind) {
        let (lines, _guard) = Lines::capture();
        let stage = Stage::set(kind).await;
        stage.proxy.delay(Duration::from_millis(40));
        let messenger = stage.messenger().await;
        let mut subscription = subscribed(&messenger, "news").await;
        for number in 0..200 {
            messenger.publish("news", number.to_string());
        }
        for number in 0..200 {
            assert_eq!(heard(&mut subscription).await, number.to_string());
        }
        assert_eq!(lines.all(), []);
    }

    async fn every_episode_has_its_lines(kind: Kind) {
        let (lines, _guard) = Lines::capture();
        let stage = Stage::set(kind).await;
        let messenger = stage.messenger().await;
        for _ in 0..3 {
            stage.proxy.drop_all();
            unavailable(&messenger, GONE).await;
            available(&messenger).await;
        }
        assert_eq!(lines.at(Level::WARN), [UNAVAILABLE; 3]);
        assert_eq!(lines.at(Level::INFO), [RECOVERED; 3]);
    }
}
