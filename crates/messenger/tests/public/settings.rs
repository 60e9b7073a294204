//! Settings that can't be used are refused where they are given, with the field named and no secret told.

use std::time::Duration;

use waymark_messenger::{Messenger, NatsStore, RedisStore, Settings, Store, Timing};

fn refused(settings: Settings) -> &'static str {
    let error = Messenger::open(settings).expect_err("refused settings");
    assert!(!error.to_string().contains("hunter2"), "{error}");
    assert!(error.to_string().starts_with(error.field), "{error}");
    error.field
}

#[tokio::test]
async fn settings_are_refused_with_their_field() {
    let local = || Settings::new(Store::local());
    for namespace in ["", "a.b", "a:b", "a b", "*"] {
        assert_eq!(refused(Settings { namespace: namespace.to_owned(), ..local() }), "namespace");
    }
    let timing = Timing { heartbeat: Duration::ZERO, ..Timing::default() };
    assert_eq!(refused(Settings { timing, ..local() }), "timing.heartbeat");
    let mut settings = local();
    settings.identity.id = String::new();
    assert_eq!(refused(settings), "identity.id");
    let mut settings = local();
    settings.limits.subscription_messages = 0;
    assert_eq!(refused(settings), "limits.subscription_messages");
    let url = Store::Redis(RedisStore::Url("http://:hunter2@nowhere".into()));
    assert_eq!(refused(Settings::new(url)), "redis.url");
    let urls = vec!["nats://ok".into(), "ftp://u:hunter2@nowhere".into()];
    let store = Store::Nats(NatsStore { urls, ..NatsStore::default() });
    assert_eq!(refused(Settings::new(store)), "nats.urls");
}

#[tokio::test]
async fn channels_are_refused_with_their_name() {
    let messenger = Messenger::open(Settings::new(Store::local())).unwrap();
    for channel in ["", "a.b", "messenger-topology", "messenger-probe", ">"] {
        assert_eq!(messenger.subscribe(channel).unwrap_err().field, "channel");
        messenger.publish(channel, "x");
    }
    assert_eq!(messenger.counts().dropped_refused, 5);
}

#[test]
fn secrets_are_not_shown() {
    let mut settings = Settings::new(Store::Nats(NatsStore {
        urls: vec!["nats://u:hunter2@h".into()],
        password: Some("hunter2".into()),
        token: Some("hunter2".into()),
        ..NatsStore::default()
    }));
    settings.identity.key = "hunter2".into();
    assert!(!format!("{settings:?}").contains("hunter2"));
    let url = Store::Redis(RedisStore::Url("redis://:hunter2@h".into()));
    assert!(!format!("{:?}", Settings::new(url)).contains("hunter2"));
}
