//! One scenario on all sides: the same bytes first, then alternating runs, then a line per side.

use std::time::Duration;

use waymark_benches::scene;

use crate::{client::load, process::Served, scenarios::Scenario, statements::Counter};

/// How long and how wide runs are.
pub struct Extent {
    pub rounds: usize,
    pub length: Duration,
    pub connections: usize,
}

/// One server as one kind of caller.
pub struct Side<'a> {
    pub name: &'static str,
    pub server: &'a Served,
    /// The same server on a counted way to the database.
    pub counted: &'a (Served, Counter),
    pub token: Token<'a>,
}

/// How a side's caller is known.
pub enum Token<'a> {
    /// Not at all: the hand-written server.
    Nobody,
    Static,
    /// Access tokens by e-mail address.
    Access(&'a [(&'static str, String)]),
}

/// Requests per second and CPU time per request of one run.
struct Run {
    rate: f64,
    cpu: Option<f64>,
}

impl Side<'_> {
    fn requests(&self, scenario: &Scenario) -> Vec<Vec<u8>> {
        scenario.requests(match &self.token {
            Token::Nobody => None,
            Token::Static => Some(scenario.caller.token),
            Token::Access(tokens) => {
                tokens.iter().find(|(email, _)| *email == scenario.caller.email).map(|(_, token)| token.as_str())
            }
        })
    }
}

/// The head of the table.
pub fn head(extent: &Extent) {
    println!(
        "{} connections, {} workers, {} database connections, median of {} runs of {:?}",
        extent.connections,
        scene::WORKERS,
        scene::CONNECTIONS,
        extent.rounds,
        extent.length
    );
    println!(
        "{:<9} {:<12} {:>7} {:>10} {:>9} {:>6} {:>11}",
        "request", "caller", "bytes", "statements", "answers/s", "ratio", "CPU µs each"
    );
}

/// Compares the answers, measures and prints.
pub async fn scenario(extent: &Extent, scenario: &Scenario, sides: &[Side<'_>]) {
    let name = scenario.name;
    let mut expected: Option<String> = None;
    let mut statements = Vec::with_capacity(sides.len());
    for side in sides {
        let requests = side.requests(scenario);
        let body = String::from_utf8(side.server.ask(&requests[requests.len() / 2]).await).expect("UTF-8");
        let first = expected.get_or_insert_with(|| body.clone());
        assert_eq!(&body, first, "{name}: {}", side.name);
        statements.push(count(side.counted, &requests[0]).await);
        run(extent, &requests, side.server).await; // to warm up
    }
    let mut runs: Vec<Vec<Run>> = sides.iter().map(|_| Vec::new()).collect();
    for _ in 0..extent.rounds {
        for (side, runs) in sides.iter().zip(&mut runs) {
            runs.push(run(extent, &side.requests(scenario), side.server).await);
        }
    }
    let bytes = expected.map_or(0, |body| body.len());
    let base = median(runs[0].iter().map(|run| run.rate));
    for ((side, runs), statements) in sides.iter().zip(&runs).zip(statements) {
        let rate = median(runs.iter().map(|run| run.rate));
        let cpu = runs.iter().map(|run| run.cpu).collect::<Option<Vec<f64>>>();
        let cpu = cpu.map_or("-".to_owned(), |cpu| format!("{:.0}", median(cpu.into_iter())));
        println!("{name:<9} {:<12} {bytes:>7} {statements:>10} {rate:>9.0} {:>6.2} {cpu:>11}", side.name, rate / base);
    }
}

/// Statements of a request when everything is cached: the fewest of five, for a server also does work of
/// its own.
async fn count((server, counter): &(Served, Counter), request: &[u8]) -> u64 {
    server.ask(request).await;
    let mut fewest = u64::MAX;
    for _ in 0..5 {
        let before = counter.count();
        server.ask(request).await;
        fewest = fewest.min(counter.count() - before);
    }
    fewest
}

async fn run(extent: &Extent, requests: &[Vec<u8>], server: &Served) -> Run {
    let before = server.cpu();
    let (answers, seconds) = load(server.address, requests, extent.connections, extent.length).await;
    let spent = server.cpu().zip(before).map(|(after, before)| after - before);
    Run { rate: answers as f64 / seconds, cpu: spent.map(|spent| spent.as_secs_f64() * 1e6 / answers as f64) }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
