//! The connection and the bucket: dial, prove by a write, keep proving, drop and redial. A connection that failed is never
//! used again, so that nothing it still holds back is mistaken for an answer.

use percent_encoding::percent_decode_str;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

pub(super) use async_nats::datetime::DateTime;
use async_nats::jetstream::{self, kv, stream};
use async_nats::{ConnectOptions, Event, ServerAddr};

use super::marker::PROBE;
use super::{Nats, orphans};
use crate::coordinator::Unavailable;
use crate::error::InvalidSetting;
use crate::settings::NatsSettings;

/// A proven connection.
pub(super) struct Live {
    pub(super) number: u64,
    pub(super) client: async_nats::Client,
    pub(super) kv: kv::Store,
}

/// Checks the settings without connecting.
pub(super) fn check(settings: &NatsSettings) -> Result<Vec<ServerAddr>, InvalidSetting> {
    let refuse = |field, message: &str| Err(InvalidSetting::new(field, message));
    let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if settings.bucket.is_empty() || settings.bucket.len() > 200 || !settings.bucket.chars().all(valid) {
        return refuse("bucket", "only letters, digits, - and _ are allowed, at least one");
    }
    if settings.lease < Duration::from_millis(100) {
        return refuse("lease", "must be at least 100 ms");
    }
    if settings.history_ttl.is_some_and(|ttl| ttl < settings.lease * 2) {
        return refuse(
            "history_ttl",
            "must be at least twice the lease: a marker that expires no longer protects its run",
        );
    }
    if settings.max_attempts == 0 {
        return refuse("max_attempts", "must be more than 0");
    }
    if let Some(credentials) = &settings.credentials
        && ConnectOptions::with_credentials(credentials).is_err()
    {
        return refuse("credentials", "expected the contents of a .creds file");
    }
    let servers: Result<Vec<ServerAddr>, _> = settings.url.split(',').map(|url| url.trim().parse()).collect();
    match servers {
        Ok(servers) if servers.iter().all(|server| !server.host().is_empty()) => Ok(servers),
        // the parser's error may repeat the URL, which may hold a password
        _ => refuse("url", "expected nats://host[:port] or tls://host[:port], several separated by commas"),
    }
}

/// User and password of the first server's URL.
fn in_url(servers: &[ServerAddr]) -> Option<(String, String)> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let server = servers.first()?;
    Some((decoded(server.username()?), decoded(server.password().unwrap_or_default())))
}

/// Says once that the first connection did not come; never ends.
pub(super) async fn readiness(nats: &Nats) {
    tokio::time::sleep(nats.settings.deadlines.readiness).await;
    nats.health.tell();
    std::future::pending().await
}

pub(super) async fn supervise(nats: Arc<Nats>) {
    let mut attempt = 0_u32;
    let mut watched = orphans::Watched::default();
    loop {
        match dial(&nats).await {
            Ok(live) => {
                attempt = 0;
                tokio::select! {
                    () = watch_over(&nats, &live) => {}
                    () = orphans::watch(&nats, &live, &mut watched) => {}
                }
            }
            Err(reason) => {
                nats.health.unavailable(&reason);
                tokio::time::sleep(nats.settings.deadlines.redial(attempt)).await;
                attempt = attempt.saturating_add(1);
            }
        }
    }
}

async fn dial(nats: &Arc<Nats>) -> Result<Arc<Live>, String> {
    let number = {
        let mut live = nats.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.0 += 1;
        live.0
    };
    let deadline = nats.settings.deadlines.command;
    let opened = async {
        let client = options(nats, number)?.connect(&nats.servers[..]).await.map_err(|error| error.to_string())?;
        let context = jetstream::new(client.clone());
        let kv = bucket(&context, &nats.settings).await?;
        let live = Live { number, client, kv };
        live.kv.put(PROBE, "".into()).await.map_err(|error| error.to_string())?;
        Ok::<_, String>(Arc::new(live))
    };
    // several requests, each of which may take the deadline
    let live = match tokio::time::timeout(deadline * 2, opened).await {
        Ok(opened) => opened?,
        Err(_) => return Err("no connection within the deadline".to_owned()),
    };
    let mut slot = nats.live.lock().unwrap_or_else(PoisonError::into_inner);
    slot.1 = Some(live.clone());
    nats.health.available();
    Ok(live)
}

