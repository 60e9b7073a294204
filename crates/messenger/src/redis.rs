//! The store on Redis: one connection publishes, one listens (RESP3, messages are handed over by
//! the client's own reading task). Neither reconnects by itself.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo, ProtocolVersion,
    PushInfo, PushKind, RedisError, ServerErrorKind, Value, aio::MultiplexedConnection, cmd, pipe,
};
use tokio_util::sync::CancellationToken;

use crate::{
    health::Reason,
    link::{Delivery, Dialer, Link},
    name,
    queue::Outgoing,
    settings::{InvalidSetting, RedisStore},
};

pub(crate) struct RedisDialer {
    client: Client,
    /// `<namespace>:`
    prefix: Arc<str>,
    deadline: Duration,
}

impl RedisDialer {
    pub(crate) fn new(store: &RedisStore, namespace: &str, deadline: Duration) -> Result<Self, InvalidSetting> {
        let info = connection_info(store)?;
        // Pushed messages need RESP3, which every server that is supported speaks.
        let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        // A message must not wait for the acknowledgement of the one before.
        let sockets = info.tcp_settings().clone().set_nodelay(true);
        let client = Client::open(info.set_redis_settings(settings).set_tcp_settings(sockets))
            .map_err(|_| InvalidSetting::new("redis.url", "this address can't be used by this program"))?;
        Ok(Self { client, prefix: format!("{namespace}:").into(), deadline })
    }

    async fn connect(&self, config: AsyncConnectionConfig) -> Result<MultiplexedConnection, Reason> {
        let config = config.set_connection_timeout(Some(self.deadline)).set_response_timeout(Some(self.deadline));
        self.client.get_multiplexed_async_connection_with_config(&config).await.map_err(|error| reason(&error))
    }
}

/// The address in the form of the client. What can't be read is refused without repeating it: it
/// may hold a password.
fn connection_info(store: &RedisStore) -> Result<ConnectionInfo, InvalidSetting> {
    match store {
        RedisStore::Url(url) => url.reveal().into_connection_info().map_err(|_| {
            InvalidSetting::new(
                "redis.url",
                "redis[s]://[user][:password@]host[:port][/db] or unix:///path is accepted",
            )
        }),
        RedisStore::Parts { host, port, username, password, db, tls } => {
            if host.is_empty() || host.contains(|character: char| character.is_whitespace() || "/@".contains(character))
            {
                return Err(InvalidSetting::new("redis.host", "a host name or an address is accepted"));
            }
            if *port == 0 {
                return Err(InvalidSetting::new("redis.port", "1 to 65535 is accepted"));
            }
            let address = if *tls {
                ConnectionAddr::TcpTls { host: host.clone(), port: *port, insecure: false, tls_params: None }
            } else {
                ConnectionAddr::Tcp(host.clone(), *port)
            };
            let info = address
                .into_connection_info()
                .map_err(|_| InvalidSetting::new("redis.host", "a host name or an address is accepted"))?;
            let mut settings = info.redis_settings().clone().set_db(i64::from(*db));
            if let Some(username) = username {
                settings = settings.set_username(username);
            }
            if let Some(password) = password {
                settings = settings.set_password(password.reveal());
            }
            Ok(info.set_redis_settings(settings))
        }
    }
}

#[async_trait]
impl Dialer for RedisDialer {
    fn store(&self) -> &'static str {
        "redis"
    }

    async fn dial(&self, delivery: Delivery) -> Result<Box<dyn Link>, Reason> {
        let ended = CancellationToken::new();
        let listening = {
            let (ended, prefix) = (ended.clone(), self.prefix.clone());
            move |push: PushInfo| hear(push, &prefix, &delivery, &ended)
        };
        let publishing = {
            let ended = ended.clone();
            move |push: PushInfo| {
                if push.kind == PushKind::Disconnection {
                    ended.cancel();
                }
                Ok::<_, redis::aio::SendError>(())
            }
        };
        let (subscriber, publisher) = tokio::try_join!(
            self.connect(AsyncConnectionConfig::new().set_push_sender(listening)),
            self.connect(AsyncConnectionConfig::new().set_push_sender(publishing)),
        )?;
        Ok(Box::new(RedisLink { subscriber, publisher, prefix: self.prefix.clone(), ended }))
    }
}

