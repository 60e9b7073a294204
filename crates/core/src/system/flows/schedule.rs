//! The options of a flow with the trigger `schedule`, and the port to what knows cron expressions
//! and time zones: the engine does not.

use std::fmt;

use serde_json::{Map, Value};

use crate::error::Problem;

/// Characters of an expression or a zone.
const LONGEST: usize = 255;

/// Whether an expression and a zone make a schedule; if not, the option (`cron` or `timezone`) that is
/// wrong and a sentence about it.
pub type CheckSchedule = fn(cron: &str, timezone: Option<&str>) -> Result<(), (&'static str, String)>;

/// Which schedules this engine takes. By default none: what can't be judged is not saved.
#[derive(Clone, Copy)]
pub struct ScheduleCheck {
    pub check: CheckSchedule,
    /// Whether missed occurrences are kept somewhere, so that they can be made up for.
    pub catches_up: bool,
}

impl Default for ScheduleCheck {
    fn default() -> Self {
        Self { check: |_, _| Err(("cron", "This server runs no schedules.".to_owned())), catches_up: false }
    }
}

impl fmt::Debug for ScheduleCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScheduleCheck")
    }
}

/// When a flow runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub cron: String,
    /// An IANA name; `None`: the server's own zone.
    pub timezone: Option<String>,
    pub overlap: Overlap,
    pub catch_up: CatchUp,
}

/// What happens to an occurrence while the one before it still runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    #[default]
    Allow,
    Skip,
    Queue,
}

/// Which occurrences are made up for that nobody ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CatchUp {
    #[default]
    Skip,
    Last,
    All,
}

const OVERLAPS: &[(&str, Overlap)] = &[("allow", Overlap::Allow), ("skip", Overlap::Skip), ("queue", Overlap::Queue)];
const CATCH_UPS: &[(&str, CatchUp)] = &[("skip", CatchUp::Skip), ("last", CatchUp::Last), ("all", CatchUp::All)];

/// Reads stored options.
///
/// # Errors
/// Everything that is wrong with them: `FAILED_VALIDATION` with the field `options.…`.
pub(super) fn read(options: &Value, check: ScheduleCheck) -> Result<Schedule, Vec<Problem>> {
    let none = Map::new();
    let options = match options {
        Value::Object(options) => options,
        Value::Null => &none,
        _ => return Err(vec![Problem::failed_validation("options", None, "\"options\" has to be an object.")]),
    };
    let mut problems = Vec::new();
    let cron = text(options, "cron", &mut problems);
    if cron.is_none() && problems.is_empty() {
        problems.push(problem("cron", Some("required"), "A schedule needs a cron expression."));
    }
    let timezone = text(options, "timezone", &mut problems);
    if let Some(cron) = cron
        && let Err((option, message)) = (check.check)(cron, timezone)
    {
        problems.push(problem(option, None, &message));
    }
    let overlap = one_of(options, "overlap", OVERLAPS, &mut problems);
    let catch_up = one_of(options, "catch_up", CATCH_UPS, &mut problems);
    if catch_up != CatchUp::Skip && !check.catches_up {
        let message = "This server's store of schedules keeps no missed occurrences; only \"skip\" is possible.";
        problems.push(problem("catch_up", None, message));
    }
    match cron.filter(|_| problems.is_empty()) {
        Some(cron) => Ok(Schedule { cron: cron.to_owned(), timezone: timezone.map(str::to_owned), overlap, catch_up }),
        None => Err(problems),
    }
}

fn text<'o>(options: &'o Map<String, Value>, name: &str, problems: &mut Vec<Problem>) -> Option<&'o str> {
    match options.get(name) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if text.chars().count() <= LONGEST => Some(text),
        Some(_) => {
            problems.push(problem(name, None, &format!("It has to be a text of at most {LONGEST} characters.")));
            None
        }
    }
}

fn one_of<T: Copy + Default>(
    options: &Map<String, Value>,
    name: &str,
    known: &[(&'static str, T)],
    problems: &mut Vec<Problem>,
) -> T {
    let value = match options.get(name) {
        None | Some(Value::Null) => return T::default(),
        Some(value) => value.as_str().and_then(|text| known.iter().find(|(name, _)| *name == text)),
    };
    match value {
        Some((_, value)) => *value,
        None => {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let mut problem = problem(name, Some("in"), &format!("It has to be one of {}.", names.join(", ")));
            problem.extensions.insert("valid".to_owned(), names.into());
            problems.push(problem);
            T::default()
        }
    }
}

fn problem(option: &str, kind: Option<&str>, message: &str) -> Problem {
    let field = format!("options.{option}");
    Problem::failed_validation(&field, kind, format!("\"{field}\": {message}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check() -> ScheduleCheck {
        let check: CheckSchedule = |cron, timezone| match (cron, timezone) {
            ("* * * * *", None | Some("UTC")) => Ok(()),
            ("* * * * *", Some(_)) => Err(("timezone", "unknown".to_owned())),
            _ => Err(("cron", "none".to_owned())),
        };
        ScheduleCheck { check, catches_up: false }
    }

    fn wrong(options: Value) -> Vec<String> {
        let problems = read(&options, check()).expect_err("refused");
        problems.iter().filter_map(|problem| problem.extensions["field"].as_str().map(str::to_owned)).collect()
    }

    #[test]
    fn absent_options_have_defaults() {
        let read = read(&json!({"cron": "* * * * *", "timezone": null, "overlap": null, "other": 1}), check());
        let wanted =
            Schedule { cron: "* * * * *".to_owned(), timezone: None, overlap: Overlap::Allow, catch_up: CatchUp::Skip };
        assert_eq!(read, Ok(wanted));
    }

    #[test]
    fn everything_that_is_wrong_is_told() {
        assert_eq!(wrong(json!(null)), ["options.cron"]);
        assert_eq!(wrong(json!([])), ["options"]);
        assert_eq!(wrong(json!({"cron": 5, "timezone": ["UTC"]})), ["options.cron", "options.timezone"]);
        assert_eq!(wrong(json!({"cron": "* * * * *", "timezone": "Mars"})), ["options.timezone"]);
        assert_eq!(wrong(json!({"cron": "x", "overlap": "ALLOW", "catch_up": 1})).len(), 3);
    }

    #[test]
    fn what_is_missed_can_be_made_up_for_only_where_it_is_kept() {
        let options = json!({"cron": "* * * * *", "catch_up": "all"});
        assert_eq!(wrong(options.clone()), ["options.catch_up"]);
        let read = read(&options, ScheduleCheck { catches_up: true, ..check() });
        assert_eq!(read.map(|schedule| schedule.catch_up), Ok(CatchUp::All));
    }

    #[test]
    fn without_a_check_there_are_no_schedules() {
        assert!(read(&json!({"cron": "* * * * *"}), ScheduleCheck::default()).is_err());
    }
}
