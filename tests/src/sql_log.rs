//! The statements that the servers of this process send. The runner gives each test a process of its
//! own; a test that counts statements starts one server.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt as _, registry::LookupSpan};

/// What has been sent since the start of the log or the last [`SqlLog::take`].
#[derive(Clone, Debug, Default)]
pub struct SqlLog(Arc<Mutex<Vec<String>>>);

impl SqlLog {
    /// Starts the log of this process; to be called once.
    ///
    /// # Panics
    /// When something else takes the events of this process.
    #[must_use]
    pub fn start() -> Self {
        let log = Self::default();
        let subscriber = tracing_subscriber::registry().with(log.clone());
        tracing::subscriber::set_global_default(subscriber).expect("the only subscriber of this process");
        log
    }

    /// The statements sent so far, which are forgotten.
    ///
    /// # Panics
    /// When a thread died while writing the log.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("a whole log"))
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SqlLog {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() != "waymark::sql" {
            return;
        }
        let mut sql = Sql(None);
        event.record(&mut sql);
        if let (Some(sql), Ok(mut log)) = (sql.0, self.0.lock()) {
            log.push(sql);
        }
    }
}

struct Sql(Option<String>);

impl Visit for Sql {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "sql" {
            self.0 = Some(format!("{value:?}"));
        }
    }
}
