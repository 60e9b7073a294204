//! Flows with the trigger `schedule` on several replicas: every occurrence once, whatever is changed meanwhile.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use waymark_tests::{Client, FlowLog, Kind, Processes, Replicas, StoreKind, each_store, process, until};

/// A flow with one operation of type `log`.
async fn flow(admin: &Client, name: &str, options: Value) -> String {
    let flow = json!({
        "name": name,
        "status": "active",
        "trigger": "schedule",
        "options": options,
        "operations": [{ "key": "say", "type": "log", "position_x": 1, "position_y": 1, "options": { "message": name } }],
    });
    let made = admin.must_post("/flows?fields=id,operations", flow).await;
    let (id, operation) = (made["id"].as_str().expect("an id"), made["operations"][0].clone());
    let (status, body) = admin.patch(&format!("/flows/{id}"), json!({ "operation": operation })).await;
    assert_eq!(status, 200, "{body}");
    id.to_owned()
}

/// Occurrences of a flow with the number of their runs.
fn runs(log: &FlowLog, flow: &str) -> BTreeMap<DateTime<Utc>, usize> {
    let mut runs = BTreeMap::new();
    for line in log.lines().iter().filter(|line| line.flow == flow) {
        let at = line.scheduled_at.replace(" UTC", "Z").replace(' ', "T");
        *runs.entry(at.parse().expect("an instant")).or_default() += 1;
    }
    runs
}

/// What processes log, each to a file of its own.
struct Lines(tempfile::TempDir);

impl Default for Lines {
    fn default() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }
}

impl Lines {
    fn files(&self) -> Vec<std::path::PathBuf> {
        (0..3).map(|number| self.0.path().join(number.to_string())).collect()
    }

    /// As [`runs`], but for runs that were taken over from a holder that died: it may have been at its end.
    fn runs(&self, flow: &str) -> BTreeMap<DateTime<Utc>, usize> {
        let mut runs: BTreeMap<DateTime<Utc>, usize> = BTreeMap::new();
        let mut taken_over = Vec::new();
        for file in self.files() {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            // The last line may be half written.
            for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
                if line["target"] == "waymark::flows" && line["flow"] == flow {
                    let at = line["scheduled_at"].as_str().expect("an instant").replace(" UTC", "Z").replace(' ', "T");
                    let at = at.parse().expect("an instant");
                    if line["attempt"] == 1 {
                        *runs.entry(at).or_default() += 1;
                    } else {
                        taken_over.push(at);
                    }
                }
            }
        }
        for at in taken_over {
            runs.entry(at).or_insert(1);
        }
        runs
    }
}

/// Every second between the first and the last, once.
fn once_each(runs: &BTreeMap<DateTime<Utc>, usize>) {
    assert!(runs.values().all(|count| *count == 1), "doubled: {runs:?}");
    let seconds: Vec<i64> = runs.keys().map(DateTime::timestamp).collect();
    assert!(seconds.windows(2).all(|pair| pair[1] - pair[0] == 1), "dropped: {runs:?}");
}

