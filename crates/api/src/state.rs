//! What every handler of one server shares.

use std::{future::Future, panic::resume_unwind, sync::Arc, time::Instant};

use actix_web::http::header::HeaderValue;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;
use waymark_core::Engine;

use crate::{lifecycle::Drain, replicas::Replicas, settings::Settings};

/// Writes and exports under way at the same time; more wait.
const MOST_SHIELDED: usize = 1_024;
/// Exports in files at the same time; each takes as much of the disk as it is long.
const MOST_SPOOLS: usize = 32;

/// Shared by all requests of one server; no state lives outside of it.
pub struct State {
    pub engine: Arc<Engine>,
    pub settings: Arc<Settings>,
    /// Messenger and schedules.
    pub replicas: Arc<Replicas>,
    /// Requests in flight; whether the server is ending.
    pub drain: Drain,
    /// Exports that may be read at the same time: half of the database connections, for each holds one.
    pub exports: Semaphore,
    /// Exports that may wait in a file until they are sent.
    pub spools: Arc<Semaphore>,
    /// Work that goes on when its request is given up, and how much of it there may be.
    shielded: TaskTracker,
    shields: Arc<Semaphore>,
    /// When the server started.
    pub started: Instant,
    /// `Content-Security-Policy` of every answer.
    pub content_security_policy: HeaderValue,
    /// `Strict-Transport-Security`, when switched on.
    pub strict_transport_security: Option<HeaderValue>,
}

impl State {
    #[must_use]
    pub fn new(engine: Arc<Engine>, settings: Arc<Settings>, replicas: Arc<Replicas>) -> Self {
        let policy = &settings.security.content_security_policy;
        let content_security_policy =
            HeaderValue::from_str(policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'self'"));
        let strict_transport_security =
            settings.security.hsts.as_deref().and_then(|value| HeaderValue::from_str(value).ok());
        let connections = settings.database.pool_max as usize;
        Self {
            engine,
            settings,
            replicas,
            exports: Semaphore::new((connections / 2).max(1)),
            spools: Arc::new(Semaphore::new(MOST_SPOOLS)),
            drain: Drain::default(),
            shielded: TaskTracker::new(),
            shields: Arc::new(Semaphore::new(MOST_SHIELDED)),
            started: Instant::now(),
            content_security_policy,
            strict_transport_security,
        }
    }

    /// Does work that must come to its own end: a request whose connection breaks is dropped where it
    /// stands, what is begun here is not. It counts as a request in flight until then.
    pub async fn shielded<T: 'static>(self: Arc<Self>, work: impl Future<Output = T> + 'static) -> T {
        let state = Arc::clone(&self);
        // Nobody closes it. Who waits here has begun nothing, and is given up with its connection.
        let Ok(place) = Arc::clone(&self.shields).acquire_owned().await else { return std::future::pending().await };
        let task = self.shielded.spawn_local(async move {
            let (_in_flight, _place) = (state.drain.enter(), place);
            work.await
        });
        match task.await.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(done) => done,
            Err(Ok(panic)) => resume_unwind(panic),
            // Nobody cancels it, but the end of the runtime, which is the end of this too.
            Err(Err(_)) => std::future::pending().await,
        }
    }
}
