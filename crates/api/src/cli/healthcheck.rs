//! `waymark healthcheck`: one GET of `/server/health` on this machine; for containers.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::Failed;
use crate::settings::Source;

const PATIENCE: Duration = Duration::from_secs(5);

pub async fn run(source: &Source) -> Result<(), Failed> {
    let port = source.text("PORT").unwrap_or_default();
    let host = match source.text("HOST").unwrap_or_default().as_str() {
        "" | "0.0.0.0" | "::" => "127.0.0.1".to_owned(),
        host => host.to_owned(),
    };
    let status = timeout(PATIENCE, ask(&format!("{host}:{port}"))).await.map_err(|_| "no answer in time")??;
    if status == "200" { Ok(()) } else { Err(format!("the server answers {status}").into()) }
}

async fn ask(address: &str) -> Result<String, Failed> {
    let mut stream = TcpStream::connect(address).await.map_err(|error| format!("{address}: {error}"))?;
    let request = format!("GET /server/health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await?;
    let status = answer.strip_prefix(b"HTTP/1.1 ").unwrap_or_default();
    Ok(String::from_utf8_lossy(status).into_owned())
}
