//! Requests per second beside a hand-written server, on one PostgreSQL, in alternating runs:
//!
//! ```text
//! cargo bench -p waymark-benches --bench load -- [--rounds 5] [--seconds 2] [--connections 16] [--only point]
//! ```
//!
//! Prints medians and ratios. Both servers give the same bytes (checked first) with the same number of
//! workers and database connections. `--hold` keeps both servers up until the input ends.

mod bare;
mod client;
mod measure;
mod process;
mod scenarios;
mod statements;

use std::{
    io::Read,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use measure::{Extent, Side, Token};
use process::Served;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, postgres::PgConnectOptions};
use statements::Counter;
use waymark_benches::scene::{self, Caller};

struct Options {
    extent: Extent,
    only: String,
    hold: bool,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [serve, which, url] = arguments.as_slice()
        && serve == process::SERVE
    {
        return process::serve(which, url);
    }
    let Ok(server) = std::env::var("WAYMARK_TEST_POSTGRES_URL") else {
        eprintln!("load: WAYMARK_TEST_POSTGRES_URL is not set; `just bench` brings PostgreSQL up");
        return;
    };
    let options = options(&arguments);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let name = format!("waymark_bench_{since}");
        execute(&server, &format!("CREATE DATABASE {name}")).await;
        let (head, _) = server.rsplit_once('/').expect("a URL with a database");
        measure(&options, &format!("{head}/{name}")).await;
        execute(&server, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
    });
}

fn options(arguments: &[String]) -> Options {
    let text = |name: &str| {
        let position = arguments.iter().position(|argument| argument == name)?;
        arguments.get(position + 1).cloned()
    };
    let number = |name: &str, default: f64| text(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    Options {
        extent: Extent {
            rounds: number("--rounds", 5.0) as usize,
            length: Duration::from_secs_f64(number("--seconds", 2.0)),
            connections: number("--connections", 16.0) as usize,
        },
        only: text("--only").unwrap_or_default(),
        hold: arguments.iter().any(|argument| argument == "--hold"),
    }
}

async fn execute(url: &str, sql: &str) {
    let mut connection = PgConnection::connect(url).await.expect("PostgreSQL answers");
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.expect("PostgreSQL executes");
}

async fn measure(options: &Options, url: &str) {
    let (engine, tenant) = scene::open("pg", url).await;
    engine.db.clone().close().await.expect("the pool closes");
    drop(engine);
    execute(url, "VACUUM ANALYZE").await;
    let (bare, ours) = (Served::start("bare", url), Served::start("ours", url));
    let (counted_bare, counted_ours) = (counted("bare", url).await, counted("ours", url).await);
    let mut tokens = Vec::new();
    for caller in [&scene::READER, &scene::TENANT] {
        tokens.push((caller.email, log_in(&ours, caller).await));
    }
    let sides = [
        Side { name: "bare", server: &bare, counted: &counted_bare, token: Token::Nobody },
        Side { name: "static token", server: &ours, counted: &counted_ours, token: Token::Static },
        Side { name: "access token", server: &ours, counted: &counted_ours, token: Token::Access(&tokens) },
    ];
    if options.hold {
        println!("bare {} (process {}), ours {} (process {})", bare.address, bare.id(), ours.address, ours.id());
        println!("database {url}, access tokens {tokens:?}");
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
    } else {
        measure::head(&options.extent);
        for scenario in scenarios::all(&tenant) {
            if scenario.name.contains(&options.only) {
                measure::scenario(&options.extent, &scenario, &sides).await;
            }
        }
    }
    // Ending takes the database, which they reach through this thread.
    tokio::task::spawn_blocking(move || drop((counted_bare, counted_ours))).await.expect("servers end");
}

/// A server of its own whose statements are counted.
async fn counted(which: &str, url: &str) -> (Served, Counter) {
    let database: PgConnectOptions = url.parse().expect("a URL");
    let database = format!("{}:{}", database.get_host(), database.get_port());
    let counter = Counter::start(database.clone()).await;
    let url = url.replace(&database, &counter.address.to_string());
    assert!(url.contains(&counter.address.to_string()), "the URL has to name host and port of PostgreSQL");
    // Starting takes an answer of the database, which passes through this thread.
    let which = which.to_owned();
    let server = tokio::task::spawn_blocking(move || Served::start(&which, &url)).await.expect("a server");
    (server, counter)
}

/// A caller's access token.
async fn log_in(ours: &Served, caller: &Caller) -> String {
    let body = serde_json::json!({ "email": caller.email, "password": caller.password }).to_string();
    let body = ours.ask(&client::post("/auth/login", None, &body)).await;
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    body["data"]["access_token"].as_str().expect("an access token").to_owned()
}
