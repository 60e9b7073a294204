//! Users that may not do everything, or are not let in.

use std::time::Duration;

use tracing::Level;
use waymark_messenger::{Messenger, NatsStore, Reason, RedisStore, Settings, Store, Timing, UNAVAILABLE};
use waymark_rig::{NatsServer, Proxy, RedisServer};

use crate::stage::{Lines, heard, opened, quick, subscribed, unavailable};

/// Waits for the reason and for many further attempts: one line, and never available.
async fn stays_unavailable(store: Store, proxy: &Proxy, reason: Reason) {
    let (lines, _guard) = Lines::capture();
    let messenger = Messenger::open(Settings { timing: quick(), ..Settings::new(store) }).unwrap();
    let _subscription = messenger.subscribe("news").unwrap();
    unavailable(&messenger, &[reason]).await;
    let before = proxy.connections();
    while proxy.connections() < before + 20 {
        tokio::task::yield_now().await;
    }
    unavailable(&messenger, &[reason]).await;
    assert_eq!(lines.all(), [(Level::WARN, UNAVAILABLE.to_owned())]);
    assert_eq!(messenger.counts().reconnects, 0);
}

fn redis(proxy: &Proxy, user: &str) -> Store {
    Store::Redis(RedisStore::Url(format!("redis://{user}{}", proxy.address()).into()))
}

fn nats(proxy: &Proxy, user: &str) -> Store {
    Store::Nats(NatsStore { urls: vec![format!("nats://{user}{}", proxy.address()).into()], ..NatsStore::default() })
}

#[tokio::test]
async fn redis_without_the_right_to_publish_is_never_available() {
    let server = RedisServer::start(&["--user", "default", "on", "nopass", "~*", "&*", "+@all", "-publish"]).await;
    let proxy = Proxy::start(server.address()).await;
    stays_unavailable(redis(&proxy, ""), &proxy, Reason::NotPermitted).await;
}

#[tokio::test]
async fn redis_without_the_right_to_subscribe_is_never_available() {
    let server = RedisServer::start(&["--user", "default", "on", "nopass", "~*", "&other:*", "+@all"]).await;
    let proxy = Proxy::start(server.address()).await;
    stays_unavailable(redis(&proxy, ""), &proxy, Reason::NotPermitted).await;
}

#[tokio::test]
async fn redis_with_a_wrong_password_is_never_available() {
    let server = RedisServer::start(&["--requirepass", "right"]).await;
    let proxy = Proxy::start(server.address()).await;
    stays_unavailable(redis(&proxy, ":wrong@"), &proxy, Reason::Authentication).await;
}

#[tokio::test]
async fn redis_with_only_what_is_needed_is_available() {
    let user = ["--user", "cms", "on", ">secret", "&waymark:*", "+publish", "+subscribe", "+unsubscribe", "+hello"];
    let server = RedisServer::start(&user).await;
    let store = Store::Redis(RedisStore::Parts {
        host: server.address().ip().to_string(),
        port: server.address().port(),
        username: Some("cms".to_owned()),
        password: Some("secret".into()),
        db: 0,
        tls: false,
    });
    let messenger = opened(Settings { timing: quick(), ..Settings::new(store) }).await;
    let mut subscription = subscribed(&messenger, "news").await;
    messenger.publish("news", "hello");
    assert_eq!(heard(&mut subscription).await, "hello");
}

fn permissions(publish: &str, subscribe: &str) -> String {
    format!(
        "authorization {{ users = [ {{ user: cms, password: secret, \
         permissions: {{ publish: \"{publish}\", subscribe: \"{subscribe}\" }} }} ] }}"
    )
}

#[tokio::test]
async fn nats_without_the_right_to_publish_is_never_available() {
    let server = NatsServer::start_configured(&permissions("other.>", "waymark.>")).await;
    let proxy = Proxy::start(server.address()).await;
    stays_unavailable(nats(&proxy, "cms:secret@"), &proxy, Reason::NotPermitted).await;
}

#[tokio::test]
async fn nats_without_the_right_to_subscribe_is_never_available() {
    let server = NatsServer::start_configured(&permissions("waymark.>", "waymark.messenger-probe.*")).await;
    let proxy = Proxy::start(server.address()).await;
    stays_unavailable(nats(&proxy, "cms:secret@"), &proxy, Reason::NotPermitted).await;
}

#[tokio::test]
async fn nats_with_a_wrong_password_is_never_available() {
    let server = NatsServer::start_configured(&permissions(">", ">")).await;
    let proxy = Proxy::start(server.address()).await;
    stays_unavailable(nats(&proxy, "cms:wrong@"), &proxy, Reason::Authentication).await;
}

#[tokio::test]
async fn nats_with_only_what_is_needed_is_available() {
    let server = NatsServer::start_configured(&permissions("waymark.>", "waymark.>")).await;
    let store = Store::Nats(NatsStore {
        urls: vec![server.url().into()],
        user: Some("cms".to_owned()),
        password: Some("secret".into()),
        ..NatsStore::default()
    });
    let messenger = opened(Settings { timing: quick(), ..Settings::new(store) }).await;
    let mut subscription = subscribed(&messenger, "news").await;
    messenger.publish("news", "hello");
    assert_eq!(heard(&mut subscription).await, "hello");
}

#[tokio::test]
async fn nats_with_a_token_is_available() {
    let server = NatsServer::start(&["--auth", "a-token"]).await;
    let urls = vec![server.url().into()];
    let store = Store::Nats(NatsStore { urls, token: Some("a-token".into()), ..NatsStore::default() });
    opened(Settings { timing: quick(), ..Settings::new(store) }).await;
}

#[tokio::test]
async fn a_server_without_tls_is_never_available_to_one_who_wants_it() {
    let accepted = [Reason::Tls, Reason::Refused, Reason::Disconnected, Reason::TimedOut, Reason::Failed];
    let (redis, nats) = (RedisServer::start(&[]).await, NatsServer::start(&[]).await);
    let urls = vec![format!("tls://{}", nats.address()).into()];
    let stores = [
        Store::Redis(RedisStore::Url(format!("rediss://{}", redis.address()).into())),
        Store::Nats(NatsStore { urls, ..NatsStore::default() }),
    ];
    for store in stores {
        let timing = Timing { deadline: Duration::from_millis(500), ..quick() };
        let messenger = Messenger::open(Settings { timing, ..Settings::new(store) }).unwrap();
        unavailable(&messenger, &accepted).await;
        assert_eq!(messenger.counts().reconnects, 0);
        messenger.stop().await;
    }
}
