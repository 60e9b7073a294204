//! The end of a messenger: nothing is lost that can be delivered, and nothing takes long.

use std::time::{Duration, Instant};

use tokio::time::timeout;
use waymark_messenger::{Messenger, Reason, Settings, Status, Timing};

use crate::stage::{Kind, SOON, Stage, each_store, heard, opened, quick, subscribed};

each_store! {
    async fn what_was_published_before_the_end_is_delivered(kind: Kind) {
        let stage = Stage::set(kind).await;
        let (leaving, staying) = (stage.messenger().await, stage.messenger().await);
        let mut own = subscribed(&leaving, "own").await;
        let mut subscription = subscribed(&staying, "news").await;
        for number in 0..500 {
            leaving.publish("news", number.to_string());
        }
        leaving.stop().await;
        for number in 0..500 {
            assert_eq!(heard(&mut subscription).await, number.to_string());
        }
        assert_eq!(own.next().await, None);
        assert!(matches!(leaving.status(), Status::Unavailable { reason: Reason::Stopped, .. }));
        assert_eq!(leaving.subscribe("late").unwrap().next().await, None);
        leaving.publish("news", "too late");
        leaving.stop().await;
    }

    async fn a_stalled_store_does_not_hold_up_the_end(kind: Kind) {
        let stage = Stage::set(kind).await;
        let timing = Timing { stop: Duration::from_millis(200), ..quick() };
        let messenger = opened(Settings { timing, ..stage.settings() }).await;
        stage.proxy.stall();
        messenger.publish("news", "stuck");
        let start = Instant::now();
        messenger.stop().await;
        assert!(start.elapsed() < Duration::from_secs(2));
    }

    async fn an_absent_store_does_not_hold_up_the_end(kind: Kind) {
        let stage = Stage::set(kind).await;
        stage.proxy.cut();
        let messenger = Messenger::open(stage.settings()).unwrap();
        timeout(SOON, messenger.stop()).await.unwrap();
    }
}
