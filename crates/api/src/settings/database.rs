//! Which database, and how it is reached.

use super::{Reader, Secret, parse};

#[derive(Clone, Debug)]
pub struct Database {
    pub client: Client,
    /// `sqlite://…`, `postgres://…` or `mysql://…`, with the password in it.
    pub url: Secret,
    pub tls: Tls,
    pub pool_min: u32,
    pub pool_max: u32,
    /// Schemas to look in (PostgreSQL).
    pub search_path: Vec<String>,
    pub exclude_tables: Vec<String>,
    /// Milliseconds after which health reports a slow database.
    pub healthcheck_threshold: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    Sqlite,
    Postgres,
    Mysql,
}

impl Client {
    /// The name as `DB_CLIENT` has it; names the health checks too.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite3",
            Self::Postgres => "pg",
            Self::Mysql => "mysql",
        }
    }
}

/// Transport security of the connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    pub enabled: bool,
    /// The server's certificate is checked.
    pub verify: bool,
    /// PEM of the authority to check it against.
    pub authority: Option<String>,
}

impl Database {
    pub fn read(reader: &mut Reader<'_>) -> Self {
        let names = [
            ("sqlite3", Client::Sqlite),
            ("sqlite", Client::Sqlite),
            ("pg", Client::Postgres),
            ("postgres", Client::Postgres),
            ("mysql", Client::Mysql),
            ("mariadb", Client::Mysql),
        ];
        let client = reader.required_choice("DB_CLIENT", &names).unwrap_or(Client::Sqlite);
        let url = url(reader, client);
        let (min, max) = (reader.number("DB_POOL__MIN", 0..=10_000), reader.number("DB_POOL__MAX", 1..=10_000));
        if min > max {
            reader.problem("DB_POOL__MIN", "a number above DB_POOL__MAX", "a number up to DB_POOL__MAX");
        }
        Self {
            client,
            url: Secret::new(url),
            tls: tls(reader),
            pool_min: min as u32,
            pool_max: max as u32,
            search_path: reader.list("DB_SEARCH_PATH"),
            exclude_tables: reader.list("DB_EXCLUDE_TABLES"),
            healthcheck_threshold: u64::try_from(reader.duration("DB_HEALTHCHECK_THRESHOLD").as_millis())
                .unwrap_or(150),
        }
    }
}

fn url(reader: &mut Reader<'_>, client: Client) -> String {
    let (scheme, port) = match client {
        Client::Sqlite => ("sqlite", 0),
        Client::Postgres => ("postgres", 5432),
        Client::Mysql => ("mysql", 3306),
    };
    if let Some(url) = reader.secret("DB_CONNECTION_STRING") {
        let accepted: &[&str] = match client {
            Client::Sqlite => &["sqlite:"],
            Client::Postgres => &["postgres://", "postgresql://"],
            Client::Mysql => &["mysql://", "mariadb://"],
        };
        let url = url.reveal();
        if !accepted.iter().any(|start| url.starts_with(start)) {
            reader.problem(
                "DB_CONNECTION_STRING",
                "a text of another kind",
                &format!("a URL beginning with {}", accepted.join(" or ")),
            );
        }
        return url.replacen("mariadb://", "mysql://", 1);
    }
    if client == Client::Sqlite {
        return format!("sqlite://{}", reader.required_text("DB_FILENAME"));
    }
    let host = reader.required_text("DB_HOST");
    let port = reader.optional_number("DB_PORT", 1..=65535).unwrap_or(port);
    let database = reader.required_text("DB_DATABASE");
    let user = reader.required_text("DB_USER");
    let password = reader.secret("DB_PASSWORD");
    let user = parse::percent(&user);
    let password = password.map(|password| format!(":{}", parse::percent(password.reveal()))).unwrap_or_default();
    format!("{scheme}://{user}{password}@{host}:{port}/{}", parse::percent(&database))
}

fn tls(reader: &mut Reader<'_>) -> Tls {
    let authority = reader.optional_text("DB_SSL__CA");
    let enabled = reader.boolean("DB_SSL") || authority.is_some();
    Tls { enabled, verify: reader.boolean("DB_SSL__REJECT_UNAUTHORIZED"), authority }
}
