//! Requests whose answers nobody waits for: bytes on a connection of one's own.

use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpSocket, TcpStream},
};

use crate::{Server, server};

/// A request that has been sent, and whose answer has not been read.
#[derive(Debug)]
pub struct Unanswered(TcpStream);

/// How a client goes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// The connection is closed in order (FIN).
    Closed,
    /// The connection is broken (RST).
    Broken,
}

impl Unanswered {
    /// Sends a request as the admin.
    ///
    /// # Panics
    /// When the log-in or the sending fails.
    pub async fn send(server: &Server, method: &str, path: &str, body: &str) -> Self {
        let login = serde_json::json!({ "email": server::ADMIN_EMAIL, "password": server::ADMIN_PASSWORD });
        let (status, answer) = server.client().post("/auth/login", login).await;
        assert_eq!(status, 200, "{answer}");
        let token = answer["data"]["access_token"].as_str().expect("a token");
        let address = server.url.trim_start_matches("http://");
        let socket = TcpSocket::new_v4().expect("a socket");
        let mut stream = socket.connect(address.parse().expect("an address")).await.expect("a connection");
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.expect("the request is sent");
        Self(stream)
    }

    /// Goes away without the answer.
    ///
    /// # Panics
    /// When the system does not let it.
    pub fn leave(self, how: Leaving) {
        if how == Leaving::Broken {
            self.0.set_zero_linger().expect("a connection that can be broken");
        }
    }
}
