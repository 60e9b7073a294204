//! Rules of `directus_flows`: a schedule that can't run is refused when it is saved, and what hangs
//! on a deleted flow goes with it. Values of `status`, `trigger` and `accountability` are stored as
//! they are given, and chains are not checked: what nobody knows does not run. Not here: running flows.

mod schedule;
mod scheduled;

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

pub use schedule::{CatchUp, CheckSchedule, Overlap, Schedule, ScheduleCheck};
pub use scheduled::{BrokenFlow, LogOperation, ScheduledFlow, scheduled};

use super::operations;
use crate::{
    access::write::AuthorizedUpdate,
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    items,
    query::{
        Query,
        ast::{Limit, PathStep},
    },
};

const COLLECTION: &str = "directus_flows";
const SCHEDULE: &str = "schedule";

/// Judges new flows as they are stored.
///
/// # Errors
/// `FAILED_VALIDATION` naming the option.
pub(super) async fn after_create(ctx: &Ctx<'_>, keys: &[Key], rows: &[Map<String, Value>]) -> Result<()> {
    let scheduled = |row: &Map<String, Value>| row.get("trigger").and_then(Value::as_str) == Some(SCHEDULE);
    let keys: Vec<Key> = keys.iter().zip(rows).filter(|(_, row)| scheduled(row)).map(|(key, _)| key.clone()).collect();
    judge(ctx, &keys).await
}

/// Judges changed flows as they are stored now: whichever part of a schedule was changed, and by
/// whichever of several changes. The rows are locked by the change, so nobody changes the other part
/// meanwhile. Other changes of a flow whose schedule is broken are let through, but for its activation.
///
/// # Errors
/// As [`after_create`].
pub(super) async fn after_update(ctx: &Ctx<'_>, writes: &[AuthorizedUpdate]) -> Result<()> {
    let concerned = |write: &&AuthorizedUpdate| {
        let payload = write.payload();
        payload.contains_key("trigger")
            || payload.contains_key("options")
            || payload.get("status").and_then(Value::as_str) == Some("active")
    };
    let keys: Vec<Key> = writes.iter().filter(concerned).flat_map(|write| write.keys().iter().cloned()).collect();
    judge(ctx, &keys).await
}

/// Takes the operations of the flows out of all chains: the database deletes them with their flow,
/// and some engines don't while they lead to each other.
pub(super) async fn before_delete(ctx: &Ctx<'_>, keys: &[Key]) -> Result<()> {
    let flows: Vec<_> = keys.iter().filter_map(super::uuid_key).collect();
    let operations = operations::of_flows(ctx, &flows).await?;
    operations::detach(ctx, &operations, &flows).await
}

/// Refuses stored schedules that can't run.
async fn judge(ctx: &Ctx<'_>, keys: &[Key]) -> Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    let query = fields(&["trigger", "options"]);
    let page = items::read_written(&ctx.elevated(), COLLECTION, &query, keys).await?;
    for row in rows(page.get())? {
        if row.text("trigger").as_deref() == Some(SCHEDULE) {
            let read = schedule::read(&row.value("options"), ctx.engine.settings.schedules);
            if let Some(error) = read.err().and_then(Error::from_problems) {
                return Err(error);
            }
        }
    }
    Ok(())
}

fn step(name: &str) -> PathStep {
    PathStep { name: name.to_owned(), scope: None, function: None }
}

/// A query for these fields of all rows.
fn fields(names: &[&str]) -> Query {
    let fields = names.iter().map(|name| vec![step(name)]).collect();
    Query { fields: Some(fields), limit: Some(Limit::Unlimited), ..Query::default() }
}

/// A row whose values are not looked at yet: one that can't be read spoils no other.
#[derive(Deserialize)]
struct Row<'a>(#[serde(borrow)] HashMap<&'a str, &'a RawValue>);

fn rows(list: &str) -> Result<Vec<Row<'_>>> {
    serde_json::from_str(list).map_err(Error::internal)
}

impl Row<'_> {
    fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(|raw| serde_json::from_str(raw.get()).ok())
    }

    /// Null for what is nested too deeply to be read.
    fn value(&self, name: &str) -> Value {
        self.0.get(name).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }
}
