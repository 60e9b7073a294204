//! A place of its own for the tasks that the NATS client starts by itself. They end with the
//! connection they belong to, also in the middle of an attempt to reconnect, and what they would
//! log (the client has one line per event of the connection, at info and above) stays here.

use std::io;

use tokio::runtime::{Builder, Runtime};
use tokio_util::task::TaskTracker;

/// A runtime with one thread. Dropping it ends its tasks at once.
pub(super) struct Confined {
    runtime: Option<Runtime>,
    tasks: TaskTracker,
}

impl Confined {
    pub(super) fn new() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            // Names are looked up there.
            .max_blocking_threads(2)
            .thread_name("messenger-nats")
            .enable_all()
            .on_thread_start(|| {
                let guard = tracing::dispatcher::set_default(&tracing::Dispatch::none());
                // For as long as the thread lives; it has no other state to give back.
                std::mem::forget(guard);
            })
            .build()?;
        Ok(Self { runtime: Some(runtime), tasks: TaskTracker::new() })
    }

    /// Runs to the end in there; `None` when that is impossible. Cancelling leaves the task to the
    /// end of this place.
    pub(super) async fn run<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let runtime = self.runtime.as_ref()?;
        self.tasks.spawn_on(task, runtime.handle()).await.ok()
    }

    /// Runs beside everything else until this place ends.
    pub(super) fn keep(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            self.tasks.spawn_on(task, runtime.handle());
        }
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waiting is not allowed here.
            runtime.shutdown_background();
        }
    }
}
