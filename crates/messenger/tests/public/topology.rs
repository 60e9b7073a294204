//! Who is there, who has left, and who doesn't belong.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use tracing::Level;
use waymark_messenger::{FOREIGN, LocalBus, Messenger, Problem, Settings, Store, Timing, Topology, ZONE};

use crate::stage::{Kind, Lines, SOON, Stage, each_store, opened, quick};

fn named(settings: Settings, id: &str) -> Settings {
    let mut settings = settings;
    settings.identity.id = id.to_owned();
    settings.identity.key = "the key".into();
    settings.identity.zone = "UTC".to_owned();
    settings.identity.version = "1.2.3".to_owned();
    settings.identity.host = format!("host-{id}");
    settings
}

fn slow_heart(settings: Settings) -> Settings {
    Settings { timing: Timing { heartbeat: Duration::from_secs(600), ..quick() }, ..settings }
}

fn fast_heart(settings: Settings) -> Settings {
    Settings { timing: Timing { heartbeat: Duration::from_millis(200), ..quick() }, ..settings }
}

fn ids(topology: &Topology) -> Vec<String> {
    let mut ids: Vec<String> = topology.replicas.iter().map(|replica| replica.id.clone()).collect();
    ids.sort();
    ids
}

async fn lists(messenger: &Messenger, expected: &[&str]) -> Topology {
    let mut topology = messenger.watch_topology();
    let waited = timeout(SOON, topology.wait_for(|topology| ids(topology) == expected)).await;
    assert!(waited.is_ok(), "{:?} instead of {expected:?}", messenger.topology());
    messenger.topology()
}

each_store! {
    async fn replicas_know_each_other_without_waiting_for_a_heartbeat_and_one_that_stops_leaves(kind: Kind) {
        let stage = Stage::set(kind).await;
        let one = opened(named(slow_heart(stage.settings()), "1")).await;
        let two = opened(named(slow_heart(stage.settings()), "2")).await;
        let three = opened(named(slow_heart(stage.settings()), "3")).await;
        for messenger in [&one, &two, &three] {
            let topology = lists(messenger, &["1", "2", "3"]).await;
            assert_eq!(topology.problems, []);
            let own: Vec<_> = topology.replicas.iter().filter(|replica| replica.own).collect();
            assert_eq!(own.len(), 1);
            assert_eq!(own[0].id, messenger.replica());
            let other = topology.replicas.iter().find(|replica| !replica.own).unwrap();
            assert_eq!((other.version.as_str(), other.zone.as_str(), other.foreign), ("1.2.3", "UTC", false));
            assert_eq!(other.host, format!("host-{}", other.id));
        }
        two.stop().await;
        lists(&one, &["1", "3"]).await;
        lists(&three, &["1", "3"]).await;
    }

    async fn one_that_dies_expires(kind: Kind) {
        let stage = Stage::set(kind).await;
        let one = opened(named(fast_heart(stage.settings()), "1")).await;
        let two = opened(named(fast_heart(stage.settings()), "2")).await;
        lists(&one, &["1", "2"]).await;
        drop(two);
        lists(&one, &["1"]).await;
    }

    async fn the_list_is_whole_again_after_an_outage(kind: Kind) {
        let mut stage = Stage::set(kind).await;
        let one = opened(named(fast_heart(stage.settings()), "1")).await;
        let two = opened(named(fast_heart(stage.settings()), "2")).await;
        lists(&one, &["1", "2"]).await;
        stage.server.kill();
        lists(&one, &["1"]).await;
        stage.server.restart().await;
        lists(&one, &["1", "2"]).await;
        lists(&two, &["1", "2"]).await;
    }

    async fn another_key_in_the_namespace_is_reported_by_both_sides_once(kind: Kind) {
        let (lines, _guard) = Lines::capture();
        let stage = Stage::set(kind).await;
        let one = opened(named(fast_heart(stage.settings()), "1")).await;
        let mut settings = named(fast_heart(stage.settings()), "2");
        settings.identity.key = "another key".into();
        let two = opened(settings).await;
        let topology = lists(&one, &["1", "2"]).await;
        lists(&two, &["1", "2"]).await;
        let Some(Problem::Foreign(other)) = topology.problems.first() else { panic!("{topology:?}") };
        assert_eq!((other.replica.as_str(), other.host.as_str()), ("2", "host-2"));
        assert!(topology.replicas.iter().any(|replica| replica.foreign && replica.id == "2"));
        assert_eq!(lines.at(Level::ERROR), [FOREIGN, FOREIGN]);
        two.stop().await;
        assert_eq!(lists(&one, &["1"]).await.problems, []);
    }

    async fn what_is_no_announcement_is_counted_and_does_no_harm(kind: Kind) {
        let stage = Stage::set(kind).await;
        let one = opened(named(slow_heart(stage.settings()), "1")).await;
        let bad = ["", "{", "null", "{\"id\":1}", "\u{0}", "[[[[[[[[[[[[[[[[[["];
        for payload in bad {
            stage.server.publish_raw("waymark", "messenger-topology", payload).await;
        }
        stage.server.publish_raw("waymark", "messenger-topology", &"[".repeat(100_000)).await;
        let _two = opened(named(slow_heart(stage.settings()), "2")).await;
        lists(&one, &["1", "2"]).await;
        assert_eq!(one.counts().malformed_announcements, bad.len() as u64 + 1);
    }
}

#[tokio::test]
async fn another_time_zone_is_reported_once() {
    let (lines, _guard) = Lines::capture();
    let bus = LocalBus::default();
    let settings = || fast_heart(Settings::new(Store::Local(bus.clone())));
    let one = opened(named(settings(), "1")).await;
    let mut other = named(settings(), "2");
    other.identity.zone = "Europe/Berlin".to_owned();
    let two = opened(other.clone()).await;
    let topology = lists(&one, &["1", "2"]).await;
    let Some(Problem::Zone { replica, zone, own, .. }) = topology.problems.first() else { panic!("{topology:?}") };
    assert_eq!((replica.as_str(), zone.as_str(), own.as_str()), ("2", "Europe/Berlin", "UTC"));
    lists(&two, &["1", "2"]).await;
    assert_eq!(lines.at(Level::ERROR), [ZONE, ZONE]);
    two.stop().await;
    assert_eq!(lists(&one, &["1"]).await.problems, []);
    let three = opened(Settings {
        identity: waymark_messenger::Identity { id: "3".to_owned(), ..other.identity },
        ..settings()
    })
    .await;
    lists(&three, &["1", "3"]).await;
    lists(&one, &["1", "3"]).await;
    assert_eq!(lines.at(Level::ERROR), [ZONE; 4]);
}

#[tokio::test(start_paused = true)]
async fn a_replica_expires_three_heartbeats_after_its_last() {
    let bus = LocalBus::default();
    let heartbeat = Duration::from_secs(10);
    let settings =
        || Settings { timing: Timing { heartbeat, ..Timing::default() }, ..Settings::new(Store::Local(bus.clone())) };
    let one = Messenger::open(named(settings(), "1")).unwrap();
    let two = Messenger::open(named(settings(), "2")).unwrap();
    let mut topology = one.watch_topology();
    topology.wait_for(|topology| ids(topology) == ["1", "2"]).await.unwrap();
    tokio::time::sleep(heartbeat * 20).await;
    assert_eq!(ids(&one.topology()), ["1", "2"]);
    drop(two);
    let start = Instant::now();
    topology.wait_for(|topology| ids(topology) == ["1"]).await.unwrap();
    assert!(start.elapsed() > heartbeat && start.elapsed() <= heartbeat * 3, "{:?}", start.elapsed());
}
