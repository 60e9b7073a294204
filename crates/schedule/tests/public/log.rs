//! What this crate has logged on the test's thread.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use waymark_schedule::{RECOVERED, UNAVAILABLE};

#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<(tracing::Level, String)>>>);

impl Log {
    /// Listens until the guard is dropped.
    pub fn listen() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(log.clone()));
        (log, guard)
    }

    fn count(&self, level: tracing::Level, text: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|(at, line)| *at == level && line.contains(text)).count()
    }

    /// Lines of the two transitions: went away, came back.
    pub fn transitions(&self) -> (usize, usize) {
        (self.count(tracing::Level::ERROR, UNAVAILABLE), self.count(tracing::Level::INFO, RECOVERED))
    }

    /// Lines at warn or above that are not the transition's.
    pub fn others(&self) -> Vec<String> {
        let lines = self.0.lock().unwrap();
        let others = lines.iter().filter(|(at, line)| *at <= tracing::Level::WARN && !line.contains(UNAVAILABLE));
        others.map(|(_, line)| line.clone()).collect()
    }
}

impl<S: tracing::Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if event.metadata().target().starts_with("waymark_schedule") {
            let mut line = Fields(String::new());
            event.record(&mut line);
            self.0.lock().unwrap().push((*event.metadata().level(), line.0));
        }
    }
}

struct Fields(String);

impl tracing::field::Visit for Fields {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}
