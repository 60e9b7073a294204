//! From settings to a running engine: the pool with each engine's session settings, the engine, the
//! application.

use std::{sync::Arc, time::Duration};

use sea_orm::{
    ConnectOptions, Database as Connector, DatabaseConnection,
    sqlx::{
        Executor as _,
        mysql::MySqlSslMode,
        postgres::PgSslMode,
        sqlite::{SqliteJournalMode, SqliteSynchronous},
    },
};
use waymark_core::{
    Engine, EngineSettings, Error, Result,
    auth::AuthSettings,
    items::{events::EventSink, hooks::Hooks},
    store::Db,
    system::flows::ScheduleCheck,
};

use crate::{
    cron,
    settings::{
        Settings,
        database::{Client, Database},
        messenger::Store,
    },
};

/// How long a request waits for a connection before it fails.
const ACQUIRE: Duration = Duration::from_secs(20);
/// Connections idle for longer are tested before use: the server may have gone meanwhile.
const IDLE: Duration = Duration::from_secs(15);
/// How long a SQLite writer waits for another one.
const BUSY: Duration = Duration::from_secs(10);

/// The same strictness and clock on each connection, whatever the server's own settings are. Zero is a
/// key like any other, and transactions see what others committed, as on PostgreSQL.
const MYSQL_SESSION: &str = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,\
     NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION,PIPES_AS_CONCAT', time_zone = '+00:00'";
const MYSQL_ISOLATION: &str = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";

/// Opens the pool.
///
/// # Errors
/// `INTERNAL_SERVER_ERROR` with the driver's error as its cause.
pub async fn connect(settings: &Database, create: bool) -> Result<Db> {
    let pool: DatabaseConnection = Connector::connect(options(settings, create)).await.map_err(Error::internal)?;
    Db::new(pool).await
}

fn options(settings: &Database, create: bool) -> ConnectOptions {
    let url = settings.url.reveal().to_owned();
    let in_memory = settings.client == Client::Sqlite && url.contains(":memory:");
    let mut options = ConnectOptions::new(url);
    options
        .max_connections(if in_memory { 1 } else { settings.pool_max })
        .min_connections(if in_memory { 1 } else { settings.pool_min })
        .acquire_timeout(ACQUIRE)
        .connect_timeout(ACQUIRE)
        .test_before_acquire(false)
        .sqlx_logging(false);
    if in_memory {
        options.idle_timeout(None).max_lifetime(None);
    } else {
        options.test_before_acquire_if_idle_for(IDLE);
    }
    match settings.client {
        Client::Sqlite => sqlite(&mut options, create),
        Client::Postgres => postgres(&mut options, settings),
        Client::Mysql => mysql(&mut options, settings),
    }
    options
}

fn sqlite(options: &mut ConnectOptions, create: bool) {
    options.map_sqlx_sqlite_opts(move |options| {
        options
            .create_if_missing(create)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(BUSY)
            .foreign_keys(true)
    });
}

fn postgres(options: &mut ConnectOptions, settings: &Database) {
    let (tls, search_path) = (settings.tls.clone(), settings.search_path.join(","));
    options.map_sqlx_postgres_opts(move |options| {
        let mut options = options.application_name("waymark");
        if !search_path.is_empty() {
            options = options.options([("search_path", search_path.as_str())]);
        }
        if tls.enabled {
            options = options.ssl_mode(if tls.verify { PgSslMode::VerifyFull } else { PgSslMode::Require });
        }
        match &tls.authority {
            Some(authority) => options.ssl_root_cert_from_pem(authority.clone().into_bytes()),
            None => options,
        }
    });
}

fn mysql(options: &mut ConnectOptions, settings: &Database) {
    let tls = settings.tls.clone();
    options.map_sqlx_mysql_opts(move |options| {
        let mut options = options.charset("utf8mb4");
        if tls.enabled {
            options = options.ssl_mode(if tls.verify { MySqlSslMode::VerifyIdentity } else { MySqlSslMode::Required });
        }
        match &tls.authority {
            Some(authority) => options.ssl_ca_from_pem(authority.clone().into_bytes()),
            None => options,
        }
    });
    options.map_sqlx_mysql_pool_opts(|options| {
        options.after_connect(|connection, _| {
            Box::pin(async move {
                connection.execute(MYSQL_SESSION).await?;
                connection.execute(MYSQL_ISOLATION).await?;
                Ok(())
            })
        })
    });
}

/// What the engine needs to know.
#[must_use]
pub fn engine_settings(settings: &Settings) -> EngineSettings {
    let security = &settings.security;
    EngineSettings {
        limits: settings.query.limits.clone(),
        auth: AuthSettings {
            secret: security.secret.reveal().to_owned(),
            issuers: security.jwt_issuers.clone(),
            disable_default: security.disable_default,
            access_token_ttl: security.access_token_ttl,
            refresh_token_ttl: security.refresh_token_ttl,
            login_stall: security.login_stall,
            hash_memory_kib: security.hash_memory_kib,
            hash_passes: security.hash_passes,
            hash_lanes: security.hash_lanes,
        },
        exclude_tables: settings.database.exclude_tables.clone(),
        cache_ttl: settings.messenger.stale_after,
        schedules: ScheduleCheck { check: cron::check, catches_up: settings.schedule.store == Store::Nats },
    }
}

/// Opens the engine on a database.
///
/// # Errors
/// `INTERNAL_SERVER_ERROR` when the database can't be inspected.
pub async fn engine(settings: &Settings, db: Db, sink: Arc<dyn EventSink>, hooks: Hooks) -> Result<Arc<Engine>> {
    Engine::open(db, engine_settings(settings), sink, hooks).await
}
