//! What `/server/health` tells admins of the other replicas, the messenger and the schedules.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};
use waymark_messenger::{FOREIGN, Problem, Status, ZONE};
use waymark_schedule::{Cadence, Outcome, RunRecord, ScheduleInfo};

use super::Replicas;
use crate::settings::{Settings, messenger::Store};

/// Problems told in full.
const MOST_PROBLEMS: usize = 10;
/// Schedules shown; more are counted only.
const MOST_SCHEDULES: usize = 200;

impl Replicas {
    /// Messenger, replicas and schedules, for admins. Nothing here makes a replica unfit to answer: it warns.
    #[must_use]
    pub fn checks(&self, settings: &Settings) -> Map<String, Value> {
        let mut checks = Map::new();
        let mut all = vec![("messenger:status", self.messenger_check()), ("messenger:replicas", self.replicas_check())];
        if settings.schedule.store != Store::Local {
            all.push(("scheduleCoordination:status", self.coordination_check()));
        }
        all.push(("schedules:runs", self.schedules_check()));
        for (name, check) in all {
            checks.insert(name.to_owned(), json!([check]));
        }
        checks
    }

    /// Whether one of the checks warns, at a small price: anybody may ask.
    #[must_use]
    pub fn warns(&self, settings: &Settings) -> bool {
        !self.messenger.status().is_available()
            || settings.schedule.store != Store::Local && !self.scheduler.status().is_available()
            || self.scheduler.problem().is_some()
            || !self.messenger.topology().problems.is_empty()
            || self.schedules.refuses()
    }

    fn messenger_check(&self) -> Value {
        let counts = self.messenger.counts();
        let mut check = json!({
            "componentType": "messenger",
            "status": "ok",
            "counts": {
                "published": counts.published,
                "received": counts.received,
                "dropped": counts.dropped_unavailable + counts.dropped_full + counts.dropped_refused,
                "lagged": counts.lagged,
                "reconnects": counts.reconnects,
                "episodes": counts.episodes,
            },
        });
        if let Status::Unavailable { since, reason } = self.messenger.status() {
            tell(&mut check, "warn", format!("unavailable since {}: {reason}", instant(since)));
        }
        check
    }

    fn replicas_check(&self) -> Value {
        let topology = self.messenger.topology();
        let replicas: Vec<Value> = topology
            .replicas
            .iter()
            .map(|replica| {
                json!({
                    "id": replica.id,
                    "started": instant(replica.started),
                    "version": replica.version,
                    "host": replica.host,
                    "timezone": replica.zone,
                    "own": replica.own,
                    "foreign": replica.foreign,
                })
            })
            .collect();
        let mut check = json!({
            "componentType": "messenger",
            "status": "ok",
            "observedValue": replicas.len(),
            "observedUnit": "replicas",
            "replicas": replicas,
        });
        if !topology.problems.is_empty() {
            let problems: Vec<String> = topology.problems.iter().take(MOST_PROBLEMS).map(problem).collect();
            tell(&mut check, "error", problems.join(" "));
        }
        check
    }

    fn coordination_check(&self) -> Value {
        let mut check = json!({ "componentType": "coordination", "status": "ok" });
        if let Some(problem) = self.scheduler.problem() {
            tell(&mut check, "warn", problem);
        }
        if let waymark_schedule::Status::Unavailable { since, reason } = self.scheduler.status() {
            tell(&mut check, "warn", format!("unavailable since {}: {reason}", instant(since)));
        }
        check
    }

    fn schedules_check(&self) -> Value {
        let schedules = self.scheduler.list();
        let metrics = self.scheduler.metrics();
        let refused = self.schedules.refused();
        let mut check = json!({
            "componentType": "schedule",
            "status": "ok",
            "observedValue": schedules.len(),
            "observedUnit": "schedules",
            "counts": {
                "runs": metrics.runs,
                "errors": metrics.errors,
                "claimsWon": metrics.claims_won,
                "claimsLost": metrics.claims_lost,
                "claimsFailed": metrics.claims_failed,
                "skippedLate": metrics.skipped_late,
                "overlapSkips": metrics.overlap_skips,
                "queueDropped": metrics.queue_dropped,
                "takenOver": metrics.taken_over,
                "leasesLost": metrics.leases_lost,
                "caughtUp": metrics.caught_up,
            },
            "lateness": { "p50": metrics.lateness.quantile_ms(0.5), "p99": metrics.lateness.quantile_ms(0.99), "unit": "ms" },
            "schedules": schedules.iter().take(MOST_SCHEDULES).map(schedule).collect::<Vec<_>>(),
        });
        if !refused.is_empty() {
            let mut reasons: Vec<String> = refused
                .iter()
                .take(MOST_PROBLEMS)
                .map(|(id, refusal)| format!("{id} ({}): {}", refusal.name, refusal.reason))
                .collect();
            reasons.sort();
            tell(&mut check, "warn", reasons.join(" "));
        }
        check
    }
}

/// Says what is wrong with what a check looked at.
fn tell(check: &mut Value, status: &str, output: String) {
    if let Some(check) = check.as_object_mut() {
        check.insert("status".to_owned(), status.into());
        check.insert("output".to_owned(), output.into());
    }
}

fn problem(problem: &Problem) -> String {
    match problem {
        Problem::Foreign(other) => {
            format!("{FOREIGN} Replica {} on {}.", other.replica, other.host)
        }
        Problem::Zone { replica, host, zone, own } => {
            format!("{ZONE} Here: {own}; replica {replica} on {host}: {zone}.")
        }
        other => format!("{other:?}"),
    }
}

fn schedule(info: &ScheduleInfo) -> Value {
    let cadence = match &info.cadence {
        Cadence::Cron(expression) => json!(expression),
        Cadence::Every(period) => json!(format!("every {period} ms")),
    };
    json!({
        "name": &*info.name,
        "cron": cadence,
        "timezone": info.timezone.name(),
        "next": info.next.map(instant),
        "last": info.last.as_ref().map(last),
    })
}

fn last(run: &RunRecord) -> Value {
    let (result, error) = match &run.outcome {
        Outcome::Running => ("running", None),
        Outcome::Completed => ("completed", None),
        Outcome::Failed(error) => ("failed", Some(error)),
    };
    json!({
        "scheduledAt": instant(run.scheduled_at),
        "lateness": (run.started_at - run.scheduled_at).num_milliseconds(),
        "latenessUnit": "ms",
        "result": result,
        "error": error,
        "attempt": run.attempt,
    })
}

/// ISO 8601 in UTC, to the millisecond.
fn instant(instant: DateTime<Utc>) -> String {
    instant.to_rfc3339_opts(SecondsFormat::Millis, true)
}
