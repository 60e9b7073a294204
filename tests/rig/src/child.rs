//! A child process that is killed when dropped, and signals to it. No shell, no unsafe code: the
//! signals other than KILL are sent by the program `kill`.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    process::{Child, Command, ExitStatus},
    time::Duration,
};

/// A child process. Killed and reaped when dropped.
#[derive(Debug)]
pub(crate) struct Guarded(Child);

impl Guarded {
    /// Starts the command.
    ///
    /// # Panics
    /// When the program isn't there.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let program = command.get_program().to_owned();
        match command.spawn() {
            Ok(child) => Self(child),
            Err(error) => panic!(
                "{} does not start: {error}. The servers that tests need are installed by scripts/services",
                program.display()
            ),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().expect("a child can be asked")
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Sends a signal by its name without SIG.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.0.id().to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()), "SIG{name} can't be sent to {}", self.0.id());
    }

    pub(crate) fn take_output(&mut self) -> (Option<std::process::ChildStdout>, Option<std::process::ChildStderr>) {
        (self.0.stdout.take(), self.0.stderr.take())
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it hasn't ended in time.
    pub(crate) async fn wait(&mut self, deadline: Duration) -> ExitStatus {
        let waited = async {
            loop {
                if let Some(status) = self.ended() {
                    return status;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        match tokio::time::timeout(deadline, waited).await {
            Ok(status) => status,
            Err(_) => panic!("process {} has not ended within {deadline:?}", self.0.id()),
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A loopback address that nobody listens on at the moment.
pub(crate) fn free_address() -> SocketAddr {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .expect("a free loopback port")
}

/// Starts a server on free ports until one of them is really its own.
///
/// `answers` says whether the server behind the address is that very child; others may take the
/// port between the choice and the start.
pub(crate) async fn on_free_port<S, A, F>(name: &str, mut start: S, answers: A) -> (SocketAddr, Guarded)
where
    S: FnMut(SocketAddr) -> Guarded,
    A: Fn(SocketAddr, u32) -> F,
    F: Future<Output = bool>,
{
    for _ in 0..20 {
        let address = free_address();
        let mut child = start(address);
        if wait_until_it_answers(&mut child, address, &answers).await {
            return (address, child);
        }
    }
    panic!("{name} does not answer on any of twenty free ports");
}

/// Waits until the child answers; false when it ends before, or within 20 s does not.
pub(crate) async fn wait_until_it_answers<A, F>(child: &mut Guarded, address: SocketAddr, answers: &A) -> bool
where
    A: Fn(SocketAddr, u32) -> F,
    F: Future<Output = bool>,
{
    for _ in 0..2_000 {
        if child.ended().is_some() {
            return false;
        }
        let answer = tokio::time::timeout(Duration::from_secs(2), answers(address, child.id())).await;
        if answer.unwrap_or(false) {
            return child.ended().is_none();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}
