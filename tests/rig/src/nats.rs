//! A real `nats-server` with JetStream of one's own on a free loopback port, to be killed,
//! restarted or frozen.

use std::{
    net::SocketAddr,
    process::{Command, Stdio},
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpStream,
};

use crate::child::{Guarded, on_free_port, wait_until_it_answers};

/// A running `nats-server -js`. Killed when dropped; its data survive [`restart`](Self::restart).
#[derive(Debug)]
pub struct NatsServer {
    address: SocketAddr,
    arguments: Vec<String>,
    child: Option<Guarded>,
    directory: TempDir,
}

impl NatsServer {
    /// Starts a server with more arguments, `["--auth", "token"]` for example, and waits until it
    /// introduces itself.
    ///
    /// # Panics
    /// When `nats-server` isn't installed or doesn't come up.
    pub async fn start(arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let (address, child) =
            on_free_port("nats-server", |address| spawn(address, &directory, &arguments), answers).await;
        Self { address, arguments, child: Some(child), directory }
    }

    /// Starts a server with a configuration file of this text, for accounts and permissions.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    pub async fn start_configured(configuration: &str) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("server.conf");
        std::fs::write(&file, configuration).expect("the configuration can be written");
        let arguments = vec!["-c".to_owned(), file.display().to_string()];
        let (address, child) =
            on_free_port("nats-server", |address| spawn(address, &directory, &arguments), answers).await;
        Self { address, arguments, child: Some(child), directory }
    }

    /// `nats://127.0.0.1:PORT`
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://{}", self.address)
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

    /// Starts it again on the same port with the same data, killed before or not.
    ///
    /// # Panics
    /// When it doesn't come up.
    pub async fn restart(&mut self) {
        self.kill();
        let mut child = spawn(self.address, &self.directory, &self.arguments);
        let up = wait_until_it_answers(&mut child, self.address, &answers).await;
        assert!(up, "nats-server does not come up again on {}", self.address);
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

/// The name says whose child it is: this process and the port are one server at most.
fn name(address: SocketAddr) -> String {
    format!("rig-{}-{}", std::process::id(), address.port())
}

fn spawn(address: SocketAddr, directory: &TempDir, arguments: &[String]) -> Guarded {
    Guarded::spawn(
        Command::new("nats-server")
            .args(["-a", "127.0.0.1", "-p", &address.port().to_string(), "-n", &name(address), "-js", "-sd"])
            .arg(directory.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    )
}

/// Whether the server behind the address introduces itself by the name it was given.
async fn answers(address: SocketAddr, _process: u32) -> bool {
    let Ok(stream) = TcpStream::connect(address).await else { return false };
    let mut line = String::new();
    let read = BufReader::new(stream).read_line(&mut line).await;
    read.is_ok() && line.starts_with("INFO ") && line.contains(&format!("\"{}\"", name(address)))
}
