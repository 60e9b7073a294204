//! What can be wrong among the replicas of a namespace, and when the log hears of it.

use super::Replica;

/// The text of the error line when another deployment is in the same namespace.
pub const FOREIGN: &str =
    "Another deployment, with another KEY, uses the same messenger namespace: set MESSENGER_NAMESPACE apart.";
/// The text of the error line when replicas follow different time zones.
pub const ZONE: &str =
    "The replicas of this deployment have different time zones: their schedules run at different times.";

/// Something that an operator has to mend.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A replica with another key is in the namespace.
    Foreign(ForeignReplica),
    /// A replica of this deployment follows another time zone.
    Zone {
        /// The other replica.
        replica: String,
        /// Its host.
        host: String,
        /// Its zone.
        zone: String,
        /// The zone of the replica that made the list.
        own: String,
    },
}

/// A replica of another deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignReplica {
    /// Its id.
    pub replica: String,
    /// Its host.
    pub host: String,
}

/// What is wrong with these replicas.
pub(super) fn find(replicas: &[Replica]) -> Vec<Problem> {
    let own_zone = replicas.iter().find(|replica| replica.own).map_or("", |own| own.zone.as_str());
    let of = |replica: &Replica| {
        if replica.foreign {
            let (replica, host) = (replica.id.clone(), replica.host.clone());
            return Some(Problem::Foreign(ForeignReplica { replica, host }));
        }
        let differs = !own_zone.is_empty() && !replica.zone.is_empty() && replica.zone != own_zone;
        differs.then(|| Problem::Zone {
            replica: replica.id.clone(),
            host: replica.host.clone(),
            zone: replica.zone.clone(),
            own: own_zone.to_owned(),
        })
    };
    replicas.iter().filter_map(of).collect()
}

/// One error line when a kind of problem appears, however many replicas have it and however long.
#[derive(Debug, Default)]
pub(super) struct Episodes {
    foreign: bool,
    zone: bool,
}

impl Episodes {
    pub(super) fn report(&mut self, problems: &[Problem]) {
        let (mut foreign, mut zone) = (false, false);
        for problem in problems {
            match problem {
                Problem::Foreign(other) => {
                    if !foreign && !self.foreign {
                        tracing::error!(replica = other.replica, host = other.host, "{FOREIGN}");
                    }
                    foreign = true;
                }
                Problem::Zone { replica, host, zone: other, own } => {
                    if !zone && !self.zone {
                        tracing::error!(replica, host, zone = other, own, "{ZONE}");
                    }
                    zone = true;
                }
            }
        }
        *self = Self { foreign, zone };
    }
}
