//! Schedules that fire once across replicas: cron expressions or fixed periods, one process or many, without a leader.
//!
//! A [`Scheduler`] runs the ticks of registered schedules. Its store decides which replica runs an occurrence:
//!
//! | | [`Local`](StoreSettings::Local) | [`Redis`](StoreSettings::Redis): claims | [`Nats`](StoreSettings::Nats): leases |
//! |---|---|---|---|
//! | one occurrence runs | on this process, once | on at most one replica | on one replica, again only if its holder died |
//! | a crash in the middle of a run | lost | lost | taken over after the lease, as attempt 2 |
//! | missed while all replicas are down | skipped | skipped | by [`CatchUp`] |
//! | the store is away | – | nothing runs, nothing is made up for | nothing runs; made up for by [`CatchUp`] |
//! | history | last 100, in memory | last 100, in the winner's memory | in the bucket |
//! | [`CatchUp`] other than `Skip` | refused | refused | supported |
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use waymark_schedule::{Overlap, Scheduler, Settings, Spec, StoreSettings, SystemClock, Tick, Triggered};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scheduler = Scheduler::open(Settings::new(StoreSettings::Local), Arc::new(SystemClock::new()))?;
//! let nightly = scheduler.register(
//!     Spec::cron("clean-up", "0 30 2 * * *").timezone("Europe/Berlin").overlap(Overlap::Skip),
//!     |tick: Tick| async move {
//!         println!("{} of {}, attempt {}", tick.name, tick.scheduled_at, tick.attempt);
//!         Ok(())
//!     },
//! )?;
//! assert!(nightly.next().is_some());
//! assert!(matches!(nightly.trigger(Some("release 12")).await?, Triggered::Ran(_)));
//! assert_eq!(nightly.trigger(Some("release 12")).await?, Triggered::Duplicate);
//! scheduler.stop(Duration::from_secs(10)).await;
//! # Ok(())
//! # }
//! ```
//!
//! # Occurrences
//! An occurrence is *nominal*: the instant the expression names, or a multiple of the period since 1970. It is the same on
//! every replica whenever that started, and [`Tick::scheduled_at`] is never "now" (except for a trigger). The identity of a
//! schedule is its name, never its expression.
//!
//! # Clocks and zones
//! - Every replica asks its own clock when an occurrence is due, and reads it again after each sleep (of at most 1 s).
//! - An occurrence that comes more than 2 s late *on its own timer* (the machine slept, the process hung, the clock jumped
//!   ahead) is skipped and counted; with `catch_up` it is made up for. How wrong the clock is does not matter for that.
//! - A clock set back fires again only what has not fired under that name. So a clock that was far ahead and fired keeps the
//!   schedule silent until that time comes; on Redis the claim in the store does the same for all replicas.
//! - Clocks that differ cause no second run. On Redis, claims only move forward: a replica that is 3 s ahead wins and runs
//!   3 s early; at the moment it joins, the occurrences between the clocks are passed over. On NATS each occurrence has a
//!   key of its own, so none is lost, and the age of a lease is judged by the bucket's timestamps alone.
//! - Fields of an expression are read in the schedule's zone, or the scheduler's. All replicas must use the same: zones that
//!   differ name different instants, and each of them is run. Nothing here can notice that; compare zones among replicas.
//!
//! # Cron
//! The grammar is [croner](https://docs.rs/croner)'s with fixed settings: five fields, or six with seconds first; no year;
//! names; `*`, lists, ranges, steps; `L`, `W`, `LW`, `#`, `#L`; weekday 7 is Sunday; `?` is `*`; `@daily` and its kind.
//! A restricted day of month *and* a restricted weekday must **both** match (`0 0 0 13 * 5` is Friday the 13th), so a `+`
//! before the weekday changes nothing.
//!
//! What to know of croner, and what is checked beside it:
//! - Ranges run upwards. `FRI-MON`, `22-3`, `NOV-FEB` are refused; write `FRI-SUN,MON`, `22,23,0-3`, `11,12,1,2`.
//! - `0/10`, `L-3`, `H`, `@reboot`, `@every` are refused. A step beyond its field (`*/100`) leaves the field's start.
//! - `*/47` in seconds fires at :00 and :47: a step counts within the field.
//! - `31W` matches only in months with a 31st. `W` never leaves the month.
//! - croner takes empty parts of lists (`,` or `1,,2`), which may leave a field without any value, and expressions that match
//!   no day (`0 9 31 2 *`), for which it would search thousands of years. Both are refused here.
//!
//! When the clock is changed, a job with one fixed second, minute and hour is told apart from all others:
//! - *fixed*: a time in the gap runs right after the gap (02:30 → 03:00; midnight in Santiago → 01:00); a time that comes
//!   twice runs at its first.
//! - *interval* (any of the three is `*`, a list, a range or a step): runs at exactly the instants whose local time matches:
//!   not at all in the gap, in both passes of the hour that comes twice. So `30 1-3 * * *` is an interval.
//!
//! # Overlap
//! [`Overlap`] is judged on the replica: `Skip` drops a tick before it is claimed, so another replica may run it; `Queue` claims
//! in time and then waits. Timer, trigger, catch-up and takeover pass the same chain, which no error or panic breaks.
//!
//! # Redis claims
//! `ZADD <namespace>:schedule-coordination GT CH <ms> <name>` answers 1 to one replica. Claims are never released. Needs
//! Redis ≥ 6.2 or Valkey; a store that is away, refuses or is too slow (5 s) means no run, and an answer that comes later starts
//! none. A failover that loses the newest writes can grant a claim again: make ticks idempotent by name and
//! [`Tick::key`] where that matters. Manual keys live as `<namespace>:schedule-manual:<length of name>:<name>:<key>`
//! for a day.
//!
//! # NATS leases
//! Bucket `scheduler`, created if missing and never altered. `run.<name>.<occurrence>` is created by the holder, rewritten
//! every third of the lease, and ended with the revision the holder knows, so whoever was taken over can't overwrite its
//! successor. Takeover is a write on the revision of a marker that was not renewed for a whole lease; a holder that could
//! not renew in time has its tick's token cancelled. A claim whose answer did not come in time is closed as failed when the
//! store is back. `last.<name>` (written at most every 5 s, and at the end) is where catch-up begins. A tick that
//! ended but could not say so before its process died runs again: make it idempotent.
//! After five attempts that all died a run is given up. Names are written with `=XX` for what keys don't allow.

mod background;
mod catch_up;
mod clock;
mod coordinator;
mod cron;
mod error;
mod history;
mod metrics;
mod overlap;
mod registration;
mod runner;
mod scheduler;
mod settings;
mod spec;
mod table;

pub use clock::{Clock, SimulatedClock, SystemClock};
pub use coordinator::{RECOVERED, Status, UNAVAILABLE};
pub use cron::{CronSchedule, parse_cron, parse_timezone};
pub use error::{InvalidSetting, RegisterError, TickError, TriggerError};
pub use history::{Origin, Outcome, RunRecord};
pub use metrics::{LATENESS_BUCKETS_MS, Lateness, MetricsSnapshot};
pub use registration::{Registration, Triggered};
pub use scheduler::{ScheduleInfo, Scheduler, Stopped};
pub use settings::{Deadlines, NatsSettings, RedisSettings, Settings, StoreSettings};
pub use spec::{Cadence, CatchUp, Handler, OnError, Overlap, Spec, Tick};
