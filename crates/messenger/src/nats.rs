//! The store on NATS: core publish and subscribe. A connection of the client is used until it
//! breaks and is then thrown away with everything that belongs to it; the client's own
//! reconnecting, which would repeat subscriptions without telling, is never made use of.

mod addresses;
mod confined;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerError, Subscriber, client::PublishErrorKind};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    health::Reason,
    link::{Delivery, Dialer, Link},
    name,
    queue::Outgoing,
    settings::{InvalidSetting, NatsStore},
};
use addresses::Addresses;
use confined::Confined;

/// Messages of one channel between the client's reading and ours, which waits for nobody.
const CAPACITY: usize = 8_192;
/// Commands between us and the client's writing.
const COMMANDS: usize = 256;

pub(crate) struct NatsDialer {
    addresses: Addresses,
    /// `<namespace>.`
    prefix: Arc<str>,
    /// `<namespace>.messenger-probe.<replica>`: each replica hears its own probes only.
    probe: Arc<str>,
    deadline: Duration,
}

impl NatsDialer {
    pub(crate) fn new(store: &NatsStore, namespace: &str, deadline: Duration) -> Result<Self, InvalidSetting> {
        let addresses = Addresses::new(store)?;
        let token = uuid::Uuid::new_v4().simple();
        let probe = format!("{namespace}.{}.{token}", name::PROBE).into();
        Ok(Self { addresses, prefix: format!("{namespace}.").into(), probe, deadline })
    }
}

#[async_trait]
impl Dialer for NatsDialer {
    fn store(&self) -> &'static str {
        "nats"
    }

    async fn dial(&self, delivery: Delivery) -> Result<Box<dyn Link>, Reason> {
        let (end, _) = watch::channel(None);
        let end = Arc::new(end);
        let connected = Arc::new(AtomicBool::new(false));
        let options = self.addresses.options()?;
        let options = options
            .connection_timeout(self.deadline / self.addresses.count())
            // Ours are more frequent; two unanswered ones end the connection.
            .ping_interval(self.deadline)
            .subscription_capacity(CAPACITY)
            .client_capacity(COMMANDS)
            .reconnect_delay_callback(once(connected.clone()))
            .event_callback(events(end.clone(), delivery.clone(), self.probe.clone()));
        let confined = Confined::new().map_err(|_| Reason::Failed)?;
        let servers = self.addresses.servers();
        let dialled = confined.run(connect(options, servers, self.probe.to_string(), connected)).await;
        let (client, probes) = dialled.ok_or(Reason::Failed)??;
        let heard = watch::Sender::new(0);
        let link = NatsLink {
            prefix: self.prefix.clone(),
            probe: self.probe.clone(),
            client,
            end,
            heard: heard.subscribe(),
            asked: AtomicU64::new(0),
            listening: Mutex::default(),
            delivery,
            confined,
        };
        link.confined.keep(hear_probes(probes, heard));
        Ok(Box::new(link))
    }
}

async fn connect(
    options: ConnectOptions,
    servers: Vec<async_nats::ServerAddr>,
    probe: String,
    connected: Arc<AtomicBool>,
) -> Result<(Client, Subscriber), Reason> {
    let client = options.connect(servers).await.map_err(|error| match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => Reason::Authentication,
        ConnectErrorKind::TimedOut => Reason::TimedOut,
        ConnectErrorKind::Tls => Reason::Tls,
        ConnectErrorKind::Dns | ConnectErrorKind::Io => Reason::Refused,
        ConnectErrorKind::ServerParse | ConnectErrorKind::MaxReconnects => Reason::Failed,
    })?;
    connected.store(true, Ordering::SeqCst);
    let probes = client.subscribe(probe).await.map_err(|_| Reason::Disconnected)?;
    Ok((client, probes))
}

/// No delay between the servers of the first attempt; after it the client never comes to another.
fn once(connected: Arc<AtomicBool>) -> impl Fn(usize) -> Duration + Send + Sync + 'static {
    move |_| if connected.load(Ordering::SeqCst) { Duration::from_secs(86_400) } else { Duration::ZERO }
}