/// What the listening connection is sent without having asked. Runs in the client's reading task.
fn hear(
    push: PushInfo,
    prefix: &str,
    delivery: &Delivery,
    ended: &CancellationToken,
) -> Result<(), redis::aio::SendError> {
    match push.kind {
        PushKind::Message => {
            let mut data = push.data.into_iter();
            if let (Some(Value::BulkString(channel)), Some(Value::BulkString(payload))) = (data.next(), data.next()) {
                let channel = str::from_utf8(&channel).ok().and_then(|channel| channel.strip_prefix(prefix));
                if let Some(channel) = channel {
                    delivery.deliver(channel, &Bytes::from(payload));
                }
            }
        }
        PushKind::Disconnection => ended.cancel(),
        _ => {}
    }
    Ok(())
}

struct RedisLink {
    subscriber: MultiplexedConnection,
    publisher: MultiplexedConnection,
    prefix: Arc<str>,
    ended: CancellationToken,
}

impl RedisLink {
    fn names(&self, channels: &[String]) -> Vec<String> {
        channels.iter().map(|channel| format!("{}{channel}", self.prefix)).collect()
    }
}

#[async_trait]
impl Link for RedisLink {
    async fn subscribe(&self, channels: &[String]) -> Result<(), Reason> {
        let names = self.names(channels);
        self.subscriber.clone().subscribe(&names).await.map_err(|error| reason(&error))
    }

    async fn unsubscribe(&self, channels: &[String]) -> Result<(), Reason> {
        let names = self.names(channels);
        self.subscriber.clone().unsubscribe(&names).await.map_err(|error| reason(&error))
    }

    async fn publish(&self, batch: &[Outgoing]) -> Result<(), Reason> {
        let mut pipeline = pipe();
        for message in batch {
            let name = format!("{}{}", self.prefix, message.channel);
            pipeline.cmd("PUBLISH").arg(name).arg(&message.payload[..]).ignore();
        }
        pipeline.query_async::<()>(&mut self.publisher.clone()).await.map_err(|error| reason(&error))
    }

    async fn probe(&self) -> Result<(), Reason> {
        let name = format!("{}{}", self.prefix, name::PROBE);
        let (mut publisher, mut subscriber) = (self.publisher.clone(), self.subscriber.clone());
        let publish = async {
            cmd("PUBLISH").arg(name).arg("").query_async::<()>(&mut publisher).await.map_err(|error| reason(&error))
        };
        let ping = async {
            match cmd("PING").query_async::<Value>(&mut subscriber).await {
                Err(error) if !matches!(error.kind(), ErrorKind::Server(_)) => Err(reason(&error)),
                // Not being allowed to is an answer too.
                Ok(_) | Err(_) => Ok(()),
            }
        };
        tokio::try_join!(publish, ping).map(|_| ())
    }

    async fn ended(&self) -> Reason {
        self.ended.cancelled().await;
        Reason::Disconnected
    }
}

fn reason(error: &RedisError) -> Reason {
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::NoPerm) => Reason::NotPermitted,
        ErrorKind::AuthenticationFailed => Reason::Authentication,
        ErrorKind::RESP3NotSupported => Reason::Unsupported,
        _ if matches!(error.code(), Some("NOAUTH" | "WRONGPASS")) => Reason::Authentication,
        _ if error.code() == Some("NOPERM") => Reason::NotPermitted,
        _ if error.is_timeout() => Reason::TimedOut,
        _ if error.is_connection_refusal() => Reason::Refused,
        _ if error.is_connection_dropped() => Reason::Disconnected,
        _ if error.is_io_error() => Reason::Refused,
        _ => Reason::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_can_not_be_read_are_refused_without_being_repeated() {
        for bad in ["", "hunter2", "http://user:hunter2@host", "redis://host:hunter2", "redis://:hunter2@:0/x"] {
            let error = connection_info(&RedisStore::Url(bad.into())).map(|_| ()).unwrap_err();
            assert_eq!(error.field, "redis.url");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn parts_are_checked_one_by_one() {
        let parts = |host: &str, port| RedisStore::Parts {
            host: host.to_owned(),
            port,
            username: Some("u".to_owned()),
            password: Some("hunter2".into()),
            db: 3,
            tls: false,
        };
        assert_eq!(connection_info(&parts("", 1)).map(|_| ()).unwrap_err().field, "redis.host");
        assert_eq!(connection_info(&parts("a b", 1)).map(|_| ()).unwrap_err().field, "redis.host");
        assert_eq!(connection_info(&parts("h", 0)).map(|_| ()).unwrap_err().field, "redis.port");
        let info = connection_info(&parts("h", 6_379)).unwrap();
        assert_eq!(info.redis_settings().db(), 3);
        assert!(!format!("{:?}", parts("h", 1)).contains("hunter2"));
    }
}
