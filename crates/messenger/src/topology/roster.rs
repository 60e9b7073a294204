//! Who is there: a pure state machine over announcements and moments.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use super::{
    Replica, Topology,
    announcement::{Announcement, Kind},
    problems,
};

#[derive(Debug)]
pub(super) struct Roster {
    own: Announcement,
    others: HashMap<String, (Announcement, Instant)>,
    lifetime: Duration,
    longest: usize,
}

impl Roster {
    pub(super) fn new(own: Announcement, lifetime: Duration, longest: usize) -> Self {
        Self { own, others: HashMap::new(), lifetime, longest }
    }

    /// Takes an announcement in; false when there is no place for one more.
    pub(super) fn hear(&mut self, announcement: Announcement, now: Instant) -> bool {
        if announcement.id == self.own.id {
            return true;
        }
        if announcement.kind == Kind::Leaving {
            self.others.remove(&announcement.id);
            return true;
        }
        // Itself included.
        let full = self.others.len() + 1 >= self.longest;
        if full && !self.others.contains_key(&announcement.id) {
            return false;
        }
        self.others.insert(announcement.id.clone(), (announcement, now));
        true
    }

    pub(super) fn expire(&mut self, now: Instant) {
        self.others.retain(|_, (_, heard)| now.duration_since(*heard) < self.lifetime);
    }

    pub(super) fn next_expiry(&self) -> Option<Instant> {
        self.others.values().map(|(_, heard)| *heard + self.lifetime).min()
    }

    pub(super) fn topology(&self, now: Instant) -> Topology {
        let own = self.replica(&self.own, Duration::ZERO);
        let others = self.others.values().map(|(other, heard)| self.replica(other, now.duration_since(*heard)));
        let mut replicas: Vec<Replica> = std::iter::once(own).chain(others).collect();
        replicas.sort_by(|one, other| (one.started, &one.id).cmp(&(other.started, &other.id)));
        let problems = problems::find(&replicas);
        Topology { replicas, problems }
    }

    fn replica(&self, announcement: &Announcement, silent_for: Duration) -> Replica {
        Replica {
            id: announcement.id.clone(),
            started: announcement.started,
            version: announcement.version.clone(),
            host: announcement.host.clone(),
            zone: announcement.zone.clone(),
            own: announcement.id == self.own.id,
            foreign: announcement.key != self.own.key,
            silent_for,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Identity;

    const LIFETIME: Duration = Duration::from_secs(6);

    fn announcement(id: &str, key: &str, zone: &str) -> Announcement {
        let identity = Identity { id: id.to_owned(), key: key.into(), zone: zone.to_owned(), ..Identity::default() };
        Announcement::new(&identity, "ns")
    }

    fn ids(roster: &Roster, now: Instant) -> Vec<String> {
        let mut ids: Vec<String> = roster.topology(now).replicas.into_iter().map(|replica| replica.id).collect();
        ids.sort();
        ids
    }

    #[test]
    fn a_replica_lives_three_heartbeats_after_its_last_word() {
        let (mut roster, start) = (Roster::new(announcement("a", "k", ""), LIFETIME, 10), Instant::now());
        roster.hear(announcement("b", "k", ""), start);
        assert_eq!(roster.next_expiry(), Some(start + LIFETIME));
        roster.hear(announcement("b", "k", ""), start + LIFETIME / 2);
        roster.expire(start + LIFETIME);
        assert_eq!(ids(&roster, start + LIFETIME), ["a", "b"]);
        roster.expire(start + LIFETIME + LIFETIME / 2);
        assert_eq!(ids(&roster, start + LIFETIME * 2), ["a"]);
    }

    #[test]
    fn one_that_leaves_is_gone_at_once_and_never_oneself() {
        let (mut roster, now) = (Roster::new(announcement("a", "k", ""), LIFETIME, 10), Instant::now());
        roster.hear(announcement("b", "k", ""), now);
        roster.hear(Announcement { kind: Kind::Leaving, ..announcement("b", "k", "") }, now);
        roster.hear(Announcement { kind: Kind::Leaving, ..announcement("a", "k", "") }, now);
        assert_eq!(ids(&roster, now), ["a"]);
    }

    #[test]
    fn the_list_is_bounded_but_those_in_it_stay_fresh() {
        let (mut roster, now) = (Roster::new(announcement("a", "k", ""), LIFETIME, 2), Instant::now());
        assert!(roster.hear(announcement("b", "k", ""), now));
        assert!(!roster.hear(announcement("c", "k", ""), now));
        assert!(roster.hear(announcement("b", "k", ""), now));
        assert_eq!(ids(&roster, now), ["a", "b"]);
    }

    #[test]
    fn another_key_is_foreign_and_another_zone_is_a_problem_of_the_own_deployment_only() {
        let (mut roster, now) = (Roster::new(announcement("a", "k", "UTC"), LIFETIME, 10), Instant::now());
        roster.hear(announcement("b", "other", "Asia/Tokyo"), now);
        roster.hear(announcement("c", "k", "Europe/Berlin"), now);
        roster.hear(announcement("d", "k", ""), now);
        let problems = roster.topology(now).problems;
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(
            problems
                .iter()
                .any(|problem| matches!(problem, super::super::Problem::Foreign(other) if other.replica == "b"))
        );
        assert!(problems.iter().any(
            |problem| matches!(problem, super::super::Problem::Zone { replica, own, .. } if replica == "c" && own == "UTC")
        ));
    }
}
