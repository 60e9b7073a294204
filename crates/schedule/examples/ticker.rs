//! A process that registers named schedules from its arguments and prints each run as a JSON line, until SIGTERM.
//!
//! ```text
//! ticker --store redis --url redis://127.0.0.1 --namespace demo --schedules 3 --cron '* * * * * *'
//! ticker --store nats --url nats://127.0.0.1 --every 1000 --work-ms 200 --overlap queue --catch-up all --lease-ms 3000
//! ```
//! Lines: `{"event":"ready"}`, `{"event":"start"|"end","name","scheduled_at","started_at","replica","attempt"}`,
//! `{"event":"stopped","how","metrics"}`. The log goes to the error output.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use waymark_schedule::{
    CatchUp, NatsSettings, Overlap, RedisSettings, Scheduler, Settings, Spec, StoreSettings, SystemClock, Tick,
    TickError,
};

type Failure = Box<dyn std::error::Error>;

struct Arguments(HashMap<String, String>);

impl Arguments {
    fn read() -> Result<Self, Failure> {
        let mut found = HashMap::new();
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            let name = name.strip_prefix("--").ok_or("arguments are --name value")?.to_owned();
            let value = arguments.next().ok_or("an argument lacks its value")?;
            found.insert(name, value);
        }
        Ok(Self(found))
    }

    fn text<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.0.get(name).map_or(default, String::as_str)
    }

    fn number(&self, name: &str, default: i64) -> Result<i64, Failure> {
        self.0.get(name).map_or(Ok(default), |text| text.parse().map_err(|_| format!("--{name} is no number").into()))
    }

    fn millis(&self, name: &str, default: u64) -> Result<Duration, Failure> {
        Ok(Duration::from_millis(self.number(name, i64::try_from(default)?)?.try_into()?))
    }
}

fn settings(arguments: &Arguments) -> Result<Settings, Failure> {
    let store = match arguments.text("store", "local") {
        "local" => StoreSettings::Local,
        "redis" => {
            let mut redis = RedisSettings::new(
                arguments.text("url", "redis://127.0.0.1:6379"),
                arguments.text("namespace", "ticker"),
            );
            redis.deadlines.command = arguments.millis("deadline-ms", 5_000)?;
            StoreSettings::Redis(redis)
        }
        "nats" => {
            let mut nats = NatsSettings::new(arguments.text("url", "nats://127.0.0.1:4222"));
            arguments.text("bucket", "scheduler").clone_into(&mut nats.bucket);
            nats.lease = arguments.millis("lease-ms", 300_000)?;
            nats.deadlines.command = arguments.millis("deadline-ms", 5_000)?;
            StoreSettings::Nats(nats)
        }
        _ => return Err("--store is local, redis or nats".into()),
    };
    let mut settings = Settings::new(store);
    if let Some(replica) = arguments.0.get("replica") {
        settings.replica.clone_from(replica);
    }
    settings.timezone = waymark_schedule::parse_timezone(arguments.text("timezone", "UTC"))?;
    Ok(settings)
}

fn spec(arguments: &Arguments, name: &str) -> Result<Spec, Failure> {
    let spec = match arguments.0.get("every") {
        Some(_) => Spec::every(name, arguments.number("every", 1_000)?.try_into()?),
        None => Spec::cron(name, arguments.text("cron", "* * * * * *")),
    };
    let overlap = match arguments.text("overlap", "allow") {
        "allow" => Overlap::Allow,
        "skip" => Overlap::Skip,
        "queue" => Overlap::Queue,
        _ => return Err("--overlap is allow, skip or queue".into()),
    };
    let catch_up = match arguments.text("catch-up", "skip") {
        "skip" => CatchUp::Skip,
        "last" => CatchUp::Last,
        "all" => CatchUp::All,
        _ => return Err("--catch-up is skip, last or all".into()),
    };
    Ok(spec.overlap(overlap).catch_up(catch_up))
}

fn iso(instant: DateTime<Utc>) -> String {
    instant.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn print(event: &str, replica: &str, tick: &Tick) {
    let line = json!({
        "event": event,
        "name": &*tick.name,
        "key": tick.key,
        "scheduled_at": iso(tick.scheduled_at),
        "started_at": iso(Utc::now()),
        "replica": replica,
        "attempt": tick.attempt,
    });
    println!("{line}");
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_max_level(tracing::Level::INFO).init();
    let arguments = Arguments::read()?;
    let settings = settings(&arguments)?;
    let replica: Arc<str> = settings.replica.as_str().into();
    let clock = SystemClock::with_offset(TimeDelta::milliseconds(arguments.number("clock-offset-ms", 0)?));
    let scheduler = Scheduler::open(settings, Arc::new(clock))?;
    let work = arguments.millis("work-ms", 0)?;
    for number in 0..arguments.number("schedules", 1)? {
        let name = format!("{}{number}", arguments.text("name", "schedule-"));
        let replica = replica.clone();
        let tick = move |tick: Tick| {
            let replica = replica.clone();
            async move {
                print("start", &replica, &tick);
                tokio::select! {
                    () = tokio::time::sleep(work) => {}
                    () = tick.cancellation.cancelled() => return Err(TickError::from("cancelled")),
                }
                print("end", &replica, &tick);
                Ok(())
            }
        };
        scheduler.register(spec(&arguments, &name)?, tick)?;
    }
    let mut terminate = signal(SignalKind::terminate())?;
    let available = scheduler.ready(Duration::from_secs(10)).await;
    println!("{}", json!({"event": "ready", "replica": &*replica, "available": available}));
    terminate.recv().await;
    let how = scheduler.stop(Duration::from_secs(10)).await;
    let metrics = scheduler.metrics();
    let lateness = &metrics.lateness;
    println!(
        "{}",
        json!({
            "event": "stopped", "replica": &*replica, "how": format!("{how:?}"), "won": metrics.claims_won,
            "lost": metrics.claims_lost, "failed": metrics.claims_failed, "runs": metrics.runs, "errors": metrics.errors,
            "late": metrics.skipped_late, "taken_over": metrics.taken_over, "caught_up": metrics.caught_up,
            "p50_ms": lateness.quantile_ms(0.5), "p99_ms": lateness.quantile_ms(0.99),
        })
    );
    Ok(())
}
