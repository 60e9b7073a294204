//! Prints how long a message takes from one replica to another, and how many go through in a
//! second, on each store. Starts the servers itself.
//!
//! ```text
//! cargo run --release -p waymark-messenger --example latency
//! ```

use std::{
    error::Error,
    time::{Duration, Instant},
};

use waymark_messenger::{Event, LocalBus, Messenger, NatsStore, RedisStore, Settings, Status, Store, Subscription};
use waymark_rig::{NatsServer, RedisServer};

const MESSAGES: u32 = 5_000;
const FLOOD: u32 = 50_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let redis = RedisServer::start(&[]).await;
    let nats = NatsServer::start(&[]).await;
    println!("{:<6} {:>10} {:>10} {:>10} {:>14}", "store", "p50 µs", "p99 µs", "max µs", "messages/s");
    measure("local", &Store::Local(LocalBus::default())).await?;
    measure("redis", &Store::Redis(RedisStore::Url(redis.url().into()))).await?;
    let urls = vec![nats.url().into()];
    measure("nats", &Store::Nats(NatsStore { urls, ..NatsStore::default() })).await?;
    Ok(())
}

async fn measure(name: &str, store: &Store) -> Result<(), Box<dyn Error>> {
    let (one, other) = (open(store).await?, open(store).await?);
    let mut subscription = other.subscribe("latency")?;
    subscription.ready().await;
    let mut times = Vec::new();
    for _ in 0..MESSAGES {
        let start = Instant::now();
        one.publish("latency", &b"0123456789abcdef0123456789abcdef"[..]);
        next(&mut subscription).await;
        times.push(start.elapsed());
    }
    times.sort();
    let at = |percent: usize| times.get((times.len() - 1) * percent / 100).copied().unwrap_or_default();
    let start = Instant::now();
    for number in 0..FLOOD {
        one.publish("latency", &b"0123456789abcdef0123456789abcdef"[..]);
        // No more on the way than a subscription holds.
        if number >= 500 {
            next(&mut subscription).await;
        }
    }
    let rate = f64::from(FLOOD - 500) / start.elapsed().as_secs_f64();
    let micros = |time: Duration| time.as_micros();
    println!("{name:<6} {:>10} {:>10} {:>10} {rate:>14.0}", micros(at(50)), micros(at(99)), micros(at(100)));
    one.stop().await;
    other.stop().await;
    Ok(())
}

async fn open(store: &Store) -> Result<Messenger, Box<dyn Error>> {
    let messenger = Messenger::open(Settings::new(store.clone()))?;
    messenger.watch().wait_for(Status::is_available).await?;
    Ok(messenger)
}

async fn next(subscription: &mut Subscription) {
    while !matches!(subscription.next().await, Some(Event::Message(_)) | None) {}
}
