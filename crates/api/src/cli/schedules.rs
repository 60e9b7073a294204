//! `waymark schedules`: what would run when, asked of database and store.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use waymark_core::system::flows;
use waymark_schedule::{Scheduler, parse_cron};

use super::{Failed, accounts, told};
use crate::{
    replicas,
    settings::{Settings, messenger::Store},
};

/// How long the store may take until its part is left open.
const PATIENCE: Duration = Duration::from_secs(5);

/// Prints the active schedules: name, expression, zone, next and last occurrence, id. Fails when one of them
/// can't run.
pub async fn list(settings: &Settings) -> Result<(), Failed> {
    let engine = accounts::open(settings).await?;
    let stored = flows::scheduled(&engine).await.map_err(told)?;
    // A replica of its own name that registers nothing.
    let scheduler = replicas::scheduler(settings, &format!("cli-{}", uuid::Uuid::new_v4()))?;
    let known = scheduler.ready(PATIENCE).await;
    let mut rows = vec![["name", "cron", "timezone", "next", "last", "id"].map(str::to_owned)];
    let mut problems = Vec::new();
    for flow in stored {
        let flow = match flow {
            Ok(flow) => flow,
            Err(broken) => {
                problems.push(broken.to_string());
                continue;
            }
        };
        let zone = flow.schedule.timezone.as_deref().unwrap_or(&settings.schedule.timezone);
        let id = flow.id.to_string();
        let last = if known && settings.schedule.store != Store::Local {
            last(&scheduler, &id).await
        } else {
            "unknown".to_owned()
        };
        match parse_cron(&flow.schedule.cron, Some(zone)) {
            Ok(cron) => {
                let next = cron.next_after(Utc::now()).map_or_else(|| "never".to_owned(), instant);
                rows.push([flow.name, flow.schedule.cron, zone.to_owned(), next, last, id]);
            }
            Err(error) => problems.push(format!("the flow {id} can't be scheduled: {error}")),
        }
    }
    print(&rows);
    if !known {
        problems.push("the store of the schedules does not answer: last runs are unknown".to_owned());
    }
    scheduler.stop(Duration::ZERO).await;
    engine.db.clone().close().await.map_err(told)?;
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// What the store knows; processes that coordinate nothing keep it to themselves.
async fn last(scheduler: &Scheduler, id: &str) -> String {
    match scheduler.last_occurrence(id).await {
        Ok(last) => last.map_or_else(|| "-".to_owned(), instant),
        Err(_) => "unknown".to_owned(),
    }
}

fn instant(instant: DateTime<Utc>) -> String {
    instant.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Columns as wide as their widest cell; control characters of names are left out.
fn print(rows: &[[String; 6]]) {
    let shown = |cell: &String| cell.chars().filter(|character| !character.is_control()).collect::<String>();
    let rows: Vec<[String; 6]> = rows.iter().map(|row| row.each_ref().map(shown)).collect();
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        println!("{}", cells.join("  ").trim_end());
    }
}
