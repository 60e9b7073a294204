//! What the rig promises, seen from a client that speaks plain TCP.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use waymark_rig::{Binary, NatsServer, Proxy, RedisServer};

const SOON: Duration = Duration::from_secs(10);

async fn ping(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"PING\r\n").await?;
    let mut answer = [0; 7];
    stream.read_exact(&mut answer).await?;
    assert_eq!(&answer, b"+PONG\r\n");
    Ok(())
}

#[tokio::test]
async fn a_proxy_stalls_cuts_delays_drops_and_restores() {
    let server = RedisServer::start(&[]).await;
    let proxy = Proxy::start(server.address()).await;
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    ping(&mut stream).await.unwrap();

    proxy.stall();
    let short = Duration::from_millis(100);
    assert!(tokio::time::timeout(short, ping(&mut stream)).await.is_err(), "a stalled proxy passes bytes on");
    let mut second = TcpStream::connect(proxy.address()).await.unwrap();
    assert!(tokio::time::timeout(short, ping(&mut second)).await.is_err(), "a stalled proxy passes bytes on");
    proxy.restore();
    let mut late = [0; 7];
    tokio::time::timeout(SOON, stream.read_exact(&mut late)).await.unwrap().unwrap();

    proxy.delay(short);
    let start = std::time::Instant::now();
    ping(&mut stream).await.unwrap();
    assert!(start.elapsed() >= 2 * short);
    proxy.restore();

    proxy.drop_all();
    assert!(ping(&mut stream).await.is_err());
    let mut third = TcpStream::connect(proxy.address()).await.unwrap();
    ping(&mut third).await.unwrap();

    proxy.cut();
    assert!(ping(&mut third).await.is_err());
    let refused = async { ping(&mut TcpStream::connect(proxy.address()).await?).await };
    assert!(refused.await.is_err());
    assert_eq!(proxy.connections(), 4);
    proxy.restore();
    ping(&mut TcpStream::connect(proxy.address()).await.unwrap()).await.unwrap();
}

#[tokio::test]
async fn servers_are_killed_restarted_and_frozen_on_their_port() {
    let mut redis = RedisServer::start(&["--appendonly", "yes"]).await;
    let mut nats = NatsServer::start(&[]).await;
    let mut stream = TcpStream::connect(redis.address()).await.unwrap();
    redis.stop_answering();
    assert!(tokio::time::timeout(Duration::from_millis(100), ping(&mut stream)).await.is_err());
    redis.continue_answering();
    redis.kill();
    nats.kill();
    assert!(TcpStream::connect(redis.address()).await.is_err());
    assert!(TcpStream::connect(nats.address()).await.is_err());
    redis.restart().await;
    nats.restart().await;
    ping(&mut TcpStream::connect(redis.address()).await.unwrap()).await.unwrap();
}

#[tokio::test]
async fn many_servers_start_at_once() {
    let mut starting = tokio::task::JoinSet::new();
    for _ in 0..8 {
        starting.spawn(RedisServer::start(&[]));
    }
    let servers = starting.join_all().await;
    let mut addresses: Vec<_> = servers.iter().map(RedisServer::address).collect();
    addresses.sort();
    addresses.dedup();
    assert_eq!(addresses.len(), 8);
}

#[tokio::test]
async fn lines_of_a_process_can_be_awaited_and_it_ends_when_told() {
    let mut process = Binary::start("sh", &["-c", "echo $GREETING; echo 2; exec sleep 60"], &[("GREETING", "hello")]);
    assert_eq!(process.line(SOON, |line| line.starts_with('h')).await, "hello");
    assert_eq!(process.wait(SOON, |lines| lines.len() == 2).await, ["hello", "2"]);
    assert!(!process.terminate(SOON).await.success());

    let mut process = Binary::start("sleep", &["60"], &[]);
    process.kill_now().await;
    assert!(!process.ended(SOON).await.success());
}