fn options(nats: &Arc<Nats>, number: u64) -> Result<ConnectOptions, String> {
    let (settings, deadlines) = (&nats.settings, &nats.settings.deadlines);
    let mut options = match &settings.credentials {
        Some(credentials) => ConnectOptions::with_credentials(credentials).map_err(|error| error.to_string())?,
        None => ConnectOptions::new(),
    };
    // The client does not look for a user in a URL.
    if let Some((user, password)) = settings.user.clone().or_else(|| in_url(&nats.servers)) {
        options = options.user_and_password(user, password);
    }
    if let Some(token) = &settings.token {
        options = options.token(token.clone());
    }
    // this delay also comes before the first attempt; the redials of a lost connection are not used, see `supervise`
    let (redial, servers) = (deadlines.redial_max, nats.servers.len());
    let owner = Arc::downgrade(nats);
    Ok(options
        .name("waymark-schedule")
        .connection_timeout(deadlines.command)
        .request_timeout(Some(deadlines.command))
        .ping_interval(deadlines.probe_every.max(Duration::from_secs(1)))
        .reconnect_delay_callback(move |attempt| if attempt > servers { redial } else { Duration::ZERO })
        .event_callback(move |event| {
            let owner = owner.clone();
            async move {
                if let (Event::Disconnected | Event::Closed, Some(nats)) = (event, owner.upgrade()) {
                    nats.drop_connection(number, "the connection was lost");
                }
            }
        }))
}

/// The bucket, created if missing, never altered.
async fn bucket(context: &jetstream::Context, settings: &NatsSettings) -> Result<kv::Store, String> {
    if let Ok(store) = context.get_key_value(&settings.bucket).await {
        return Ok(store);
    }
    // not `create_key_value`: it reads account details that servers before 2.10 don't give
    let created = context
        .create_stream(stream::Config {
            name: format!("KV_{}", settings.bucket),
            subjects: vec![format!("$KV.{}.>", settings.bucket)],
            max_messages_per_subject: 1,
            max_age: settings.history_ttl.unwrap_or_default(),
            discard: stream::DiscardPolicy::New,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            num_replicas: settings.copies.max(1),
            ..Default::default()
        })
        .await;
    match context.get_key_value(&settings.bucket).await {
        Ok(store) => Ok(store),
        Err(error) => Err(created.err().map_or_else(|| error.to_string(), |error| error.to_string())),
    }
}

/// Returns when the connection has failed.
async fn watch_over(nats: &Arc<Nats>, live: &Live) {
    loop {
        tokio::select! {
            () = nats.failed.notified() => {}
            () = tokio::time::sleep(nats.settings.deadlines.probe_every) => {}
        }
        if !nats.live().is_ok_and(|current| current.number == live.number) || server_now(nats, live).await.is_err() {
            return;
        }
    }
}

/// The bucket's clock in ms since the epoch: the time of a probe written just now.
pub(super) async fn server_now(nats: &Nats, live: &Live) -> Result<(i64, DateTime), Unavailable> {
    let deadline = nats.settings.deadlines.command;
    let subject = format!("{}{PROBE}", live.kv.prefix);
    nats.within(live, deadline, live.kv.put(PROBE, "".into())).await?;
    // asked of the stream's leader, whose newest probe is ours or a later one
    let probe = nats.within(live, deadline, live.kv.stream.get_last_raw_message_by_subject(&subject)).await?;
    Ok((millis(probe.time), probe.time))
}

pub(super) fn millis(time: DateTime) -> i64 {
    i64::try_from(time.unix_timestamp_nanos() / 1_000_000).unwrap_or_default()
}
