//! A cheap HTTP client: ready bytes out, answers skipped by their length.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

/// One keep-alive connection.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(128 * 1024) })
    }

    /// Sends a request and reads the whole answer; gives its body.
    ///
    /// # Panics
    /// When the answer is not 200 with a length.
    pub async fn ask(&mut self, request: &[u8]) -> std::io::Result<&[u8]> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let head = loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(end) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
        };
        let text = String::from_utf8_lossy(&self.buffer[..head]);
        assert!(text.starts_with("HTTP/1.1 200"), "{text}{}", String::from_utf8_lossy(&self.buffer[head..]));
        let length = text
            .split("\r\n")
            .filter_map(|line| line.split_once(": "))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.parse::<usize>().ok())
            .expect("a length");
        let whole = head + length;
        while self.buffer.len() < whole {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(&self.buffer[head..whole])
    }
}

/// A `GET` as bytes.
pub fn get(path: &str, token: Option<&str>) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{}\r\n", authorization(token)).into_bytes()
}

/// A `POST` of JSON as bytes.
pub fn post(path: &str, token: Option<&str>, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        authorization(token),
        body.len()
    )
    .into_bytes()
}

fn authorization(token: Option<&str>) -> String {
    token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default()
}

/// Asks over and over on this many connections; gives answers per second.
pub async fn load(address: SocketAddr, requests: &[Vec<u8>], connections: usize, length: Duration) -> (u64, f64) {
    let mut tasks = JoinSet::new();
    let started = Instant::now();
    for first in 0..connections {
        let requests = requests.to_vec();
        tasks.spawn(async move {
            let mut connection = Connection::open(address).await.expect("a connection");
            let mut answers = 0_u64;
            for request in requests.iter().cycle().skip(first * 7) {
                if started.elapsed() >= length {
                    break;
                }
                connection.ask(request).await.expect("an answer");
                answers += 1;
            }
            answers
        });
    }
    let answers = tasks.join_all().await.into_iter().sum();
    (answers, started.elapsed().as_secs_f64())
}
