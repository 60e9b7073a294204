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
mod process;

use std::{
    io::Read,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use client::{Connection, get, load};
use process::Served;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use waymark_benches::{articles, scene};

struct Options {
    rounds: usize,
    length: Duration,
    connections: usize,
    only: String,
    hold: bool,
}

/// One server as one kind of caller.
struct Side<'a> {
    name: &'static str,
    server: &'a Served,
    token: Option<&'a str>,
}

/// Requests per second and CPU time per request of one run.
struct Run {
    rate: f64,
    cpu: Option<f64>,
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
        rounds: number("--rounds", 5.0) as usize,
        length: Duration::from_secs_f64(number("--seconds", 2.0)),
        connections: number("--connections", 16.0) as usize,
        only: text("--only").unwrap_or_default(),
        hold: arguments.iter().any(|argument| argument == "--hold"),
    }
}

async fn execute(url: &str, sql: &str) {
    let mut connection = PgConnection::connect(url).await.expect("PostgreSQL answers");
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.expect("PostgreSQL executes");
}

async fn measure(options: &Options, url: &str) {
    let (engine, _) = scene::open("pg", url).await;
    engine.db.clone().close().await.expect("the pool closes");
    drop(engine);
    execute(url, "VACUUM ANALYZE articles").await;
    let (bare, ours) = (Served::start("bare", url), Served::start("ours", url));
    let access_token = log_in(&ours).await;
    let sides = [
        Side { name: "bare", server: &bare, token: None },
        Side { name: "static token", server: &ours, token: Some(scene::TOKEN) },
        Side { name: "access token", server: &ours, token: Some(&access_token) },
    ];
    if options.hold {
        println!("bare {} (process {}), ours {} (process {})", bare.address, bare.id(), ours.address, ours.id());
        println!("access token {access_token}");
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        return;
    }
    println!(
        "{} connections, {} workers, {} database connections, median of {} runs of {:?}",
        options.connections,
        scene::WORKERS,
        scene::CONNECTIONS,
        options.rounds,
        options.length
    );
    println!("{:<8} {:<14} {:>8} {:>10} {:>7} {:>12}", "read", "caller", "bytes", "answers/s", "ratio", "CPU µs each");
    let points = (1..=articles::ROWS).map(|id| format!("/items/articles/{id}")).collect();
    for (name, paths) in [
        ("point", points),
        ("list 25", vec!["/items/articles?limit=25".to_owned()]),
        ("list 100", vec!["/items/articles?limit=100".to_owned()]),
    ] {
        if name.contains(&options.only) {
            scenario(options, name, &paths, &sides).await;
        }
    }
}

/// The reader's access token.
async fn log_in(ours: &Served) -> String {
    let body = serde_json::json!({ "email": scene::EMAIL, "password": scene::PASSWORD }).to_string();
    let request = format!(
        "POST /auth/login HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = Connection::open(ours.address).await.expect("a connection");
    let body = connection.ask(request.as_bytes()).await.expect("an answer");
    let body: Value = serde_json::from_slice(body).expect("JSON");
    body["data"]["access_token"].as_str().expect("an access token").to_owned()
}

async fn scenario(options: &Options, name: &str, paths: &[String], sides: &[Side<'_>]) {
    let mut bytes: Option<Vec<u8>> = None;
    for side in sides {
        let mut connection = Connection::open(side.server.address).await.expect("a connection");
        let body = connection.ask(&get(&paths[paths.len() / 2], side.token)).await.expect("an answer").to_vec();
        let expected = bytes.get_or_insert_with(|| body.clone());
        assert_eq!(String::from_utf8_lossy(&body), String::from_utf8_lossy(expected), "{name}: {}", side.name);
        run(options, paths, side).await; // to warm up
    }
    let mut runs: Vec<Vec<Run>> = sides.iter().map(|_| Vec::new()).collect();
    for _ in 0..options.rounds {
        for (side, runs) in sides.iter().zip(&mut runs) {
            runs.push(run(options, paths, side).await);
        }
    }
    let bytes = bytes.map_or(0, |bytes| bytes.len());
    let base = median(runs[0].iter().map(|run| run.rate));
    for (side, runs) in sides.iter().zip(&runs) {
        let rate = median(runs.iter().map(|run| run.rate));
        let cpu = runs.iter().map(|run| run.cpu).collect::<Option<Vec<f64>>>();
        let cpu = cpu.map_or("-".to_owned(), |cpu| format!("{:.0}", median(cpu.into_iter())));
        println!("{name:<8} {:<14} {bytes:>8} {rate:>10.0} {:>7.2} {cpu:>12}", side.name, rate / base);
    }
}

async fn run(options: &Options, paths: &[String], side: &Side<'_>) -> Run {
    let requests: Vec<Vec<u8>> = paths.iter().map(|path| get(path, side.token)).collect();
    let before = side.server.cpu();
    let (answers, seconds) = load(side.server.address, &requests, options.connections, options.length).await;
    let spent = side.server.cpu().zip(before).map(|(after, before)| after - before);
    Run { rate: answers as f64 / seconds, cpu: spent.map(|spent| spent.as_secs_f64() * 1e6 / answers as f64) }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
