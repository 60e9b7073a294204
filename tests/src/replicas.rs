//! Several servers on one database and one store: as threads of this process, or as processes to be killed.

use std::{net::SocketAddr, path::PathBuf, process::Stdio, sync::Arc, time::Duration};

use futures_util::future::join_all;
use waymark_rig::{NatsServer, RedisServer};

use crate::{Database, Kind, Process, Server, process};

/// A kind of store that replicas share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    Redis,
    Nats,
}

/// A store of one's own, to be broken.
#[derive(Debug)]
pub enum Store {
    Redis(RedisServer),
    Nats(NatsServer),
}

impl Store {
    /// Starts one on a free port.
    pub async fn start(kind: StoreKind) -> Self {
        match kind {
            StoreKind::Redis => Self::Redis(RedisServer::start(&[]).await),
            StoreKind::Nats => Self::Nats(NatsServer::start(&[]).await),
        }
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        match self {
            Self::Redis(server) => server.address(),
            Self::Nats(server) => server.address(),
        }
    }

    /// Settings of a server that uses it.
    #[must_use]
    pub fn settings(&self) -> Vec<(String, String)> {
        self.settings_by(self.address())
    }

    /// The same by another address: that of a proxy.
    #[must_use]
    pub fn settings_by(&self, address: SocketAddr) -> Vec<(String, String)> {
        let (store, variable, scheme) = match self {
            Self::Redis(_) => ("redis", "MESSENGER_REDIS", "redis"),
            Self::Nats(_) => ("nats", "MESSENGER_NATS", "nats"),
        };
        [("MESSENGER_STORE", store.to_owned()), (variable, format!("{scheme}://{address}"))]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec()
    }

    /// Ends it as a power cut would.
    pub fn kill(&mut self) {
        match self {
            Self::Redis(server) => server.kill(),
            Self::Nats(server) => server.kill(),
        }
    }

    /// Starts it again at the same address.
    pub async fn restart(&mut self) {
        match self {
            Self::Redis(server) => server.restart().await,
            Self::Nats(server) => server.restart().await,
        }
    }
}

/// Servers of one deployment.
#[derive(Debug)]
pub struct Replicas {
    pub servers: Vec<Server>,
    pub store: Store,
    pub database: Arc<Database>,
}

impl Replicas {
    /// Starts so many servers in this process, which know of each other when this returns.
    ///
    /// # Panics
    /// When one does not start.
    pub async fn start(engine: Kind, store: StoreKind, count: usize, overrides: &[(&str, &str)]) -> Self {
        let store = Store::start(store).await;
        let database = Arc::new(Database::create(engine).await);
        let mut replicas = Self { servers: Vec::new(), store, database };
        for _ in 0..count {
            let settings = replicas.store.settings();
            replicas.add(&settings, overrides).await;
        }
        for server in &replicas.servers {
            sees(server, count).await;
        }
        replicas
    }

    /// One more server with these settings.
    pub async fn add(&mut self, settings: &[(String, String)], overrides: &[(&str, &str)]) -> &Server {
        let mut all: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        all.extend(overrides);
        self.servers.push(Server::start_on(Arc::clone(&self.database), &all).await);
        self.servers.last().expect("just added")
    }
}

/// Processes of one deployment.
#[derive(Debug)]
pub struct Processes {
    pub processes: Vec<Process>,
    pub store: Store,
    pub database: Database,
}

impl Processes {
    /// Starts so many processes.
    ///
    /// # Panics
    /// When one does not start.
    pub async fn start(engine: Kind, store: StoreKind, count: usize, overrides: &[(&str, &str)]) -> Self {
        Self::start_with(engine, store, count, overrides, &[]).await
    }

    /// The same, with the logs of the processes as JSON lines in these files.
    ///
    /// # Panics
    /// When one does not start.
    pub async fn start_with(
        engine: Kind,
        store: StoreKind,
        count: usize,
        overrides: &[(&str, &str)],
        logs: &[PathBuf],
    ) -> Self {
        let store = Store::start(store).await;
        let database = Database::create(engine).await;
        let settings = store.settings();
        let mut all: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        if !logs.is_empty() {
            all.extend([("LOG_STYLE", "raw"), ("LOG_LEVEL", "info")]);
        }
        all.extend(overrides);
        let status = process::command(&database, &["bootstrap"], &all).stdout(Stdio::null()).status().await;
        assert!(status.expect("bootstrap starts").success(), "bootstrap fails");
        let serve = |number: usize| {
            let mut command = process::command(&database, &["serve"], &all);
            if let Some(log) = logs.get(number) {
                command.stderr(std::fs::File::create(log).expect("a file"));
            }
            Process::serve_by(command)
        };
        let processes = join_all((0..count).map(serve)).await;
        Self { processes, store, database }
    }
}

/// Waits until a server lists so many replicas.
async fn sees(server: &Server, count: usize) {
    let admin = server.admin().await;
    until("the replicas know each other", || async {
        let (_, health) = admin.get("/server/health").await;
        let check = &health["checks"]["messenger:replicas"][0];
        check["observedValue"] == count && health["checks"]["messenger:status"][0]["status"] == "ok"
    })
    .await;
}

/// Asks until the answer is yes.
///
/// # Panics
/// When that takes longer than 20 s.
pub async fn until<F: Future<Output = bool>>(what: &str, asked: impl Fn() -> F) {
    let wait = async {
        while !asked().await {
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(20), wait).await.is_ok(), "never: {what}");
}

/// Makes two tests, `NAME::redis` and `NAME::nats`, of each function.
#[macro_export]
macro_rules! each_store {
    ($($(#[$meta:meta])* async fn $name:ident($kind:ident) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            async fn run($kind: $crate::StoreKind) $body

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn redis() {
                run($crate::StoreKind::Redis).await;
            }

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn nats() {
                run($crate::StoreKind::Nats).await;
            }
        }
    )*};
}
