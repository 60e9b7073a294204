//! The schedules of this server, for what runs them: active flows with the trigger `schedule`.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use serde_json::Value;
use uuid::Uuid;

use super::{COLLECTION, Row, SCHEDULE, Schedule, fields, rows, schedule, step};
use crate::{
    context::Engine,
    error::{Problem, Result},
    items,
    query::{
        Query,
        ast::{Filter, Operator},
    },
};

/// A flow that runs on a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduledFlow {
    pub id: Uuid,
    pub name: String,
    pub schedule: Schedule,
    /// The operations of type `log` in the order in which they run: from the flow's first operation
    /// along `resolve`. Operations of other types are passed over; the chain ends where it would come
    /// back to an operation, or leave the flow.
    pub operations: Vec<LogOperation>,
}

/// An operation of type `log`.
#[derive(Clone, Debug, PartialEq)]
pub struct LogOperation {
    pub id: String,
    pub key: String,
    /// The option `message` as it is stored; null when there is none.
    pub message: Value,
}

/// A stored flow that can't be scheduled.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenFlow {
    pub id: String,
    pub name: String,
    /// What is wrong with it, at least one thing.
    pub problems: Vec<Problem>,
}

impl fmt::Display for BrokenFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: Vec<&str> = self.problems.iter().map(|problem| problem.message.as_str()).collect();
        write!(f, "the flow {} can't be scheduled: {}", self.id, messages.join(" "))
    }
}

/// Reads all schedules, with the server's own rights and in two statements. Rows that are broken
/// (made by hand) come as errors of their own.
///
/// # Errors
/// When the database can't be read.
pub async fn scheduled(engine: &Engine) -> Result<Vec<Result<ScheduledFlow, BrokenFlow>>> {
    let ctx = engine.system_context();
    let flows =
        Query { filter: Some(active()), ..fields(&["id", "name", "status", "trigger", "options", "operation"]) };
    let flows = items::read(&ctx, COLLECTION, &flows, None).await?.data;
    let of_active = Filter::Field { step: step("flow"), inner: Box::new(active()) };
    let operations = Query { filter: Some(of_active), ..fields(&["id", "flow", "key", "type", "options", "resolve"]) };
    let operations = items::read(&ctx, "directus_operations", &operations, None).await?.data;
    let operations: HashMap<String, Row<'_>> =
        rows(operations.get())?.into_iter().filter_map(|row| Some((row.text("id")?, row))).collect();
    let read = |flow: &Row<'_>| {
        let (id, name) = (flow.text("id").unwrap_or_default(), flow.text("name").unwrap_or_default());
        let number = Uuid::try_parse(&id);
        match (number, schedule::read(&flow.value("options"), engine.settings.schedules)) {
            (Ok(number), Ok(schedule)) => {
                let operations = chain(&id, flow.text("operation"), &operations);
                Ok(ScheduledFlow { id: number, name, schedule, operations })
            }
            (Ok(_), Err(problems)) => Err(BrokenFlow { id, name, problems }),
            (Err(_), _) => {
                let problem = Problem::failed_validation("id", None, "\"id\" has to be a UUID.");
                Err(BrokenFlow { id, name, problems: vec![problem] })
            }
        }
    };
    // Some engines compare texts more generously than others.
    let meant = |flow: &&Row<'_>| {
        flow.text("trigger").as_deref() == Some(SCHEDULE) && flow.text("status").as_deref() == Some("active")
    };
    Ok(rows(flows.get())?.iter().filter(meant).map(read).collect())
}

fn active() -> Filter {
    let is = |name: &str, value: &str| Filter::Field {
        step: step(name),
        inner: Box::new(Filter::Is(Operator::Eq, value.into())),
    };
    Filter::All(vec![is("trigger", SCHEDULE), is("status", "active")])
}

/// The `log` operations of a flow in their order. No operation comes twice, so the chain ends.
fn chain(flow: &str, first: Option<String>, operations: &HashMap<String, Row<'_>>) -> Vec<LogOperation> {
    let mut logs = Vec::new();
    let mut seen = HashSet::new();
    let mut next = first;
    while let Some((id, operation)) = next.and_then(|id| operations.get(&id).map(|operation| (id, operation))) {
        if operation.text("flow").as_deref() != Some(flow) || !seen.insert(id.clone()) {
            break;
        }
        if operation.text("type").as_deref() == Some("log") {
            let mut options = operation.value("options");
            let message = options.get_mut("message").map(Value::take).unwrap_or_default();
            logs.push(LogOperation { id, key: operation.text("key").unwrap_or_default(), message });
        }
        next = operation.text("resolve");
    }
    logs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_follows_resolve_passes_over_others_and_ends() {
        let stored = r#"[
            {"id":"a","flow":"f","key":"one","type":"log","options":{"message":"x"},"resolve":"b"},
            {"id":"b","flow":"f","key":"two","type":"mail","options":null,"resolve":"c"},
            {"id":"c","flow":"f","key":"three","type":"log","options":"none","resolve":"a"},
            {"id":"d","flow":"f","key":"four","type":"log","options":{},"resolve":"e"},
            {"id":"e","flow":"g","key":"five","type":"log","options":{},"resolve":null}
        ]"#;
        let operations: HashMap<_, _> =
            rows(stored).unwrap().into_iter().map(|row| (row.text("id").unwrap(), row)).collect();
        let keys = |first: &str| -> Vec<String> {
            chain("f", Some(first.to_owned()), &operations).into_iter().map(|log| log.key).collect()
        };
        assert_eq!(keys("a"), ["one", "three"]);
        assert_eq!(keys("b"), ["three", "one"]);
        assert_eq!(keys("d"), ["four"]);
        assert_eq!(keys("nothing"), Vec::<String>::new());
        let messages: Vec<Value> =
            chain("f", Some("a".to_owned()), &operations).into_iter().map(|log| log.message).collect();
        assert_eq!(messages, [Value::from("x"), Value::Null]);
    }
}
