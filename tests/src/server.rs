//! A real server in this process, on a free port and a fresh database, with an admin.

use std::{net::TcpListener, sync::Arc, thread::JoinHandle};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use waymark_api::{RunError, Settings, cli::bootstrap, settings::Source};
use waymark_core::items::hooks::Hooks;

use crate::{Client, Database, Kind};

/// The admin of every test server.
pub const ADMIN_EMAIL: &str = "admin@example.com";
/// See [`ADMIN_EMAIL`].
pub const ADMIN_PASSWORD: &str = "password";

/// A running server. Stops when dropped, and with the last server its database goes.
#[derive(Debug)]
pub struct Server {
    /// `http://127.0.0.1:PORT`.
    pub url: String,
    pub database: Arc<Database>,
    shutdown: CancellationToken,
    thread: Option<JoinHandle<Result<(), RunError>>>,
}

impl Server {
    /// Starts a server on a fresh database.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start(kind: Kind) -> Self {
        Self::start_with(kind, &[]).await
    }

    /// The same with further settings.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start_with(kind: Kind, settings: &[(&str, &str)]) -> Self {
        Self::start_on(Arc::new(Database::create(kind).await), settings).await
    }

    /// Starts one more server on a database, which is migrated as far as needed.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start_on(database: Arc<Database>, overrides: &[(&str, &str)]) -> Self {
        Self::start_hooked(database, overrides, Hooks::default()).await
    }

    /// The same with hooks.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start_hooked(database: Arc<Database>, overrides: &[(&str, &str)], hooks: Hooks) -> Self {
        let values = settings(&database, overrides);
        let source = Source::of_values(values.iter().map(|(name, value)| (name.as_str(), value.as_str())))
            .unwrap_or_else(|problems| panic!("settings: {problems}"));
        let settings = Settings::read(&source).unwrap_or_else(|problems| panic!("settings: {problems}"));
        let engine = bootstrap::open(&settings).await.unwrap_or_else(|error| panic!("bootstrap: {error}"));
        engine.db.clone().close().await.expect("the pool closes");
        drop(engine);

        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let shutdown = CancellationToken::new();
        let (ended, mut end) = oneshot::channel::<()>();
        let token = shutdown.clone();
        let thread = std::thread::Builder::new()
            .name("waymark server".to_owned())
            .spawn(move || {
                let _ended = ended; // dropped at the end, however it comes
                let runtime = tokio::runtime::Builder::new_multi_thread()
                    .worker_threads(2)
                    .enable_all()
                    .build()
                    .map_err(RunError::Io)?;
                runtime.block_on(waymark_api::run_with(settings, hooks, listener, token))
            })
            .expect("a thread");
        let mut server = Self { url, database, shutdown, thread: Some(thread) };
        tokio::select! {
            _ = &mut end => panic!("the server ended at once: {:?}", server.join()),
            (status, body) = async { server.client().get("/server/ping").await } => {
                assert_eq!((status, body), (200, "pong".into()));
            }
        }
        server
    }

    /// A caller without credentials.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(&self.url)
    }

    /// The admin, logged in.
    ///
    /// # Panics
    /// When the log-in fails.
    pub async fn admin(&self) -> Client {
        self.client().login(ADMIN_EMAIL, ADMIN_PASSWORD).await
    }

    /// Asks the server to end and waits for it; gives the database back.
    ///
    /// # Panics
    /// When it ends with an error.
    pub fn stop(mut self) -> Arc<Database> {
        self.shutdown.cancel();
        self.join().expect("an orderly end");
        Arc::clone(&self.database)
    }

    fn join(&mut self) -> Result<(), RunError> {
        match self.thread.take() {
            Some(thread) => thread.join().expect("the server does not panic"),
            None => Ok(()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shutdown.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The settings of a test server: cheap hashes, no stall, few connections.
#[must_use]
pub fn settings(database: &Database, overrides: &[(&str, &str)]) -> Vec<(String, String)> {
    let defaults = [
        ("HOST", "127.0.0.1"),
        ("KEY", "waymark-test"),
        ("SECRET", "waymark-test-secret"),
        ("ADMIN_EMAIL", ADMIN_EMAIL),
        ("ADMIN_PASSWORD", ADMIN_PASSWORD),
        ("LOG_LEVEL", "warn"),
        ("LOGIN_STALL_TIME", "0"),
        ("HASH_MEMORY_COST", "1024"),
        ("HASH_TIME_COST", "2"),
        ("HASH_PARALLELISM", "1"),
        ("SERVER_WORKERS", "2"),
        ("SERVER_SHUTDOWN_TIMEOUT", "5000"),
        ("DB_POOL__MIN", "0"),
        ("DB_POOL__MAX", "6"),
    ];
    let mut settings: Vec<(String, String)> = database.settings();
    for (name, value) in defaults.iter().chain(overrides) {
        settings.retain(|(known, _)| known != name);
        settings.push(((*name).to_owned(), (*value).to_owned()));
    }
    settings
}
