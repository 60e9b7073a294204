//! Cron expressions: croner's grammar with fixed settings, a zone, and the search for occurrences. No grammar of our own.
//!
//! Settings: five or six fields (seconds first, 0 when left out), no year; a restricted day of month *and* a restricted
//! weekday must both match. The dialect and the rules for changes of the clock are in the crate's documentation.

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use chrono_tz::Tz;
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};

use crate::error::InvalidSetting;

/// Longest expression in bytes: enough for every value of every field.
const LONGEST_EXPRESSION: usize = 1_000;
/// Days within which a pattern must match once: 28 years (all pairs of date and weekday, leap days included) and the
/// eight years without a leap day around 2100.
const DAYS_OF_ALL_PATTERNS: i64 = 40 * 366;

/// A checked cron expression in a zone.
#[derive(Debug, Clone)]
pub struct CronSchedule {
    cron: Cron,
    zone: Tz,
}

/// Checks a cron expression and a zone without registering anything. `timezone` is an IANA name; `None` means UTC.
///
/// # Errors
/// [`InvalidSetting`] with the field `cron` or `timezone`.
pub fn parse_cron(expression: &str, timezone: Option<&str>) -> Result<CronSchedule, InvalidSetting> {
    let zone = timezone.map(parse_timezone).transpose()?.unwrap_or(Tz::UTC);
    CronSchedule::parse(expression, zone)
}

/// Reads an IANA zone name (`Europe/Berlin`, `UTC`).
///
/// # Errors
/// [`InvalidSetting`] with the field `timezone`.
pub fn parse_timezone(name: &str) -> Result<Tz, InvalidSetting> {
    name.trim()
        .parse()
        .map_err(|_| InvalidSetting::new("timezone", format!("{:?} is no IANA time zone name", shortened(name))))
}

impl CronSchedule {
    /// Checks `expression` for use in `zone`.
    ///
    /// # Errors
    /// [`InvalidSetting`] with the field `cron`: not five or six fields, outside croner's grammar, or no day ever matches.
    pub fn parse(expression: &str, zone: Tz) -> Result<Self, InvalidSetting> {
        let refuse = |message: String| InvalidSetting::new("cron", message);
        if expression.len() > LONGEST_EXPRESSION {
            return Err(refuse(format!("longer than {LONGEST_EXPRESSION} bytes")));
        }
        // croner reads letters in upper case, which may change their number outside ASCII
        if !expression.is_ascii() {
            return Err(refuse("holds characters outside ASCII".to_owned()));
        }
        let fields = expression.split_ascii_whitespace().count();
        let nickname = fields == 1 && expression.trim().starts_with('@');
        if !nickname && !(5..=6).contains(&fields) {
            return Err(refuse(format!("five or six fields are needed (seconds come first), not {fields}")));
        }
        // croner takes an empty part for no value, and a field without values would never match
        if expression.split_ascii_whitespace().flat_map(|field| field.split(',')).any(str::is_empty) {
            return Err(refuse("a list has an empty part".to_owned()));
        }
        let cron = CronParser::builder()
            .seconds(Seconds::Optional)
            .year(Year::Disallowed)
            .dom_and_dow(true)
            .build()
            .parse(expression)
            .map_err(|error| refuse(format!("{}{error}", hint(expression))))?;
        let schedule = Self { cron, zone };
        if !schedule.some_day_matches() {
            return Err(refuse(format!("{:?} matches no day of any year", shortened(expression))));
        }
        Ok(schedule)
    }

    /// The zone its fields are read in.
    pub fn zone(&self) -> Tz {
        self.zone
    }

    /// The first occurrence after `instant`; whole seconds. `None` past the year 4999.
    pub fn next_after(&self, instant: DateTime<Utc>) -> Option<DateTime<Utc>> {
        // an occurrence is a whole second, so the second that `instant` lies in has had its own
        let second = instant.duration_trunc(TimeDelta::seconds(1)).ok()?;
        let next = self.cron.find_next_occurrence(&second.with_timezone(&self.zone), false).ok()?;
        let next = next.with_timezone(&Utc);
        (next > second).then_some(next)
    }

    /// The occurrences in `(after, until]` in order, at most `most` of them (the oldest).
    pub fn between(&self, after: DateTime<Utc>, until: DateTime<Utc>, most: usize) -> Vec<DateTime<Utc>> {
        std::iter::successors(self.next_after(after), |last| self.next_after(*last))
            .take_while(|occurrence| *occurrence <= until)
            .take(most)
            .collect()
    }

    /// Whether any day matches: croner's own search for `0 9 31 2 *` reads thousands of years before it gives up.
    fn some_day_matches(&self) -> bool {
        let Some(mut day) = chrono::NaiveDate::from_ymd_opt(2000, 1, 1) else { return false };
        for _ in 0..DAYS_OF_ALL_PATTERNS {
            if self.cron.is_time_matching_day(day) {
                return true;
            }
            let Some(next) = day.succ_opt() else { return false };
            day = next;
        }
        false
    }
}

/// Day and month of a pattern, without its time of day.
trait MatchesDay {
    fn is_time_matching_day(&self, day: chrono::NaiveDate) -> bool;
}

impl MatchesDay for Cron {
    fn is_time_matching_day(&self, day: chrono::NaiveDate) -> bool {
        use chrono::Datelike;
        use croner::time::Weekday;
        let weekday = match day.weekday() {
            chrono::Weekday::Mon => Weekday::Monday,
            chrono::Weekday::Tue => Weekday::Tuesday,
            chrono::Weekday::Wed => Weekday::Wednesday,
            chrono::Weekday::Thu => Weekday::Thursday,
            chrono::Weekday::Fri => Weekday::Friday,
            chrono::Weekday::Sat => Weekday::Saturday,
            chrono::Weekday::Sun => Weekday::Sunday,
        };
        self.pattern.month_match(day.month()).unwrap_or(false)
            && self.pattern.day_match(day.year(), day.month(), day.day(), weekday).unwrap_or(false)
    }
}

/// What most often is meant when croner refuses.
fn hint(expression: &str) -> &'static str {
    let reversed = |field: &str| {
        field.split(',').any(|part| {
            let mut ends = part.split('/').next().unwrap_or_default().splitn(2, '-');
            matches!((ends.next().map(rank), ends.next().map(rank)), (Some(Some(from)), Some(Some(to))) if from > to)
        })
    };
    if expression.split_ascii_whitespace().any(reversed) {
        "ranges run upwards; list both parts instead (FRI-SUN,MON for FRI-MON, 22,23,0-3 for 22-3). "
    } else if expression
        .split_ascii_whitespace()
        .any(|field| field.split_once('/').is_some_and(|(start, _)| rank(start).is_some()))
    {
        "a step needs a range or *; write 0-59/10 or */10 for 0/10. "
    } else {
        ""
    }
}

fn rank(value: &str) -> Option<u32> {
    const NAMES: [&str; 19] = [
        "SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP",
        "OCT", "NOV", "DEC",
    ];
    let position = NAMES.iter().position(|name| name.eq_ignore_ascii_case(value));
    value.parse().ok().or_else(|| position.and_then(|at| u32::try_from(at).ok()))
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}
