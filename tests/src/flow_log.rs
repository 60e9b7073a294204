//! What the schedules of this process's servers have run. The runner gives each test a process of its own.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt as _, registry::LookupSpan};

/// One line of a `log` operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowLine {
    pub flow: String,
    /// The nominal occurrence.
    pub scheduled_at: String,
    pub message: String,
}

/// The lines since the start of the log.
#[derive(Clone, Debug, Default)]
pub struct FlowLog(Arc<Mutex<Vec<FlowLine>>>);

impl FlowLog {
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

    /// The lines so far.
    ///
    /// # Panics
    /// When a thread died while writing the log.
    #[must_use]
    pub fn lines(&self) -> Vec<FlowLine> {
        self.0.lock().expect("a whole log").clone()
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for FlowLog {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() != "waymark::flows" {
            return;
        }
        let mut line = FlowLine::default();
        event.record(&mut line);
        if let Ok(mut log) = self.0.lock() {
            log.push(line);
        }
    }
}

impl Visit for FlowLine {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "flow" => self.flow = text,
            "scheduled_at" => self.scheduled_at = text,
            "message" => self.message = text,
            _ => {}
        }
    }
}
