//! A replica that publishes the lines of its input and prints what it hears.
//!
//! ```text
//! cargo run -p waymark-messenger --example chat -- redis://127.0.0.1 ann
//! cargo run -p waymark-messenger --example chat -- nats://127.0.0.1 bob
//! ```
//! `/who` lists the replicas, the end of the input ends it.

use std::error::Error;

use tokio::sync::mpsc;
use waymark_messenger::{Event, Messenger, NatsStore, RedisStore, Settings, Store};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| "local".to_owned());
    let name = arguments.next().unwrap_or_else(|| "somebody".to_owned());
    let store = match url.split_once("://") {
        Some(("nats" | "tls", _)) => Store::Nats(NatsStore { urls: vec![url.into()], ..NatsStore::default() }),
        Some(_) => Store::Redis(RedisStore::Url(url.into())),
        None => Store::local(),
    };
    let mut settings = Settings::new(store);
    settings.identity.host.clone_from(&name);
    let messenger = Messenger::open(settings)?;
    let mut chat = messenger.subscribe("chat")?;
    let (lines, mut input) = mpsc::channel(16);
    let reading = tokio::task::spawn_blocking(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if lines.blocking_send(line).is_err() {
                break;
            }
        }
    });
    loop {
        tokio::select! {
            line = input.recv() => match line.as_deref() {
                None => break,
                Some("/who") => for replica in messenger.topology().replicas {
                    println!("- {} since {}", replica.host, replica.started);
                },
                Some(line) => messenger.publish("chat", format!("{name}: {line}")),
            },
            event = chat.next() => match event {
                Some(Event::Message(payload)) => println!("{}", String::from_utf8_lossy(&payload)),
                Some(Event::Lagged(count)) => println!("({count} messages missed)"),
                Some(Event::Recovered) => println!("(messages may have been missed)"),
                None => break,
            },
        }
    }
    messenger.stop().await;
    reading.await?;
    Ok(())
}
