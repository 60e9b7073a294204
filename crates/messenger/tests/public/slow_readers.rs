//! A reader that doesn't read holds up nobody, and is told what it missed.

use waymark_messenger::{Event, Messenger, Settings, Store};

use crate::stage::{Kind, Stage, each_store, heard, next, opened, subscribed};

const MESSAGES: usize = 1_000;
const KEPT: usize = 10;

fn narrow(settings: Settings) -> Settings {
    let mut settings = settings;
    settings.limits.subscription_messages = KEPT;
    settings
}

async fn told_once(publisher: &Messenger, reader: &Messenger) {
    let mut slow = subscribed(reader, "news").await;
    let mut fast = subscribed(reader, "news").await;
    for number in 0..MESSAGES {
        publisher.publish("news", number.to_string());
        // Reads whatever the other doesn't.
        assert_eq!(heard(&mut fast).await, number.to_string());
    }
    assert_eq!(next(&mut slow).await, Event::Lagged((MESSAGES - KEPT) as u64));
    for number in MESSAGES - KEPT..MESSAGES {
        assert_eq!(heard(&mut slow).await, number.to_string());
    }
    publisher.publish("news", "in time again");
    assert_eq!(heard(&mut slow).await, "in time again");
    assert_eq!(reader.counts().lagged, (MESSAGES - KEPT) as u64);
}

each_store! {
    async fn lag_is_counted_and_told_once_and_blocks_nobody(kind: Kind) {
        let stage = Stage::set(kind).await;
        let publisher = stage.messenger().await;
        let reader = opened(narrow(stage.settings())).await;
        told_once(&publisher, &reader).await;
    }
}

#[tokio::test]
async fn lag_is_counted_and_told_once_in_memory() {
    let messenger = Messenger::open(narrow(Settings::new(Store::local()))).unwrap();
    told_once(&messenger, &messenger).await;
}
