//! Dates and times from ISO 8601 texts, and from whole numbers as milliseconds since 1970.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike, Utc};
use serde_json::Value;

use super::{Mismatch, Purpose, Typed};

/// What a text says.
struct Moment {
    date: NaiveDate,
    time: NaiveTime,
    zone: Option<FixedOffset>,
}

impl Moment {
    /// The wall clock: in UTC when a zone was given, as written otherwise.
    fn wall_clock(&self) -> Option<NaiveDateTime> {
        let written = self.date.and_time(self.time);
        match self.zone {
            Some(zone) => written.checked_sub_signed(TimeDelta::try_seconds(i64::from(zone.local_minus_utc()))?),
            None => Some(written),
        }
    }
}

pub(super) fn wall_clock(value: &Value) -> Option<NaiveDateTime> {
    moment(value)?.wall_clock()
}

fn moment(value: &Value) -> Option<Moment> {
    match value {
        Value::String(text) => parse(text.trim()),
        Value::Number(number) => {
            let moment = DateTime::from_timestamp_millis(number.as_i64()?)?.naive_utc();
            Some(Moment { date: moment.date(), time: moment.time(), zone: None })
        }
        _ => None,
    }
}

fn parse(text: &str) -> Option<Moment> {
    let (date, rest) = text.split_at_checked(10).unwrap_or((text, ""));
    let date = parse_date(date)?;
    if rest.is_empty() {
        return Some(Moment { date, time: NaiveTime::MIN, zone: None });
    }
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (time, zone) = match rest.find(['Z', 'z', '+', '-']) {
        Some(at) => {
            let (time, zone) = rest.split_at_checked(at)?;
            (time, Some(parse_zone(zone)?))
        }
        None => (rest, None),
    };
    Some(Moment { date, time: parse_time(time.trim_end())?, zone })
}

fn parse_date(text: &str) -> Option<NaiveDate> {
    let mut parts = text.split('-');
    let year = digits(parts.next()?, 4)?;
    let month = digits(parts.next()?, 2)?;
    let day = digits(parts.next()?, 2)?;
    if parts.next().is_some() || year == 0 {
        return None;
    }
    NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)
}

fn parse_time(text: &str) -> Option<NaiveTime> {
    let mut parts = text.split(':');
    let hour = digits(parts.next()?, 2)?;
    let minute = digits(parts.next()?, 2)?;
    let (second, nanos) = match parts.next() {
        None => (0, 0),
        Some(part) => {
            let (second, fraction) = part.split_once(['.', ',']).unwrap_or((part, "0"));
            (digits(second, 2)?, nanoseconds(fraction)?)
        }
    };
    if parts.next().is_some() {
        return None;
    }
    NaiveTime::from_hms_nano_opt(hour, minute, second, nanos)
}

fn parse_zone(text: &str) -> Option<FixedOffset> {
    if text.eq_ignore_ascii_case("z") {
        return FixedOffset::east_opt(0);
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+')?),
    };
    let plain = rest.replacen(':', "", 1);
    let (hours, minutes) = plain.split_at_checked(2)?;
    let hours = i32::try_from(digits(hours, 2)?).ok()?;
    let minutes = if minutes.is_empty() { 0 } else { i32::try_from(digits(minutes, 2)?).ok()? };
    if minutes > 59 {
        return None;
    }
    FixedOffset::east_opt(sign * (hours * 3600 + minutes * 60))
}

/// Exactly `count` decimal digits.
fn digits(text: &str, count: usize) -> Option<u32> {
    (text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

fn nanoseconds(fraction: &str) -> Option<u32> {
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let padded: String = fraction.chars().chain(std::iter::repeat('0')).take(9).collect();
    padded.parse().ok()
}

/// Stored moments keep milliseconds, which is what answers show; operands keep what the databases can hold.
fn precise(moment: NaiveDateTime, purpose: Purpose) -> NaiveDateTime {
    let unit = if purpose == Purpose::Storage { 1_000_000 } else { 1_000 };
    moment.with_nanosecond(moment.nanosecond() / unit * unit).unwrap_or(moment)
}

pub(super) fn date(value: &Value) -> Result<Typed, Mismatch> {
    moment(value).map(|moment| Typed::Date(moment.date)).ok_or_else(|| Mismatch::type_of("a date (YYYY-MM-DD)"))
}

pub(super) fn time(value: &Value) -> Result<Typed, Mismatch> {
    value
        .as_str()
        .and_then(|text| parse_time(text.trim()))
        .and_then(|time| time.with_nanosecond(time.nanosecond() / 1_000 * 1_000))
        .map(Typed::Time)
        .ok_or_else(|| Mismatch::type_of("a time (HH:MM:SS)"))
}

pub(super) fn date_time(value: &Value, purpose: Purpose) -> Result<Typed, Mismatch> {
    moment(value)
        .and_then(|moment| moment.wall_clock())
        .map(|moment| Typed::DateTime(precise(moment, purpose)))
        .ok_or_else(|| Mismatch::type_of("a date and time (YYYY-MM-DDTHH:MM:SS)"))
}

pub(super) fn timestamp(value: &Value, purpose: Purpose) -> Result<Typed, Mismatch> {
    moment(value)
        .and_then(|moment| moment.wall_clock())
        .map(|moment| Typed::Timestamp(DateTime::<Utc>::from_naive_utc_and_offset(precise(moment, purpose), Utc)))
        .ok_or_else(|| Mismatch::type_of("a timestamp (YYYY-MM-DDTHH:MM:SSZ)"))
}
