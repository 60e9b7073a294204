//! The database engines a test runs on, and `each_engine!`, which makes one test of each.

/// A database engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
    /// MySQL or MariaDB.
    Mysql,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Sqlite, Self::Postgres, Self::Mysql];

    /// The value of `DB_CLIENT`.
    #[must_use]
    pub fn client(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite3",
            Self::Postgres => "pg",
            Self::Mysql => "mysql",
        }
    }

    /// The variable that holds the URL of a running server.
    #[must_use]
    pub fn url_variable(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some("WAYMARK_TEST_POSTGRES_URL"),
            Self::Mysql => Some("WAYMARK_TEST_MYSQL_URL"),
        }
    }
}

/// Makes three tests, `NAME::sqlite`, `NAME::postgres` and `NAME::mysql`, of each function. A missing
/// service fails its test; nothing is skipped.
///
/// ```ignore
/// each_engine! {
///     async fn an_item_can_be_read_back(kind) {
///         let server = Server::start(kind).await;
///         // …
///     }
/// }
/// ```
#[macro_export]
macro_rules! each_engine {
    ($($(#[$meta:meta])* async fn $name:ident($kind:ident) $body:block)*) => {$(
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            async fn run($kind: $crate::Kind) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                run($crate::Kind::Sqlite).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                run($crate::Kind::Postgres).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn mysql() {
                run($crate::Kind::Mysql).await;
            }
        }
    )*};
}
