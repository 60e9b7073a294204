//! SIGTERM under load: whoever sent a whole request over a connection the server had taken gets an
//! answer, what was acknowledged stays, and the end comes in time.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::mpsc,
    task::JoinSet,
    time::timeout,
};
use waymark_tests::{Client, Database, Kind, Process, Server, each_engine};

const WRITERS: usize = 24;
const PATIENCE: Duration = Duration::from_secs(30);

each_engine! {
    async fn heavy_an_end_under_load_loses_nothing(kind) {
        let database = Database::create(kind).await;
        let server = Process::start(&database, &[("ACCESS_TOKEN_TTL", "1h")]).await;
        let admin = server.admin().await;
        let fields = json!([{ "field": "writer", "type": "integer" }, { "field": "number", "type": "integer" }]);
        admin.create_collection("notes", fields).await;
        let (_, login) = server
            .client()
            .post("/auth/login", json!({ "email": "admin@example.com", "password": "password" }))
            .await;
        let token = login["data"]["access_token"].as_str().expect("a token").to_owned();
        let address: SocketAddr = server.url.trim_start_matches("http://").parse().expect("an address");

        let (acknowledge, mut acknowledged) = mpsc::unbounded_channel();
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            writers.spawn(write(address, token.clone(), writer, acknowledge.clone()));
        }
        drop(acknowledge);
        let mut kept = 0;
        while kept < 3 * WRITERS {
            timeout(PATIENCE, acknowledged.recv()).await.expect("answers in time").expect("more answers");
            kept += 1;
        }
        let asked = Instant::now();
        server.terminate().await;
        let status = server.wait(Duration::from_secs(5 + 5)).await;
        println!("ended after {:?}", asked.elapsed());
        assert_eq!(status.code(), Some(0));
        while let Some(writer) = writers.join_next().await {
            writer.expect("a writer that got all its answers");
        }
        while acknowledged.recv().await.is_some() {
            kept += 1;
        }
        let stored = database.number("SELECT COUNT(*) FROM notes").await;
        assert_eq!(stored, i64::try_from(kept).expect("a number"), "rows stored, rows acknowledged");
    }

    async fn an_idle_server_ends_at_once_although_connections_are_open(kind) {
        let database = Database::create(kind).await;
        let server = Process::start(&database, &[]).await;
        let address: SocketAddr = server.url.trim_start_matches("http://").parse().expect("an address");
        let mut idle = Connection::open(address).await.expect("a connection");
        assert!(idle.ask("GET /server/ping HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("an answer").ok);
        server.terminate().await;
        assert_eq!(server.wait(Duration::from_secs(5 + 5)).await.code(), Some(0));
    }
}

/// Writes until the server says that it closes the connection and takes no other.
async fn write(address: SocketAddr, token: String, writer: usize, acknowledge: mpsc::UnboundedSender<()>) {
    let mut connection = Connection::open(address).await.expect("the server runs");
    for number in 0.. {
        let body = json!({ "writer": writer, "number": number }).to_string();
        let request = format!(
            "POST /items/notes HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = match connection.ask(&request).await {
            Ok(answer) => answer,
            // Nobody took it from the queue of the listener: the same as a refusal.
            Err(_) if connection.answers == 0 => return,
            Err(error) => panic!("writer {writer}, request {number}: no answer ({error})"),
        };
        assert!(answer.ok, "{}", answer.head);
        acknowledge.send(()).expect("the test listens");
        if answer.last {
            match Connection::open(address).await {
                Ok(other) => connection = other,
                Err(_) => return,
            }
        }
    }
}

/// One connection, over which one request after the other is sent.
struct Connection {
    stream: TcpStream,
    answers: usize,
}

struct Reply {
    head: String,
    ok: bool,
    /// The server closes the connection after it.
    last: bool,
}

impl Connection {
    async fn open(address: SocketAddr) -> std::io::Result<Self> {
        Ok(Self { stream: TcpStream::connect(address).await?, answers: 0 })
    }

    async fn ask(&mut self, request: &str) -> std::io::Result<Reply> {
        timeout(PATIENCE, self.exchange(request)).await?
    }

    async fn exchange(&mut self, request: &str) -> std::io::Result<Reply> {
        self.stream.write_all(request.as_bytes()).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.and_then(|length| length.trim().parse().ok()).unwrap_or(0)];
        self.stream.read_exact(&mut body).await?;
        self.answers += 1;
        Ok(Reply { ok: head.starts_with("http/1.1 200"), last: head.contains("\r\nconnection: close"), head })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_of_one_process_are_apart() {
    let (one, other) = (Server::start(Kind::Sqlite).await, Server::start(Kind::Sqlite).await);
    let (first, second) = (one.admin().await, other.admin().await);
    first.create_collection("ones", json!([])).await;
    second.create_collection("others", json!([])).await;
    assert_eq!(first.get("/items/ones").await.0, 200);
    assert_eq!(second.get("/items/ones").await.0, 403);
    let (_, me) = first.get("/users/me").await;
    let path = format!("/users/{}", me["data"]["id"].as_str().expect("an id"));
    assert_eq!(second.get(&path).await.0, 403);

    let running = Arc::new(AtomicUsize::new(0));
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..4 {
        writers.spawn(load(second.clone(), Arc::clone(&running)));
    }
    let under_way = async {
        while running.load(Ordering::SeqCst) < 4 {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, under_way).await.expect("writes in time");
    let url = one.url.clone();
    one.stop();
    assert!(Client::new(&url).attempt("GET", "/server/ping", None).await.is_err(), "the first one still answers");
    while let Some(writer) = writers.join_next().await {
        writer.expect("the second one goes on");
    }
    other.stop();
}

/// Fifty writes; tells when it is under way.
async fn load(client: Client, running: Arc<AtomicUsize>) {
    for number in 0..50 {
        client.must_post("/items/others", json!({})).await;
        if number == 0 {
            running.fetch_add(1, Ordering::SeqCst);
        }
    }
}
