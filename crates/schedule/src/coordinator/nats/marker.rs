//! What the bucket holds: keys and the marker of a run.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::coordinator::Claim;
use crate::history::{Origin, Outcome, RunRecord};
use crate::runner::{iso, run_key};

/// All runs.
pub(super) const RUNS: &str = "run.>";
/// Written to prove that the bucket works, and to read its clock.
pub(super) const PROBE: &str = "probe";

/// The value under `run.<name>.<occurrence>`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Marker {
    pub(super) name: String,
    pub(super) scheduled_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) manual: Option<String>,
    pub(super) origin: Origin,
    pub(super) attempt: u32,
    pub(super) started_at: DateTime<Utc>,
    pub(super) host: String,
    pub(super) replica: String,
    /// Made for this claim alone: tells whether a marker is ours whatever happened to the answer.
    pub(super) claim: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) completed_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failed_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

impl Marker {
    pub(super) fn new(claim: &Claim, attempt: u32, host: &str, replica: &str) -> Self {
        Self {
            name: claim.name.to_string(),
            scheduled_at: DateTime::from_timestamp_millis(claim.occurrence).unwrap_or_default(),
            manual: claim.manual.clone(),
            origin: claim.origin,
            attempt,
            started_at: claim.now,
            host: host.to_owned(),
            replica: replica.to_owned(),
            claim: uuid::Uuid::new_v4().to_string(),
            completed_at: None,
            failed_at: None,
            error: None,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.completed_at.is_none() && self.failed_at.is_none()
    }

    /// The marker of the ended run.
    pub(super) fn ended(&self, outcome: &Outcome, at: DateTime<Utc>) -> Self {
        let mut ended = self.clone();
        match outcome {
            Outcome::Failed(error) => {
                ended.failed_at = Some(at);
                ended.error = Some(error.chars().take(2_000).collect());
            }
            Outcome::Completed | Outcome::Running => ended.completed_at = Some(at),
        }
        ended
    }

    pub(super) fn to_bytes(&self) -> bytes::Bytes {
        // plain strings, numbers and dates: it can't fail
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        serde_json::from_slice(value).ok()
    }

    pub(super) fn claim_of(&self, now: DateTime<Utc>) -> Claim {
        Claim {
            name: self.name.as_str().into(),
            occurrence: self.scheduled_at.timestamp_millis(),
            manual: self.manual.clone(),
            origin: self.origin,
            now,
            makes_up: false,
        }
    }

    pub(super) fn record(self) -> RunRecord {
        let key = run_key(&self.claim_of(self.started_at));
        let outcome = match (self.completed_at, self.error) {
            (Some(_), _) => Outcome::Completed,
            (None, Some(error)) => Outcome::Failed(error),
            (None, None) => Outcome::Running,
        };
        RunRecord {
            name: self.name.into(),
            key,
            scheduled_at: self.scheduled_at,
            started_at: self.started_at,
            finished_at: self.completed_at.or(self.failed_at),
            outcome,
            attempt: self.attempt,
            origin: self.origin,
            replica: Arc::from(self.replica),
            host: Arc::from(self.host),
        }
    }
}

/// `run.<name>.<occurrence with ':' as '-'>` or `run.<name>.manual.<key>`.
pub(super) fn run_subject(claim: &Claim) -> String {
    let name = escaped(&claim.name);
    match &claim.manual {
        Some(key) => format!("run.{name}.manual.{}", escaped(key)),
        None => format!("run.{name}.{}", iso(claim.occurrence).replace(':', "-")),
    }
}

pub(super) fn last_subject(name: &str) -> String {
    format!("last.{}", escaped(name))
}

/// All runs of a schedule.
pub(super) fn runs_of(name: &str) -> String {
    format!("run.{}.>", escaped(name))
}

/// Letters, digits, `-`, `_` and `/` stay, every other byte becomes `=XX`: valid in keys, reversible, no separator.
fn escaped(name: &str) -> String {
    use std::fmt::Write;
    let mut escaped = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/') {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "={byte:02X}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_valid_and_apart() {
        let mut claim = Claim {
            name: "extension/entry:1.a b=".into(),
            occurrence: 1_700_000_000_250,
            manual: None,
            origin: Origin::Timer,
            now: Utc::now(),
            makes_up: false,
        };
        assert_eq!(run_subject(&claim), "run.extension/entry=3A1=2Ea=20b=3D.2023-11-14T22-13-20.250Z");
        claim.manual = Some("ü.>".into());
        assert_eq!(run_subject(&claim), "run.extension/entry=3A1=2Ea=20b=3D.manual.=C3=BC=2E=3E");
    }
}
