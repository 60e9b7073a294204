//! Measured servers as child processes of this executable: each has its own CPU time.

use std::{
    io::{BufRead, BufReader, Read},
    net::{SocketAddr, TcpListener},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tokio_util::sync::CancellationToken;
use waymark_api::telemetry;
use waymark_benches::scene;

use crate::{bare, client};

/// The first argument of a child.
pub const SERVE: &str = "--serve";

/// A running server; ends when dropped.
pub struct Served {
    pub address: SocketAddr,
    child: Child,
}

impl Served {
    /// Starts `ours` or `bare` on a database.
    pub fn start(which: &str, url: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("the path of this program"))
            .args([SERVE, which, url])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child process");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("the child's output");
        BufReader::new(stdout).read_line(&mut line).expect("the child's address");
        Self { address: line.trim().parse().expect("the child's address"), child }
    }

    /// The answer to one request.
    pub async fn ask(&self, request: &[u8]) -> Vec<u8> {
        let mut connection = client::Connection::open(self.address).await.expect("a connection");
        connection.ask(request).await.expect("an answer").to_vec()
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// CPU time so far, in user and system mode; `None` where the system does not tell.
    pub fn cpu(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        Some(Duration::from_millis(ticks * 10)) // Linux counts hundredths of a second here
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // The end of its input ends the child.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The life of a child: serves until its input ends.
pub fn serve(which: &str, url: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    println!("{}", listener.local_addr().expect("an address"));
    let shutdown = CancellationToken::new();
    let ending = shutdown.clone();
    let input = move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ending.cancel();
    };
    let _input = std::thread::Builder::new().name("input".to_owned()).spawn(input).expect("a thread");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        if which == "ours" {
            let settings = scene::settings("pg", url);
            telemetry::start(&settings.log);
            waymark_api::run(settings, listener, shutdown).await.expect("the server runs");
        } else {
            tokio::select! {
                () = bare::serve(url, listener) => {}
                () = shutdown.cancelled() => {}
            }
        }
    });
}
