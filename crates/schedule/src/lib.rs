//! Cron schedules that fire once across replicas.

mod clock;
mod coordinator;
mod cron;
mod error;
mod history;
mod metrics;
mod overlap;
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
pub use scheduler::{Registration, ScheduleInfo, Scheduler, Stopped, Triggered};
pub use settings::{Deadlines, NatsSettings, RedisSettings, Settings, StoreSettings};
pub use spec::{Cadence, CatchUp, Handler, OnError, Overlap, Spec, Tick};
