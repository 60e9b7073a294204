//! Where the servers are and who asks, checked once.

use async_nats::{ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;

use crate::{
    health::Reason,
    settings::{InvalidSetting, NatsStore, Secret},
};

const ACCEPTED: &str = "nats://[user:password@]host[:port] or tls://… of one or more servers is accepted";

pub(super) struct Addresses {
    servers: Vec<ServerAddr>,
    user: Option<(String, Secret)>,
    token: Option<Secret>,
    /// The text of the file.
    credentials: Option<Secret>,
}

impl Addresses {
    /// Errors name the field and repeat nothing: an address may hold a password.
    pub(super) fn new(store: &NatsStore) -> Result<Self, InvalidSetting> {
        let refused = || InvalidSetting::new("nats.urls", ACCEPTED);
        let mut servers = Vec::new();
        for url in &store.urls {
            let server: ServerAddr = url.reveal().trim().parse().map_err(|_| refused())?;
            if !matches!(server.scheme(), "nats" | "tls") || server.host().is_empty() {
                return Err(refused());
            }
            servers.push(server);
        }
        let first = servers.first().ok_or_else(refused)?;
        let in_url = first.username().map(|user| (decoded(user), decoded(first.password().unwrap_or_default())));
        let user = match (&store.user, &store.password) {
            (Some(user), password) => Some((user.clone(), password.clone().unwrap_or_default())),
            (None, Some(_)) => return Err(InvalidSetting::new("nats.user", "a password needs a user")),
            (None, None) => in_url.map(|(user, password)| (user, password.into())),
        };
        if user.is_some() && store.token.is_some() {
            return Err(InvalidSetting::new("nats.token", "either a user or a token is accepted"));
        }
        let credentials = store.credentials.as_deref().map(read_credentials).transpose()?;
        Ok(Self { servers, user, token: store.token.clone(), credentials })
    }

    pub(super) fn servers(&self) -> Vec<ServerAddr> {
        self.servers.clone()
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.servers.len()).unwrap_or(u32::MAX).max(1)
    }

    pub(super) fn options(&self) -> Result<ConnectOptions, Reason> {
        let mut options = ConnectOptions::new().name("waymark");
        if let Some((user, password)) = &self.user {
            options = options.user_and_password(user.clone(), password.reveal().to_owned());
        }
        if let Some(token) = &self.token {
            options = options.token(token.reveal().to_owned());
        }
        if let Some(credentials) = &self.credentials {
            options = options.credentials(credentials.reveal()).map_err(|_| Reason::Authentication)?;
        }
        Ok(options)
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn read_credentials(path: &str) -> Result<Secret, InvalidSetting> {
    let refused = |message: &str| InvalidSetting::new("nats.credentials", message);
    let text = std::fs::read_to_string(path).map_err(|_| refused("the file can't be read"))?;
    ConnectOptions::new().credentials(&text).map_err(|_| refused("the file holds no JWT and seed"))?;
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(url: &str) -> NatsStore {
        NatsStore { urls: vec![url.into()], ..NatsStore::default() }
    }

    fn field(store: &NatsStore) -> &'static str {
        let error = Addresses::new(store).map(|_| ()).unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
        error.field
    }

    #[test]
    fn addresses_that_can_not_be_used_are_refused_without_being_repeated() {
        for bad in ["", "http://u:hunter2@h", "nats://u:hunter2@h:port", "ws://hunter2", "nats://"] {
            assert_eq!(field(&store(bad)), "nats.urls", "{bad}");
        }
        assert_eq!(field(&NatsStore::default()), "nats.urls");
    }

    #[test]
    fn those_who_ask_are_checked() {
        let both = NatsStore { token: Some("hunter2".into()), ..store("nats://u:hunter2@h") };
        assert_eq!(field(&both), "nats.token");
        assert_eq!(field(&NatsStore { password: Some("hunter2".into()), ..store("h") }), "nats.user");
        let missing = Some("/nowhere/at/all.creds".to_owned());
        assert_eq!(field(&NatsStore { credentials: missing, ..store("h:4222") }), "nats.credentials");
        let addresses = Addresses::new(&store("nats://u:p%40ss@h")).unwrap();
        assert_eq!(addresses.user, Some(("u".to_owned(), "p@ss".into())));
    }
}
