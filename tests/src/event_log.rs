//! What the servers of this process log under one target, as values. The runner gives each test a process of its own.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt as _, registry::LookupSpan};

/// One event of a target.
pub trait Line: Visit + Clone + Default + Send + 'static {
    const TARGET: &'static str;
}

/// The events since the start of the log.
#[derive(Clone, Debug)]
pub struct EventLog<L>(Arc<Mutex<Vec<L>>>);

/// The statements that are sent; a test that counts statements starts one server.
pub type SqlLog = EventLog<Sql>;

/// What the schedules have run.
pub type FlowLog = EventLog<FlowLine>;

impl<L: Line> EventLog<L> {
    /// Starts the log of this process; to be called once.
    ///
    /// # Panics
    /// When something else takes the events of this process.
    #[must_use]
    pub fn start() -> Self {
        let log = Self(Arc::default());
        let subscriber = tracing_subscriber::registry().with(log.clone());
        tracing::subscriber::set_global_default(subscriber).expect("the only subscriber of this process");
        log
    }

    /// The events so far.
    ///
    /// # Panics
    /// When a thread died while writing the log.
    #[must_use]
    pub fn lines(&self) -> Vec<L> {
        self.0.lock().expect("a whole log").clone()
    }
}

impl SqlLog {
    /// The statements sent since the start or the last call.
    ///
    /// # Panics
    /// When a thread died while writing the log.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        let lines = std::mem::take(&mut *self.0.lock().expect("a whole log"));
        lines.into_iter().map(|line| line.0).collect()
    }
}

impl<L: Line, S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for EventLog<L> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() != L::TARGET {
            return;
        }
        let mut line = L::default();
        event.record(&mut line);
        if let Ok(mut log) = self.0.lock() {
            log.push(line);
        }
    }
}

/// A statement.
#[derive(Clone, Debug, Default)]
pub struct Sql(String);

impl Line for Sql {
    const TARGET: &'static str = "waymark::sql";
}

impl Visit for Sql {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "sql" {
            self.0 = format!("{value:?}");
        }
    }
}

/// One line of a `log` operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowLine {
    pub flow: String,
    /// The nominal occurrence.
    pub scheduled_at: String,
    pub message: String,
}

impl Line for FlowLine {
    const TARGET: &'static str = "waymark::flows";
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