/// What the client tells beside messages.
fn events(
    end: Arc<watch::Sender<Option<Reason>>>,
    delivery: Delivery,
    probe: Arc<str>,
) -> impl Fn(Event) -> std::future::Ready<()> + Send + Sync + 'static {
    move |event| {
        let reason = match event {
            Event::Disconnected | Event::Closed => Some(Reason::Disconnected),
            Event::ServerError(ServerError::AuthorizationViolation) => Some(Reason::Authentication),
            Event::ServerError(ServerError::Other(text)) => {
                let text = text.to_lowercase();
                let refused = text.contains("permissions violation");
                if refused && (text.contains("subscription") || text.contains(&*probe)) {
                    Some(Reason::NotPermitted)
                } else {
                    if refused {
                        delivery.counters.dropped_refused.increase();
                    }
                    None
                }
            }
            Event::SlowConsumer(_) => {
                delivery.hub.lost();
                None
            }
            _ => None,
        };
        if let Some(reason) = reason {
            end.send_if_modified(|end| end.is_none() && end.replace(reason).is_none());
        }
        std::future::ready(())
    }
}

async fn hear_probes(mut probes: Subscriber, heard: watch::Sender<u64>) {
    while let Some(message) = probes.next().await {
        if let Ok(number) = message.payload[..].try_into().map(u64::from_be_bytes) {
            heard.send_replace(number);
        }
    }
}

struct NatsLink {
    prefix: Arc<str>,
    probe: Arc<str>,
    client: Client,
    end: Arc<watch::Sender<Option<Reason>>>,
    heard: watch::Receiver<u64>,
    asked: AtomicU64,
    listening: Mutex<HashMap<String, CancellationToken>>,
    delivery: Delivery,
    confined: Confined,
}

impl NatsLink {
    async fn send(&self, subject: String, payload: Bytes) -> Result<(), Reason> {
        match self.client.publish(subject, payload).await {
            Ok(()) => Ok(()),
            // Larger than this server takes: no reason to give up the connection.
            Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                self.delivery.counters.dropped_refused.increase();
                Ok(())
            }
            Err(_) => Err(Reason::Disconnected),
        }
    }

    /// There and back: the server has dealt with everything that was sent before.
    async fn round_trip(&self) -> Result<(), Reason> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        self.send(self.probe.to_string(), Bytes::copy_from_slice(&number.to_be_bytes())).await?;
        let mut heard = self.heard.clone();
        let waited = heard.wait_for(|heard| *heard >= number).await;
        waited.map(|_| ()).map_err(|_| Reason::Disconnected)
    }
}

#[async_trait]
impl Link for NatsLink {
    async fn subscribe(&self, channels: &[String]) -> Result<(), Reason> {
        for channel in channels {
            let subject = format!("{}{channel}", self.prefix);
            let subscriber = self.client.subscribe(subject).await.map_err(|_| Reason::Disconnected)?;
            let unwanted = CancellationToken::new();
            let listening = listen(subscriber, channel.clone(), self.delivery.clone(), unwanted.clone());
            self.confined.keep(listening);
            let mut all = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
            all.insert(channel.clone(), unwanted);
        }
        // A refusal is told before the answer, on another way: the second answer is surely later.
        self.round_trip().await?;
        self.round_trip().await
    }

    async fn unsubscribe(&self, channels: &[String]) -> Result<(), Reason> {
        let mut all = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        for unwanted in channels.iter().filter_map(|channel| all.remove(channel)) {
            unwanted.cancel();
        }
        Ok(())
    }

    async fn publish(&self, batch: &[Outgoing]) -> Result<(), Reason> {
        for message in batch {
            self.send(format!("{}{}", self.prefix, message.channel), message.payload.clone()).await?;
        }
        self.client.flush().await.map_err(|_| Reason::Disconnected)
    }

    async fn probe(&self) -> Result<(), Reason> {
        self.round_trip().await
    }

    async fn ended(&self) -> Reason {
        let mut end = self.end.subscribe();
        match end.wait_for(Option::is_some).await {
            Ok(reason) => reason.unwrap_or(Reason::Disconnected),
            Err(_) => Reason::Disconnected,
        }
    }
}

async fn listen(mut subscriber: Subscriber, channel: String, delivery: Delivery, unwanted: CancellationToken) {
    loop {
        tokio::select! {
            // First of all: the same channel may be subscribed again already, and hears for itself.
            biased;
            () = unwanted.cancelled() => {
                let _ = subscriber.unsubscribe().await;
                return;
            }
            message = subscriber.next() => match message {
                Some(message) => delivery.deliver(&channel, &message.payload),
                None => return,
            },
        }
    }
}
