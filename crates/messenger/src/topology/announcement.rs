//! What a replica says about itself: a small JSON object. Whatever else comes on the channel is not
//! an announcement.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::LONGEST_TEXT;
use crate::settings::Identity;

/// Larger payloads are not looked at.
const LARGEST: usize = 4_096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Heartbeat,
    Question,
    Leaving,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Announcement {
    pub(super) kind: Kind,
    pub(super) id: String,
    pub(super) started: DateTime<Utc>,
    pub(super) version: String,
    pub(super) host: String,
    /// Digest of the key.
    pub(super) key: String,
    pub(super) zone: String,
}

impl Announcement {
    pub(super) fn new(identity: &Identity, namespace: &str) -> Self {
        Self {
            kind: Kind::Heartbeat,
            id: identity.id.clone(),
            started: identity.started,
            version: identity.version.clone(),
            host: identity.host.clone(),
            key: digest(identity.key.reveal(), namespace),
            zone: identity.zone.clone(),
        }
    }

    pub(super) fn encode(&self, kind: Kind) -> Bytes {
        // An object of texts can always be written.
        serde_json::to_vec(&Self { kind, ..self.clone() }).map(Bytes::from).unwrap_or_default()
    }

    /// `None` for anything that isn't an announcement of reasonable size.
    pub(super) fn decode(payload: &[u8]) -> Option<Self> {
        if payload.len() > LARGEST {
            return None;
        }
        let announcement: Self = serde_json::from_slice(payload).ok()?;
        let texts =
            [&announcement.id, &announcement.version, &announcement.host, &announcement.key, &announcement.zone];
        let fits = texts.iter().all(|text| text.len() <= LONGEST_TEXT) && !announcement.id.is_empty();
        fits.then_some(announcement)
    }
}

/// 64 bits that are the same for the same key in the same namespace, and tell nothing of the key.
fn digest(key: &str, namespace: &str) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return String::new() };
    mac.update(b"waymark messenger topology ");
    mac.update(namespace.as_bytes());
    mac.finalize().into_bytes().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(key: &str) -> Identity {
        Identity { key: key.into(), id: "r".to_owned(), ..Identity::default() }
    }

    #[test]
    fn an_announcement_comes_back_as_it_was_and_does_not_carry_the_key() {
        let own = Announcement::new(&identity("a very secret key"), "ns");
        let encoded = own.encode(Kind::Question);
        assert!(!String::from_utf8_lossy(&encoded).contains("secret"));
        assert_eq!(Announcement::decode(&encoded), Some(Announcement { kind: Kind::Question, ..own }));
    }

    #[test]
    fn digests_differ_by_key_and_by_namespace_and_are_the_same_everywhere() {
        assert_eq!(digest("k", "n"), digest("k", "n"));
        assert_ne!(digest("k", "n"), digest("l", "n"));
        assert_ne!(digest("k", "n"), digest("k", "m"));
        assert_eq!(digest("k", "n").len(), 16);
    }

    #[test]
    fn what_is_no_announcement_is_none() {
        let good = Announcement::new(&identity("k"), "n");
        let long = Announcement { host: "h".repeat(LONGEST_TEXT + 1), ..good.clone() };
        let unnamed = Announcement { id: String::new(), ..good };
        for bad in [
            Bytes::new(),
            Bytes::from_static(b"{"),
            Bytes::from_static(b"null"),
            Bytes::from_static(b"\xff\xfe"),
            Bytes::from_static(br#"{"kind":"heartbeat","id":7}"#),
            Bytes::from(vec![b'['; LARGEST + 1]),
            Bytes::from(vec![b'['; LARGEST]),
            long.encode(Kind::Heartbeat),
            unnamed.encode(Kind::Heartbeat),
        ] {
            assert_eq!(Announcement::decode(&bad), None);
        }
    }
}
