//! A server of either store behind a proxy, messengers on it, and the log lines they write.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};
use tracing::{Level, Subscriber, field::Visit};
use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt};
use waymark_messenger::{
    Event, Messenger, NatsStore, Reason, RedisStore, Settings, Status, Store, Subscription, Timing,
};
use waymark_rig::{NatsServer, Proxy, RedisServer};

/// A bound for everything that has to happen; far more than it takes.
pub const SOON: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Redis,
    Nats,
}

/// Runs the same test on both stores.
macro_rules! each_store {
    ($($(#[$attribute:meta])* async fn $name:ident($kind:ident: Kind) $body:block)*) => {
        $(mod $name {
            use super::*;

            async fn test($kind: Kind) $body

            $(#[$attribute])*
            #[tokio::test]
            async fn redis() {
                test(Kind::Redis).await;
            }

            $(#[$attribute])*
            #[tokio::test]
            async fn nats() {
                test(Kind::Nats).await;
            }
        })*
    };
}
pub(crate) use each_store;

pub enum Server {
    Redis(RedisServer),
    Nats(NatsServer),
}

impl Server {
    pub fn kill(&mut self) {
        match self {
            Self::Redis(server) => server.kill(),
            Self::Nats(server) => server.kill(),
        }
    }

    pub async fn restart(&mut self) {
        match self {
            Self::Redis(server) => server.restart().await,
            Self::Nats(server) => server.restart().await,
        }
    }

    pub fn stop_answering(&self) {
        match self {
            Self::Redis(server) => server.stop_answering(),
            Self::Nats(server) => server.stop_answering(),
        }
    }

    pub fn continue_answering(&self) {
        match self {
            Self::Redis(server) => server.continue_answering(),
            Self::Nats(server) => server.continue_answering(),
        }
    }

    pub fn address(&self) -> SocketAddr {
        match self {
            Self::Redis(server) => server.address(),
            Self::Nats(server) => server.address(),
        }
    }

    /// The answer of the server to a foreign publisher that speaks plain TCP.
    pub async fn publish_raw(&self, namespace: &str, channel: &str, payload: &str) {
        let mut stream = TcpStream::connect(self.address()).await.unwrap();
        let bytes = payload.len();
        let (text, answer): (_, &[u8]) = match self {
            Self::Redis(_) => {
                let name = format!("{namespace}:{channel}");
                (format!("*3\r\n$7\r\nPUBLISH\r\n${}\r\n{name}\r\n${bytes}\r\n{payload}\r\n", name.len()), b":")
            }
            Self::Nats(_) => (
                format!("CONNECT {{\"verbose\":false}}\r\nPUB {namespace}.{channel} {bytes}\r\n{payload}\r\nPING\r\n"),
                b"PONG\r\n",
            ),
        };
        stream.write_all(text.as_bytes()).await.unwrap();
        read_until(&mut stream, answer).await;
    }
}

pub async fn read_until(stream: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    use tokio::io::AsyncReadExt;
    let (mut all, mut buffer) = (Vec::new(), [0; 1_024]);
    while !all.windows(end.len()).any(|window| window == end) {
        let read = timeout(SOON, stream.read(&mut buffer)).await.expect("an answer").unwrap();
        assert!(read > 0, "the server closes: {}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&buffer[..read]);
    }
    all
}

/// A server behind a proxy.
pub struct Stage {
    pub kind: Kind,
    pub server: Server,
    pub proxy: Proxy,
}

impl Stage {
    pub async fn set(kind: Kind) -> Self {
        let server = match kind {
            Kind::Redis => Server::Redis(RedisServer::start(&[]).await),
            Kind::Nats => Server::Nats(NatsServer::start(&[]).await),
        };
        let proxy = Proxy::start(server.address()).await;
        Self { kind, server, proxy }
    }

    pub fn settings(&self) -> Settings {
        let address = self.proxy.address();
        let store = match self.kind {
            Kind::Redis => Store::Redis(RedisStore::Url(format!("redis://{address}").into())),
            Kind::Nats => {
                Store::Nats(NatsStore { urls: vec![format!("nats://{address}").into()], ..NatsStore::default() })
            }
        };
        Settings { timing: quick(), ..Settings::new(store) }
    }

    /// Opens a messenger, and waits until it is available.
    pub async fn messenger(&self) -> Messenger {
        opened(self.settings()).await
    }
}

/// As by default, but faster at dialling again.
pub fn quick() -> Timing {
    Timing {
        backoff_step: Duration::from_millis(2),
        backoff_max: Duration::from_millis(20),
        settle: Duration::from_millis(100),
        ..Timing::default()
    }
}

/// Notices within half a second that nothing is answered.
pub fn impatient() -> Timing {
    Timing { deadline: Duration::from_millis(400), probe: Duration::from_millis(100), ..quick() }
}

pub async fn opened(settings: Settings) -> Messenger {
    let messenger = Messenger::open(settings).unwrap();
    available(&messenger).await;
    messenger
}

pub async fn available(messenger: &Messenger) {
    let mut status = messenger.watch();
    let waited = timeout(SOON, status.wait_for(Status::is_available)).await;
    assert!(waited.is_ok(), "{:?}", messenger.status());
}

/// Waits until the status is unavailable, for a reason that is accepted.
pub async fn unavailable(messenger: &Messenger, accepted: &[Reason]) {
    let mut status = messenger.watch();
    let fits = |status: &Status| match status {
        Status::Available => false,
        Status::Unavailable { reason, .. } => accepted.contains(reason),
    };
    let waited = timeout(SOON, status.wait_for(fits)).await;
    assert!(waited.is_ok(), "{:?} is none of {accepted:?}", messenger.status());
}

pub async fn subscribed(messenger: &Messenger, channel: &str) -> Subscription {
    let subscription = messenger.subscribe(channel).unwrap();
    timeout(SOON, subscription.ready()).await.expect("an acknowledged subscription");
    subscription
}

pub async fn next(subscription: &mut Subscription) -> Event {
    timeout(SOON, subscription.next()).await.expect("an event").expect("a messenger that runs")
}

/// The next message, as text.
pub async fn heard(subscription: &mut Subscription) -> String {
    match next(subscription).await {
        Event::Message(payload) => String::from_utf8(payload.to_vec()).unwrap(),
        event => panic!("{event:?} instead of a message"),
    }
}

/// Skips messages until the recovery.
pub async fn recovered(subscription: &mut Subscription) {
    while next(subscription).await != Event::Recovered {}
}

/// The log lines at info and above, of everybody, while the guard lives.
#[derive(Clone, Default)]
pub struct Lines(Arc<Mutex<Vec<(Level, String)>>>);

impl Lines {
    pub fn capture() -> (Self, tracing::subscriber::DefaultGuard) {
        let lines = Self::default();
        let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(lines.clone()));
        (lines, guard)
    }

    pub fn all(&self) -> Vec<(Level, String)> {
        self.0.lock().unwrap().clone()
    }

    pub fn at(&self, level: Level) -> Vec<String> {
        self.all().into_iter().filter(|(of, _)| *of == level).map(|(_, text)| text).collect()
    }
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _context: Context<'_, S>) {
        struct Message(String);
        impl Visit for Message {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                if field.name() == "message" {
                    self.0 = format!("{value:?}");
                }
            }
        }
        if *event.metadata().level() <= Level::INFO {
            let mut message = Message(String::new());
            event.record(&mut message);
            self.0.lock().unwrap().push((*event.metadata().level(), message.0));
        }
    }
}
