//! What every handler of one server shares.

use std::{sync::Arc, time::Instant};

use actix_web::http::header::HeaderValue;
use tokio::sync::Semaphore;
use waymark_core::Engine;

use crate::{lifecycle::Drain, settings::Settings};

/// Exports in files at the same time; each takes as much of the disk as it is long.
const MOST_SPOOLS: usize = 32;

/// Shared by all requests of one server; no state lives outside of it.
pub struct State {
    pub engine: Arc<Engine>,
    pub settings: Arc<Settings>,
    /// Requests in flight; whether the server is ending.
    pub drain: Drain,
    /// Exports that may be read at the same time: half of the database connections, for each holds one.
    pub exports: Semaphore,
    /// Exports that may wait in a file until they are sent.
    pub spools: Arc<Semaphore>,
    /// When the server started.
    pub started: Instant,
    /// `Content-Security-Policy` of every answer.
    pub content_security_policy: HeaderValue,
    /// `Strict-Transport-Security`, when switched on.
    pub strict_transport_security: Option<HeaderValue>,
}

impl State {
    #[must_use]
    pub fn new(engine: Arc<Engine>, settings: Arc<Settings>) -> Self {
        let policy = &settings.security.content_security_policy;
        let content_security_policy =
            HeaderValue::from_str(policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'self'"));
        let strict_transport_security =
            settings.security.hsts.as_deref().and_then(|value| HeaderValue::from_str(value).ok());
        let connections = settings.database.pool_max as usize;
        Self {
            engine,
            settings,
            exports: Semaphore::new((connections / 2).max(1)),
            spools: Arc::new(Semaphore::new(MOST_SPOOLS)),
            drain: Drain::default(),
            started: Instant::now(),
            content_security_policy,
            strict_transport_security,
        }
    }
}
