//! Who decides which replica runs a schedule, and in which zone.

use std::time::Duration;

use super::{
    Reader,
    messenger::{Messenger, STORES, Store},
};

#[derive(Clone, Debug)]
pub struct Schedule {
    pub store: Store,
    /// An IANA name; of schedules without a zone of their own.
    pub timezone: String,
    pub nats_bucket: String,
    /// How long a new bucket keeps its entries; `None`: for ever.
    pub history_ttl: Option<Duration>,
    pub lock_ttl: Duration,
    pub catch_up_max: usize,
}

impl Schedule {
    pub fn read(reader: &mut Reader<'_>, messenger: &Messenger) -> Self {
        let chosen = reader.choice("SCHEDULE_STORE", STORES);
        let store = chosen.unwrap_or(messenger.store);
        let named = if chosen.is_some() { "SCHEDULE_STORE" } else { "MESSENGER_STORE" };
        for (of, variable, present, example) in [
            (
                Store::Redis,
                "MESSENGER_REDIS",
                messenger.redis.is_some(),
                "a URL (redis://host:6379), or MESSENGER_REDIS_HOST",
            ),
            (Store::Nats, "MESSENGER_NATS", !messenger.nats.servers.is_empty(), "URLs (nats://host:4222)"),
        ] {
            if !present && (messenger.store == of || store == of) {
                reader.problem(variable, &format!("not set, though {named} needs it"), example);
            }
        }
        let lock_ttl = reader.duration_from("SCHEDULE_LOCK_TTL", Duration::from_secs(1));
        Self {
            store,
            timezone: zone(reader),
            nats_bucket: reader.text("SCHEDULE_NATS_BUCKET"),
            history_ttl: reader.optional_duration("SCHEDULE_HISTORY_TTL"),
            lock_ttl,
            catch_up_max: usize::try_from(reader.number("SCHEDULE_CATCH_UP_MAX", 1..=100_000)).unwrap_or(1),
        }
    }
}

/// Other names of UTC: replicas that say it differently agree all the same.
const UTC: &[&str] =
    &["Etc/UTC", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal", "GMT", "Etc/GMT", "Etc/Greenwich"];

/// `SCHEDULE_TIMEZONE`, else `TZ` (in its form with a colon too), else UTC.
fn zone(reader: &mut Reader<'_>) -> String {
    for name in ["SCHEDULE_TIMEZONE", "TZ"] {
        let Some(text) = reader.optional_text(name) else { continue };
        let zone = text.strip_prefix(':').unwrap_or(&text);
        if zone.is_empty() {
            continue;
        }
        if waymark_schedule::parse_timezone(zone).is_err() {
            let accepted = "the IANA name of a time zone (Europe/Berlin); SCHEDULE_TIMEZONE counts before TZ";
            let is = super::parse::shape(&text);
            reader.problem(name, &is, accepted);
        }
        return if UTC.contains(&zone) { "UTC".to_owned() } else { zone.to_owned() };
    }
    "UTC".to_owned()
}
