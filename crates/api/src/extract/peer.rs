//! Whether the client of a request is still there. The server reads nothing from a connection while
//! it works on an answer's request, and so does not notice; work that takes long asks here.

use std::{any::Any, net::TcpStream, sync::Arc, time::Duration};

use actix_web::dev::Extensions;

/// Time between two looks.
const INTERVAL: Duration = Duration::from_millis(250);

/// The other end of a connection: a second handle of its socket, which nothing is read from or written to.
#[derive(Clone, Debug)]
pub struct Peer(Arc<TcpStream>);

impl Peer {
    /// Keeps a handle of a new connection for its requests (`HttpServer::on_connect`). A connection for
    /// which there is none does without.
    pub fn remember(connection: &dyn Any, extensions: &mut Extensions) {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            let socket = connection.downcast_ref::<actix_web::rt::net::TcpStream>();
            if let Some(Ok(handle)) = socket.map(|socket| socket.as_fd().try_clone_to_owned()) {
                extensions.insert(Self(Arc::new(handle.into())));
            }
        }
        #[cfg(not(unix))]
        let _ = (connection, extensions);
    }

    /// Whether the client has closed its end, or the connection is broken. A client that only says that
    /// it will send no more counts as gone too. One that sent more than it was asked for is taken to be there.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        use std::io::ErrorKind;
        match self.0.peek(&mut [0]) {
            Ok(bytes) => bytes == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }

    /// Waits until the client is gone.
    pub async fn gone(&self) {
        while !self.is_gone() {
            tokio::time::sleep(INTERVAL).await;
        }
    }
}
