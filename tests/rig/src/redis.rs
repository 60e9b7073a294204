//! A real `redis-server` of one's own on a free loopback port, to be killed, restarted or frozen.

use std::{
    net::SocketAddr,
    process::{Command, Stdio},
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::child::{Guarded, on_free_port, wait_until_it_answers};

/// A running `redis-server`. Killed when dropped.
///
/// Nothing is persisted unless the arguments say so (`--appendonly yes` for example): the
/// directory stays the same over [`restart`](Self::restart).
#[derive(Debug)]
pub struct RedisServer {
    address: SocketAddr,
    arguments: Vec<String>,
    child: Option<Guarded>,
    directory: TempDir,
}

impl RedisServer {
    /// Starts a server with more arguments, `["--appendonly", "yes"]` for example, and waits until
    /// it answers. With a password (`requirepass`) or without `PING` for the default user, being
    /// refused counts as an answer.
    ///
    /// # Panics
    /// When `redis-server` isn't installed or doesn't come up.
    pub async fn start(arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let (address, child) =
            on_free_port("redis-server", |address| spawn(address, &directory, &arguments), answers).await;
        Self { address, arguments, child: Some(child), directory }
    }

    /// `redis://127.0.0.1:PORT`
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Kills the server (SIGKILL).
    pub fn kill(&mut self) {
        self.child = None;
    }

    /// Starts it again on the same port, killed before or not.
    ///
    /// # Panics
    /// When it doesn't come up.
    pub async fn restart(&mut self) {
        self.kill();
        let mut child = spawn(self.address, &self.directory, &self.arguments);
        let up = wait_until_it_answers(&mut child, self.address, &answers).await;
        assert!(up, "redis-server does not come up again on {}", self.address);
        self.child = Some(child);
    }

    /// Freezes the process (SIGSTOP): its sockets stay open, nothing is answered.
    pub fn stop_answering(&self) {
        self.signal("STOP");
    }

    /// Lets a frozen process go on (SIGCONT).
    pub fn continue_answering(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        self.child.as_ref().expect("a server that runs").signal(name);
    }
}

fn spawn(address: SocketAddr, directory: &TempDir, arguments: &[String]) -> Guarded {
    Guarded::spawn(
        Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &address.port().to_string(), "--save", "", "--daemonize", "no"])
            .arg("--dir")
            .arg(directory.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    )
}

/// Whether the server behind the address answers and, as far as it lets itself be asked, is this process.
async fn answers(address: SocketAddr, process: u32) -> bool {
    async fn ask(address: SocketAddr) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(b"PING\r\nINFO server\r\nQUIT\r\n").await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    }
    let Ok(answer) = ask(address).await else { return false };
    let refused = answer.starts_with("-NOAUTH") || answer.starts_with("-NOPERM");
    let pong = answer.starts_with("+PONG");
    let named = answer.contains("process_id:");
    (pong || refused) && (!named || answer.contains(&format!("process_id:{process}\r\n")))
}
