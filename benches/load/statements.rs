//! Counts what a server asks of PostgreSQL: passes its connections on and counts the messages that run a
//! statement. Prepared and simple ones count alike, `BEGIN` and `COMMIT` too.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::JoinSet,
};

/// The request for an encrypted connection, in place of a version (protocol, "SSLRequest").
const ENCRYPTION: [u8; 4] = 80_877_103_u32.to_be_bytes();

/// A way to the database that counts statements; ends when dropped.
pub struct Counter {
    /// Where servers connect to.
    pub address: SocketAddr,
    statements: Arc<AtomicU64>,
    _passing: JoinSet<()>,
}

impl Counter {
    /// Opens a way to the database at this address (`host:port`).
    pub async fn start(database: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let statements = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&statements);
        let mut passing = JoinSet::new();
        passing.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&database).await.expect("PostgreSQL answers");
                let (from_client, mut to_client) = client.into_split();
                let (mut from_server, to_server) = server.into_split();
                let counted = Arc::clone(&counted);
                connections.spawn(async move {
                    let _ = forward(from_client, to_server, &counted).await;
                });
                connections.spawn(async move {
                    let _ = copy(&mut from_server, &mut to_client).await;
                });
            }
        });
        Self { address, statements, _passing: passing }
    }

    /// Statements so far.
    pub fn count(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }
}

/// Passes messages on: the first ones are a length and its content, those after the start-up have a type
/// in front.
async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, statements: &AtomicU64) -> std::io::Result<()> {
    let mut content = Vec::new();
    loop {
        let length = from.read_u32().await?;
        content.resize(length.saturating_sub(4) as usize, 0);
        from.read_exact(&mut content).await?;
        to.write_u32(length).await?;
        to.write_all(&content).await?;
        if !content.starts_with(&ENCRYPTION) {
            break;
        }
    }
    loop {
        let kind = from.read_u8().await?;
        let length = from.read_u32().await?;
        content.resize(length.saturating_sub(4) as usize, 0);
        from.read_exact(&mut content).await?;
        if kind == b'E' || kind == b'Q' {
            statements.fetch_add(1, Ordering::Relaxed);
        }
        to.write_u8(kind).await?;
        to.write_u32(length).await?;
        to.write_all(&content).await?;
    }
}