each_store! {
    async fn an_occurrence_runs_once_on_three_replicas_while_flows_change(store) {
        let log = FlowLog::start();
        let replicas = Replicas::start(Kind::Sqlite, store, 3, &[]).await;
        let admin = replicas.servers[0].admin().await;
        let every_second = flow(&admin, "tick", json!({ "cron": "* * * * * *" })).await;
        until("it runs", || async { runs(&log, &every_second).len() >= 2 }).await;
        // Each change makes every replica register it anew; the changes come from all of them.
        let others = [replicas.servers[1].admin().await, replicas.servers[2].admin().await, admin.clone()];
        let mut changes = 0;
        while runs(&log, &every_second).len() < 7 {
            let other = &others[changes % 3];
            let change = json!({ "name": format!("tick {changes}") });
            assert_eq!(other.patch(&format!("/flows/{every_second}"), change).await.0, 200);
            changes += 1;
        }
        assert!(changes > 3, "{changes}");
        once_each(&runs(&log, &every_second));

        // Switched off it stops everywhere.
        assert_eq!(others[1].patch(&format!("/flows/{every_second}"), json!({ "status": "inactive" })).await.0, 200);
        until("it is registered nowhere", || async {
            let mut left = 0;
            for admin in &others {
                let (_, health) = admin.get("/server/health").await;
                left += health["checks"]["schedules:runs"][0]["observedValue"].as_u64().unwrap_or(9);
            }
            left == 0
        })
        .await;
        once_each(&runs(&log, &every_second));
    }

    async fn heavy_killed_servers_leave_every_occurrence_to_one_of_the_others(store) {
        let lines = Lines::default();
        let mut replicas = Processes::start_with(Kind::Sqlite, store, 3, &[("SCHEDULE_LOCK_TTL", "1s")], &lines.files()).await;
        let admin = replicas.processes[2].admin().await;
        let every_second = flow(&admin, "tick", json!({ "cron": "* * * * * *" })).await;
        for left in [2, 1] {
            let before = lines.runs(&every_second).len();
            until("it goes on", || async { lines.runs(&every_second).len() >= before + 3 }).await;
            replicas.processes.remove(0).kill().await;
            assert_eq!(replicas.processes.len(), left);
        }
        let before = lines.runs(&every_second).len();
        until("it goes on", || async { lines.runs(&every_second).len() >= before + 3 }).await;
        let runs = lines.runs(&every_second);
        assert!(runs.values().all(|count| *count == 1), "doubled: {runs:?}");
        let (first, last) = (runs.keys().next().expect("runs"), runs.keys().next_back().expect("runs"));
        let lost = (*last - *first).num_seconds() + 1 - i64::try_from(runs.len()).expect("few");
        // A claim that its holder didn't live to honour is lost on Redis.
        assert!(lost <= if store == StoreKind::Redis { 2 } else { 0 }, "dropped: {runs:?}");
    }

    async fn a_broken_stored_schedule_stops_no_other(store) {
        let log = FlowLog::start();
        let replicas = Replicas::start(Kind::Sqlite, store, 1, &[]).await;
        let admin = replicas.servers[0].admin().await;
        let broken = flow(&admin, "broken", json!({ "cron": "0 0 1 1 1 *" })).await;
        let statement = format!("UPDATE directus_flows SET options = '{{\"cron\":\"61 * * * * *\"}}' WHERE id = '{broken}'");
        replicas.database.execute(&statement).await;
        let well = flow(&admin, "well", json!({ "cron": "* * * * * *" })).await;
        until("the other runs", || async { !runs(&log, &well).is_empty() }).await;
        let (_, health) = admin.get("/server/health").await;
        let check = &health["checks"]["schedules:runs"][0];
        assert_eq!((check["status"].as_str(), check["observedValue"].as_u64()), (Some("warn"), Some(1)), "{check}");
        assert!(check["output"].as_str().is_some_and(|output| output.contains(&broken)), "{check}");
        let shown = &check["schedules"][0];
        assert_eq!((shown["name"].as_str(), shown["cron"].as_str()), (Some(well.as_str()), Some("* * * * * *")), "{check}");
        until("its last run is shown", || async {
            let (_, health) = admin.get("/server/health").await;
            health["checks"]["schedules:runs"][0]["schedules"][0]["last"]["result"] == "completed"
        })
        .await;
    }

    async fn the_command_line_lists_them(store) {
        let log = FlowLog::start();
        let replicas = Replicas::start(Kind::Sqlite, store, 1, &[("SCHEDULE_TIMEZONE", "Europe/Berlin")]).await;
        let admin = replicas.servers[0].admin().await;
        let often = flow(&admin, "often", json!({ "cron": "* * * * * *" })).await;
        let rarely = flow(&admin, "rarely", json!({ "cron": "0 30 2 29 2 *", "timezone": "America/New_York" })).await;
        until("one has run", || async { !runs(&log, &often).is_empty() }).await;
        let settings = replicas.store.settings();
        let mut settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        settings.push(("SCHEDULE_TIMEZONE", "Europe/Berlin"));
        let output = process::command(&replicas.database, &["schedules", "list"], &settings).output().await.expect("output");
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{text}{errors}");
        let line = |id: &str| text.lines().find(|line| line.ends_with(id)).unwrap_or_else(|| panic!("{text}")).to_owned();
        let (often, rarely) = (line(&often), line(&rarely));
        assert!(often.starts_with("often") && often.contains("* * * * * *") && often.contains("Europe/Berlin"), "{text}");
        assert_eq!(often.matches("Z").count(), 2, "next and last: {often}");
        assert!(rarely.contains("-02-29T07:30:00Z") && rarely.contains("  -  "), "{rarely}");
    }
}
