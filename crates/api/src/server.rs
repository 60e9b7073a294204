//! One running server: from a listener to its orderly end. Nothing outside of it is touched, so
//! several can run in one process.

use std::{fmt, net::TcpListener, pin::pin, sync::Arc, time::Duration};

use actix_web::{
    App, HttpServer,
    middleware::{Condition, NormalizePath, from_fn},
    web::Data,
};
use tokio_util::sync::CancellationToken;
use waymark_core::{Error, items::hooks::Hooks};

use crate::{
    extract::peer::Peer,
    middleware::{cors, edge, export},
    replicas::{Refused, Replicas},
    routes,
    settings::Settings,
    state::State,
    wiring,
};

/// Why a server could not start or go on.
#[derive(Debug)]
pub enum RunError {
    /// The database can't be reached or read.
    Database(Error),
    /// These migrations have to run first.
    Pending(Vec<String>),
    /// A setting of the replicas can't be used.
    Setting(Refused),
    /// The listener failed.
    Io(std::io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => match error.cause() {
                Some(cause) => write!(f, "the database can't be used: {cause}"),
                None => write!(f, "the database can't be used: {error}"),
            },
            Self::Pending(names) => {
                write!(
                    f,
                    "the database lacks {} migration(s) ({}); run `waymark bootstrap`",
                    names.len(),
                    names.join(", ")
                )
            }
            Self::Setting(refused) => refused.fmt(f),
            Self::Io(error) => write!(f, "the address can't be used: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<Error> for RunError {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl From<Refused> for RunError {
    fn from(refused: Refused) -> Self {
        Self::Setting(refused)
    }
}

impl From<std::io::Error> for RunError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// Serves until the token is cancelled, then drains: not ready, no new connections, requests in
/// flight answered, connections closed, within `SERVER_SHUTDOWN_TIMEOUT`; then schedules and messenger
/// stopped and the pool closed, each with a bound of its own.
///
/// # Errors
/// When the database can't be used, lacks migrations, or the listener fails.
pub async fn run(settings: Settings, listener: TcpListener, shutdown: CancellationToken) -> Result<(), RunError> {
    run_with(settings, Hooks::default(), listener, shutdown).await
}

/// As [`run`], with hooks: code of the embedding program that takes part in reads and writes.
///
/// # Errors
/// As [`run`].
pub async fn run_with(
    settings: Settings,
    hooks: Hooks,
    listener: TcpListener,
    shutdown: CancellationToken,
) -> Result<(), RunError> {
    let settings = Arc::new(settings);
    let replicas = Arc::new(Replicas::open(&settings)?);
    let served = run_as(&replicas, settings, hooks, listener, shutdown).await;
    replicas.stop().await;
    served
}

/// One of several: everything but the ways to the others.
async fn run_as(
    replicas: &Arc<Replicas>,
    settings: Arc<Settings>,
    hooks: Hooks,
    listener: TcpListener,
    shutdown: CancellationToken,
) -> Result<(), RunError> {
    let db = wiring::connect(&settings.database, false).await?;
    let pending = waymark_migrations::pending(db.pool()).await.map_err(Error::internal)?;
    if !pending.is_empty() {
        return Err(RunError::Pending(pending));
    }
    let engine = wiring::engine(&settings, db.clone(), replicas.sink(), hooks).await?;
    replicas.start(&engine, &settings).await?;
    let state = Data::new(State::new(engine, Arc::clone(&settings), Arc::clone(replicas)));
    let address = listener.local_addr()?;
    let served = serve(state, listener, shutdown).await;
    // Ticks and readers of changes use the database.
    replicas.stop().await;
    tracing::info!(%address, "closing the database");
    if tokio::time::timeout(Duration::from_secs(5), db.close()).await.is_err() {
        tracing::warn!("the database connections did not close in time");
    }
    served
}

async fn serve(state: Data<State>, listener: TcpListener, shutdown: CancellationToken) -> Result<(), RunError> {
    let settings = Arc::clone(&state.settings);
    let timeout = settings.general.shutdown_timeout;
    let application = {
        let state = state.clone();
        move || {
            App::new()
                .app_data(state.clone())
                .configure(routes::configure)
                .wrap(from_fn(export::export))
                .wrap(NormalizePath::trim())
                .wrap(Condition::new(settings.cors.enabled, cors::build(&settings.cors)))
                .wrap(from_fn(edge::edge))
        }
    };
    let mut server = HttpServer::new(application)
        .on_connect(Peer::remember)
        .disable_signals()
        .shutdown_timeout(timeout.as_millis().div_ceil(1000) as u64);
    if let Some(workers) = state.settings.general.workers {
        server = server.workers(workers);
    }
    let address = listener.local_addr()?;
    let server = server.listen(listener)?.run();
    let handle = server.handle();
    let mut server = pin!(server);
    tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), "listening");
    let ending = async {
        shutdown.cancelled().await;
        state.drain.begin();
        handle.pause().await;
        // Workers end as soon as they are idle, and with them the database connections they opened, which
        // others may be using: so none is stopped before all requests are answered.
        if !state.drain.wait(timeout).await {
            tracing::warn!("requests still in flight at the end of the shutdown time");
        }
        handle.stop(true).await;
    };
    tokio::select! {
        result = &mut server => result?,
        () = ending => server.await?,
    }
    Ok(())
}
