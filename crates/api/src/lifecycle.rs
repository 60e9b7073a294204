//! The end of a server: signals, requests in flight, the order of closing.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Counts requests in flight and knows whether the server is ending.
#[derive(Debug, Default)]
pub struct Drain {
    ending: AtomicBool,
    running: AtomicUsize,
    idle: Notify,
}

/// One request in flight, until dropped.
#[derive(Debug)]
pub struct InFlight<'a>(&'a Drain);

impl Drain {
    /// Counts a request.
    pub fn enter(&self) -> InFlight<'_> {
        self.running.fetch_add(1, Ordering::SeqCst);
        InFlight(self)
    }

    /// From now on answers close their connections and the server is not ready.
    pub fn begin(&self) {
        self.ending.store(true, Ordering::SeqCst);
    }

    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
    }

    /// Waits until no request is in flight; tells whether that came to pass in time.
    pub async fn wait(&self, timeout: Duration) -> bool {
        let idle = async {
            loop {
                let notified = self.idle.notified();
                tokio::pin!(notified);
                notified.as_mut().enable();
                if self.running.load(Ordering::SeqCst) == 0 {
                    return;
                }
                notified.await;
            }
        };
        tokio::time::timeout(timeout, idle).await.is_ok()
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if self.0.running.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}

/// Cancels the token at SIGTERM or SIGINT; ends with the token.
pub async fn cancel_at_signal(shutdown: CancellationToken) {
    let signal = async {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            match (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) {
                (Ok(mut terminate), Ok(mut interrupt)) => {
                    tokio::select! {
                        _ = terminate.recv() => {}
                        _ = interrupt.recv() => {}
                    }
                }
                _ => std::future::pending().await,
            }
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    };
    tokio::select! {
        () = signal => {
            tracing::info!("asked to end");
            shutdown.cancel();
        }
        () = shutdown.cancelled() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waits_for_requests_in_flight() {
        let drain = Drain::default();
        assert!(drain.wait(Duration::from_millis(1)).await);
        let request = drain.enter();
        assert!(!drain.wait(Duration::from_millis(1)).await);
        let (done, ()) = tokio::join!(drain.wait(Duration::from_secs(5)), async { drop(request) });
        assert!(done);
    }
}
