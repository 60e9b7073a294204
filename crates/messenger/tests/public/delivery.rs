//! Who hears what, how often and in which order, while all is well.

use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    time::{Instant, timeout},
};
use waymark_messenger::{LocalBus, Messenger, Settings, Store};

use crate::stage::{Kind, SOON, Server, Stage, each_store, heard, opened, read_until, subscribed};

each_store! {
    async fn every_replica_hears_a_message_exactly_once_its_publisher_included(kind: Kind) {
        let stage = Stage::set(kind).await;
        let (one, other) = (stage.messenger().await, stage.messenger().await);
        let mut at_one = subscribed(&one, "news").await;
        let mut again_at_one = subscribed(&one, "news").await;
        let mut at_other = subscribed(&other, "news").await;
        one.publish("news", "first");
        one.publish("elsewhere", "not for these");
        one.publish("news", "last");
        for subscription in [&mut at_one, &mut again_at_one, &mut at_other] {
            assert_eq!(heard(subscription).await, "first");
            assert_eq!(heard(subscription).await, "last");
        }
    }

    async fn the_order_of_a_publisher_is_kept(kind: Kind) {
        let stage = Stage::set(kind).await;
        let (one, other) = (stage.messenger().await, stage.messenger().await);
        let mut subscription = subscribed(&other, "news").await;
        for number in 0..1_000 {
            one.publish("news", number.to_string());
        }
        for number in 0..1_000 {
            assert_eq!(heard(&mut subscription).await, number.to_string());
        }
    }

    async fn namespaces_never_hear_each_other(kind: Kind) {
        let stage = Stage::set(kind).await;
        let one = opened(Settings { namespace: "a".to_owned(), ..stage.settings() }).await;
        let other = opened(Settings { namespace: "ab".to_owned(), ..stage.settings() }).await;
        let (mut at_one, mut at_other) = (subscribed(&one, "b").await, subscribed(&other, "b").await);
        one.publish("b", "of one");
        other.publish("b", "of other");
        // Whatever went astray would be here before what comes after both.
        assert_eq!(heard(&mut at_one).await, "of one");
        assert_eq!(heard(&mut at_other).await, "of other");
        one.publish("b", "end");
        other.publish("b", "end");
        assert_eq!(heard(&mut at_one).await, "end");
        assert_eq!(heard(&mut at_other).await, "end");
    }

    async fn bytes_arrive_as_they_were(kind: Kind) {
        let stage = Stage::set(kind).await;
        let messenger = stage.messenger().await;
        let mut subscription = subscribed(&messenger, "raw").await;
        let large: Vec<u8> = (0..700_000_u32).map(|number| (number % 251) as u8).collect();
        for payload in [Vec::new(), vec![0, 255, 13, 10, 0], large] {
            messenger.publish("raw", payload.clone());
            let event = crate::stage::next(&mut subscription).await;
            assert!(event == waymark_messenger::Event::Message(payload.into()));
        }
        messenger.publish("raw", vec![0; (1 << 20) + 1]);
        messenger.publish("not a name", "x");
        assert_eq!(messenger.counts().dropped_refused, 2);
    }
}

each_store! {
    async fn who_is_ready_hears_what_is_published_next(kind: Kind) {
        let stage = Stage::set(kind).await;
        for _ in 0..20 {
            let messenger = Messenger::open(stage.settings()).unwrap();
            let mut subscription = subscribed(&messenger, "news").await;
            messenger.publish("news", "hello");
            assert_eq!(heard(&mut subscription).await, "hello");
            messenger.stop().await;
        }
    }

    async fn nothing_is_heard_twice_by_one_who_subscribes_again_and_again(kind: Kind) {
        let stage = Stage::set(kind).await;
        let (one, other) = (stage.messenger().await, stage.messenger().await);
        let (mut number, mut last) = (0_u64, 0);
        for _ in 0..200 {
            let mut subscription = other.subscribe("news").unwrap();
            for _ in 0..5 {
                number += 1;
                one.publish("news", number.to_string());
            }
            subscription.ready().await;
            number += 1;
            one.publish("news", number.to_string());
            while last < number {
                let heard: u64 = heard(&mut subscription).await.parse().unwrap();
                assert!(heard > last, "{heard} after {last}");
                last = heard;
            }
        }
    }
}

#[tokio::test]
async fn messengers_of_one_process_share_a_local_bus() {
    let bus = LocalBus::default();
    let open = |namespace: &str| {
        let namespace = namespace.to_owned();
        Messenger::open(Settings { namespace, ..Settings::new(Store::Local(bus.clone())) }).unwrap()
    };
    let (one, other, apart) = (open("a"), open("a"), open("b"));
    assert!(one.status().is_available());
    let mut at_one = subscribed(&one, "news").await;
    let mut at_other = subscribed(&other, "news").await;
    let mut at_apart = subscribed(&apart, "news").await;
    apart.publish("news", "apart");
    one.publish("news", "hello");
    assert_eq!(heard(&mut at_one).await, "hello");
    assert_eq!(heard(&mut at_other).await, "hello");
    assert_eq!(heard(&mut at_apart).await, "apart");
    one.stop().await;
    assert_eq!(at_one.next().await, None);
    other.publish("news", "still there");
    assert_eq!(heard(&mut at_other).await, "still there");
}

#[tokio::test]
async fn the_store_sends_no_more_when_the_last_subscription_of_a_channel_is_dropped() {
    let stage = Stage::set(Kind::Redis).await;
    let Server::Redis(server) = &stage.server else { panic!("no Redis") };
    let messenger = stage.messenger().await;
    let first = subscribed(&messenger, "news").await;
    let second = subscribed(&messenger, "news").await;
    let mut redis = TcpStream::connect(server.address()).await.unwrap();
    drop(first);
    assert_eq!(subscribers(&mut redis).await, 1);
    drop(second);
    let start = Instant::now();
    while subscribers(&mut redis).await > 0 {
        assert!(start.elapsed() < SOON, "the store still sends");
        tokio::task::yield_now().await;
    }
    let mut again = subscribed(&messenger, "news").await;
    messenger.publish("news", "again");
    assert_eq!(timeout(SOON, heard(&mut again)).await.unwrap(), "again");
}

/// How many connections listen to the channel.
async fn subscribers(redis: &mut TcpStream) -> usize {
    redis.write_all(b"PUBSUB NUMSUB waymark:news\r\n").await.unwrap();
    // *2 $12 waymark:news :N
    let answer = String::from_utf8(read_until(redis, b"\r\n:").await).unwrap();
    let rest = match answer.split_once("\r\n:") {
        Some((_, rest)) if rest.ends_with("\r\n") => rest.to_owned(),
        Some((_, rest)) => rest.to_owned() + &String::from_utf8(read_until(redis, b"\r\n").await).unwrap(),
        None => answer,
    };
    rest.trim().parse().unwrap()
}
