//! The real `waymark` binary as a child process, to be killed. It is built before the tests run and
//! stands beside the directory of the test executables.

use std::{
    net::TcpListener,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::process::{Child, Command};

use crate::{Client, Database, server};

/// A server in a process of its own. Killed when dropped.
#[derive(Debug)]
pub struct Process {
    pub url: String,
    child: Child,
}

/// The path of the binary.
///
/// # Panics
/// When it has not been built.
#[must_use]
pub fn binary() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let profile = test.parent().and_then(|deps| deps.parent()).expect("target/PROFILE/deps");
    let binary = profile.join(format!("waymark{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.is_file(), "{} is not built: run `just test`, or `cargo build` first", binary.display());
    binary
}

/// A command with the settings of a test server and nothing of this process's environment but `PATH`.
#[must_use]
pub fn command(database: &Database, arguments: &[&str], overrides: &[(&str, &str)]) -> Command {
    let mut command = Command::new(binary());
    command
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs(server::settings(database, overrides))
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

impl Process {
    /// Bootstraps the database and serves it.
    ///
    /// # Panics
    /// When either fails, or nobody answers within 30 s.
    pub async fn start(database: &Database, overrides: &[(&str, &str)]) -> Self {
        let status = command(database, &["bootstrap"], overrides).stdout(Stdio::null()).status().await;
        assert!(status.expect("bootstrap starts").success(), "bootstrap fails");
        Self::serve(database, overrides).await
    }

    /// Serves a database that is bootstrapped already.
    ///
    /// # Panics
    /// When nobody answers within 30 s.
    pub async fn serve(database: &Database, overrides: &[(&str, &str)]) -> Self {
        Self::serve_by(command(database, &["serve"], overrides)).await
    }

    /// The same with a command of one's own, whose output goes elsewhere for example.
    ///
    /// # Panics
    /// When nobody answers within 30 s.
    pub async fn serve_by(mut command: Command) -> Self {
        let port = free_port().to_string();
        let url = format!("http://127.0.0.1:{port}");
        let child = command.env("PORT", &port).spawn().expect("the server starts");
        let mut process = Self { url, child };
        let http = reqwest::Client::new();
        for _ in 0..600 {
            if let Some(status) = process.child.try_wait().expect("a child") {
                panic!("the server ended at once: {status}");
            }
            if http.get(format!("{}/server/ping", process.url)).send().await.is_ok() {
                return process;
            }
            tokio::time::sleep(Duration::from_millis(50)).await; // a pause between questions
        }
        panic!("the server does not answer");
    }

    /// A caller without credentials.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(&self.url)
    }

    /// The admin, logged in.
    pub async fn admin(&self) -> Client {
        self.client().login(server::ADMIN_EMAIL, server::ADMIN_PASSWORD).await
    }

    /// The most memory that the process has held so far, in KiB; `None` where the system doesn't tell.
    #[must_use]
    pub fn peak_kib(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
    }

    /// Ends the server as a power cut would (SIGKILL).
    ///
    /// # Panics
    /// When the process can't be killed.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("the process is killed");
    }

    /// Asks the server to end (SIGTERM).
    ///
    /// # Panics
    /// When the signal can't be sent.
    pub async fn terminate(&self) {
        let id = self.child.id().expect("a running process").to_string();
        let status = Command::new("kill").args(["-TERM", &id]).status().await;
        assert!(status.expect("kill starts").success());
    }

    /// Waits for the end.
    ///
    /// # Panics
    /// When it does not come in time.
    pub async fn wait(mut self, timeout: Duration) -> ExitStatus {
        let end = tokio::time::timeout(timeout, self.child.wait()).await;
        end.expect("the server ends in time").expect("an exit status")
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}
