//! A child process whose lines of output a test can await, and that it can kill at any moment.

use std::{
    ffi::OsStr,
    path::PathBuf,
    process::{Command, ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    process::{ChildStderr, ChildStdout},
    sync::watch,
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::child::Guarded;

/// A running program. Killed when dropped.
///
/// All lines of its output and of its errors are kept as long as this value lives.
#[derive(Debug)]
pub struct Binary {
    child: Guarded,
    output: Lines,
    errors: Lines,
    readers: TaskTracker,
    _end: DropGuard,
}

type Lines = Arc<watch::Sender<Vec<String>>>;

/// The path of a program that was built into `target/PROFILE` or `target/PROFILE/examples`.
///
/// # Panics
/// When it has not been built.
#[must_use]
pub fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let profile = test.parent().and_then(|deps| deps.parent()).expect("target/PROFILE/deps");
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let candidates = [profile.join(&file), profile.join("examples").join(&file)];
    match candidates.iter().find(|path| path.is_file()) {
        Some(path) => path.clone(),
        None => panic!("{name} is not built under {}: build the workspace with its examples first", profile.display()),
    }
}

impl Binary {
    /// Starts a program with arguments and, beside those of this process, variables.
    ///
    /// # Panics
    /// When it isn't there.
    pub fn start<A: AsRef<OsStr>>(program: impl AsRef<OsStr>, arguments: &[A], environment: &[(&str, &str)]) -> Self {
        let mut child = Guarded::spawn(
            Command::new(program)
                .args(arguments)
                .envs(environment.iter().copied())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped()),
        );
        let (output, errors) = (Lines::default(), Lines::default());
        let (readers, end) = (TaskTracker::new(), CancellationToken::new());
        let (stdout, stderr) = child.take_output();
        if let Some(stdout) = stdout.and_then(|pipe| ChildStdout::from_std(pipe).ok()) {
            readers.spawn(end.clone().run_until_cancelled_owned(collect(stdout, output.clone())));
        }
        if let Some(stderr) = stderr.and_then(|pipe| ChildStderr::from_std(pipe).ok()) {
            readers.spawn(end.clone().run_until_cancelled_owned(collect(stderr, errors.clone())));
        }
        readers.close();
        Self { child, output, errors, readers, _end: end.drop_guard() }
    }

    /// The id of the process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The lines it has printed so far.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.output.borrow().clone()
    }

    /// The lines it has written to its error output so far.
    #[must_use]
    pub fn error_lines(&self) -> Vec<String> {
        self.errors.borrow().clone()
    }

    /// The first line that satisfies the condition, printed already or not yet.
    ///
    /// # Panics
    /// When none comes in time.
    pub async fn line(&self, deadline: Duration, condition: impl Fn(&str) -> bool) -> String {
        let find = |lines: &[String]| lines.iter().find(|line| condition(line)).cloned();
        self.wait(deadline, |lines| find(lines).is_some()).await;
        find(&self.output.borrow()).expect("a line that was there")
    }

    /// Waits until the lines satisfy the condition, and returns them.
    ///
    /// # Panics
    /// When they don't in time.
    pub async fn wait(&self, deadline: Duration, condition: impl Fn(&[String]) -> bool) -> Vec<String> {
        let mut lines = self.output.subscribe();
        let waited = tokio::time::timeout(deadline, lines.wait_for(|lines| condition(lines))).await;
        if let Ok(Ok(lines)) = waited {
            return lines.clone();
        }
        panic!(
            "process {} has not printed what was awaited within {deadline:?}; it printed {} lines, its errors: {:?}",
            self.id(),
            self.output.borrow().len(),
            self.errors.borrow()
        )
    }

    /// Kills it (SIGKILL); its lines stay.
    pub async fn kill_now(&mut self) {
        self.child.kill();
        self.readers.wait().await;
    }

    /// Asks it to end (SIGTERM) and waits for that.
    ///
    /// # Panics
    /// When it doesn't end in time.
    pub async fn terminate(&mut self, deadline: Duration) -> ExitStatus {
        self.child.signal("TERM");
        self.ended(deadline).await
    }

    /// Waits until it ends by itself, and all its lines are there.
    ///
    /// # Panics
    /// When it doesn't end in time.
    pub async fn ended(&mut self, deadline: Duration) -> ExitStatus {
        let status = self.child.wait(deadline).await;
        self.readers.wait().await;
        status
    }

    /// Freezes it (SIGSTOP), as a suspended machine would.
    pub fn suspend(&self) {
        self.child.signal("STOP");
    }

    /// Lets it go on (SIGCONT).
    pub fn wake(&self) {
        self.child.signal("CONT");
    }
}

async fn collect(pipe: impl AsyncRead + Unpin, into: Lines) {
    let mut lines = BufReader::new(pipe).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        into.send_modify(|lines| lines.push(line));
    }
}
