//! A TCP proxy on a loopback port that a test cuts, stalls, delays and restores.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{mpsc, watch},
    time::Instant,
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

/// What happens to connections and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Open,
    Stalled,
    Cut,
}

/// A proxy in front of one server. Its tasks and connections end when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
    _end: DropGuard,
}

#[derive(Debug)]
struct State {
    upstream: SocketAddr,
    mode: watch::Sender<Mode>,
    delay: watch::Sender<Duration>,
    /// Ends the present connections; replaced by a new one whenever it is used.
    present: Mutex<CancellationToken>,
    end: CancellationToken,
    accepted: AtomicUsize,
    tasks: TaskTracker,
}

impl Proxy {
    /// Listens on a free loopback port and passes connections on to `upstream`, which need not
    /// listen yet.
    ///
    /// # Panics
    /// When no port can be had.
    pub async fn start(upstream: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free loopback port");
        let address = listener.local_addr().expect("a bound address");
        let end = CancellationToken::new();
        let state = Arc::new(State {
            upstream,
            mode: watch::Sender::new(Mode::Open),
            delay: watch::Sender::new(Duration::ZERO),
            present: Mutex::new(end.child_token()),
            end: end.clone(),
            accepted: AtomicUsize::new(0),
            tasks: TaskTracker::new(),
        });
        state.tasks.spawn(accept(listener, state.clone()));
        Self { address, state, _end: end.drop_guard() }
    }

    /// Where clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Resets all connections and, until [`restore`](Self::restore), every new one.
    pub fn cut(&self) {
        self.state.mode.send_replace(Mode::Cut);
        self.drop_all();
    }

    /// Connections stay open and are accepted, but no byte flows in either direction until
    /// [`restore`](Self::restore); then those in between are delivered.
    pub fn stall(&self) {
        self.state.mode.send_replace(Mode::Stalled);
    }

    /// From now on every byte arrives this much later, in each direction.
    pub fn delay(&self, delay: Duration) {
        self.state.delay.send_replace(delay);
    }

    /// Ends cut, stall and delay.
    pub fn restore(&self) {
        self.state.delay.send_replace(Duration::ZERO);
        self.state.mode.send_replace(Mode::Open);
    }

    /// Resets the present connections; new ones are accepted.
    pub fn drop_all(&self) {
        let mut present = self.state.present.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *present, self.state.end.child_token()).cancel();
    }

    /// How many connections have been accepted so far, those reset at once included.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.state.accepted.load(Ordering::SeqCst)
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    loop {
        let accepted = tokio::select! {
            () = state.end.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((client, _)) = accepted else { continue };
        state.accepted.fetch_add(1, Ordering::SeqCst);
        let life = {
            // Under the lock that `drop_all` takes: a connection is of before or of after.
            let present = state.present.lock().unwrap_or_else(PoisonError::into_inner);
            if *state.mode.borrow() == Mode::Cut {
                let _ = client.set_zero_linger();
                continue;
            }
            present.clone()
        };
        let connection = connect(client, life, state.clone());
        state.tasks.spawn(connection);
    }
}

/// One connection from its start to its end, which is a reset unless one side closed it.
async fn connect(client: TcpStream, life: CancellationToken, state: Arc<State>) {
    let mut mode = state.mode.subscribe();
    let server = tokio::select! {
        () = life.cancelled() => None,
        connected = async {
            // A stalled proxy doesn't reach the server either.
            mode.wait_for(|mode| *mode != Mode::Stalled).await.ok()?;
            TcpStream::connect(state.upstream).await.ok()
        } => connected,
    };
    let _ = client.set_nodelay(true);
    let Some(server) = server else {
        let _ = client.set_zero_linger();
        return;
    };
    let _ = server.set_nodelay(true);
    let _ = (client.set_zero_linger(), server.set_zero_linger());
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let both = async {
        tokio::join!(pump(from_client, to_server, &state), pump(from_server, to_client, &state));
    };
    tokio::select! {
        () = life.cancelled() => {}
        () = both => {}
    }
}

/// Passes bytes on in one direction, each chunk when it is due and nothing is stalled.
async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, state: &State) {
    let (sender, mut receiver) = mpsc::channel::<(Instant, Vec<u8>)>(16);
    let (delay, mut mode) = (state.delay.subscribe(), state.mode.subscribe());
    let read = async move {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(length) = from.read(&mut buffer).await {
            let Some(chunk) = buffer.get(..length).filter(|chunk| !chunk.is_empty()) else { break };
            let due = Instant::now() + *delay.borrow();
            if sender.send((due, chunk.to_vec())).await.is_err() {
                break;
            }
        }
    };
    let write = async move {
        while let Some((due, chunk)) = receiver.recv().await {
            tokio::time::sleep_until(due).await;
            if mode.wait_for(|mode| *mode != Mode::Stalled).await.is_err() || to.write_all(&chunk).await.is_err() {
                return;
            }
        }
        let _ = mode.wait_for(|mode| *mode != Mode::Stalled).await;
        let _ = to.shutdown().await;
    };
    tokio::join!(read, write);
}
