//! The cron dialect, day by day, and the rules at changes of the clock.

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use chrono_tz::Tz;
use proptest::prelude::*;
use waymark_schedule::{CronSchedule, parse_cron};

use crate::support::at;

/// The first occurrences after `after`, in local time of the zone.
fn local(expression: &str, zone: &str, after: &str, most: usize) -> Vec<String> {
    let cron = parse_cron(expression, Some(zone)).unwrap_or_else(|error| panic!("{expression}: {error}"));
    let all = cron.between(at(after), at("2400-01-01T00:00:00Z"), most);
    all.iter().map(|it| it.with_timezone(&cron.zone()).format("%Y-%m-%d %H:%M:%S %:z").to_string()).collect()
}

/// The first days after `after` in UTC.
fn days(expression: &str, after: &str, most: usize) -> Vec<String> {
    local(expression, "UTC", after, most).iter().map(|it| it[..10].to_owned()).collect()
}

#[test]
fn fields_and_names() {
    assert_eq!(
        local("*/20 * * * * *", "UTC", "2026-01-01T00:00:00Z", 3),
        ["2026-01-01 00:00:20 +00:00", "2026-01-01 00:00:40 +00:00", "2026-01-01 00:01:00 +00:00"]
    );
    // five fields: at second 0
    assert_eq!(local("30 9 * jan mon-FRI", "UTC", "2026-01-02T10:00:00Z", 1), ["2026-01-05 09:30:00 +00:00"]);
    // a step counts from the start of each minute, not on from the last occurrence
    assert_eq!(
        local("*/47 * * * * *", "UTC", "2026-01-01T00:00:10Z", 4),
        [
            "2026-01-01 00:00:47 +00:00",
            "2026-01-01 00:01:00 +00:00",
            "2026-01-01 00:01:47 +00:00",
            "2026-01-01 00:02:00 +00:00"
        ]
    );
    // an instant within a second belongs to it
    assert_eq!(local("* * * * * *", "UTC", "2026-01-01T00:00:00.999Z", 1), ["2026-01-01 00:00:01 +00:00"]);
}

#[test]
fn days_of_month_and_week() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("0 0 0 L * *", "2027-12-31T00:00:00Z", &["2028-01-31", "2028-02-29", "2028-03-31"]),
        ("0 0 0 29 2 *", "2026-01-01T00:00:00Z", &["2028-02-29", "2032-02-29"]),
        ("0 0 0 29 2 *", "2096-03-01T00:00:00Z", &["2104-02-29"]),
        // nearest weekday: Saturday back, Sunday on, never over the month's end
        ("0 0 0 15W * *", "2026-07-20T00:00:00Z", &["2026-08-14", "2026-09-15"]),
        ("0 0 0 15W 11 *", "2026-01-01T00:00:00Z", &["2026-11-16"]),
        ("0 0 0 1W 8 *", "2026-01-01T00:00:00Z", &["2026-08-03"]),
        ("0 0 0 31W 1 *", "2026-02-01T00:00:00Z", &["2027-01-29"]),
        // in a shorter month there is no 31st to be near to
        ("0 0 0 31W * *", "2026-01-31T00:00:00Z", &["2026-03-31", "2026-05-29"]),
        (
            "0 0 0 LW * *",
            "2026-01-01T00:00:00Z",
            &["2026-01-30", "2026-02-27", "2026-03-31", "2026-04-30", "2026-05-29"],
        ),
        ("0 0 0 * * 5#3", "2026-01-01T00:00:00Z", &["2026-01-16", "2026-02-20"]),
        ("0 0 0 * * FRI#3", "2026-01-01T00:00:00Z", &["2026-01-16"]),
        ("0 0 0 * * 5#L", "2026-01-01T00:00:00Z", &["2026-01-30"]),
        ("0 0 0 * * 5L", "2026-01-01T00:00:00Z", &["2026-01-30"]),
        // 7 is Sunday, alone, in a range and counted
        ("0 0 0 * * 7", "2026-01-01T00:00:00Z", &["2026-01-04", "2026-01-11"]),
        ("0 0 0 * * 5-7", "2026-01-05T00:00:00Z", &["2026-01-09", "2026-01-10", "2026-01-11", "2026-01-16"]),
        ("0 0 0 * * 7#1", "2026-01-05T00:00:00Z", &["2026-02-01", "2026-03-01"]),
        ("0 0 0 * * 7L", "2026-01-01T00:00:00Z", &["2026-01-25", "2026-02-22"]),
        ("0 0 0 * * SUNL", "2026-01-01T00:00:00Z", &["2026-01-25", "2026-02-22"]),
        ("0 0 0 * * FRI-SUN,MON", "2026-01-07T00:00:00Z", &["2026-01-09", "2026-01-10", "2026-01-11", "2026-01-12"]),
        // both restricted: both must match
        ("0 0 0 13 * 5", "2026-01-01T00:00:00Z", &["2026-02-13", "2026-03-13", "2026-11-13"]),
        ("0 0 0 1-7 * MON", "2026-01-01T00:00:00Z", &["2026-01-05", "2026-02-02"]),
        ("0 0 0 L * 5", "2026-01-01T00:00:00Z", &["2026-07-31", "2027-04-30"]),
        ("0 0 0 13 * ?", "2026-01-01T00:00:00Z", &["2026-01-13", "2026-02-13"]),
        // a plus sign asks for what is the rule anyway
        ("0 0 0 13 * +5", "2026-01-01T00:00:00Z", &["2026-02-13"]),
        // a leap day that is a Monday
        ("0 0 0 29 2 1", "2026-01-01T00:00:00Z", &["2044-02-29"]),
        ("0 0 0 L,15W * *", "2026-01-16T00:00:00Z", &["2026-01-31", "2026-02-16", "2026-02-28"]),
        // a step beyond the field leaves its start
        ("0 0 0 */100 * *", "2026-01-16T00:00:00Z", &["2026-02-01"]),
        ("@monthly", "2026-01-01T00:00:00Z", &["2026-02-01"]),
    ];
    for (expression, after, expected) in cases {
        assert_eq!(days(expression, after, expected.len()), *expected, "{expression}");
    }
}

#[test]
fn ranges_that_wrap_are_refused_with_what_to_write() {
    for expression in ["0 0 0 * * FRI-MON", "0 0 22-3 * * *", "0 0 0 * NOV-FEB *", "0 0 0 * * 6-1"] {
        let error = parse_cron(expression, None).unwrap_err();
        assert_eq!(error.field, "cron");
        assert!(error.message.starts_with("ranges run upwards"), "{expression}: {error}");
    }
}

#[test]
fn a_fixed_time_in_the_gap_runs_right_after_it() {
    // 02:00 → 03:00
    assert_eq!(
        local("0 30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 3),
        ["2026-03-28 02:30:00 +01:00", "2026-03-29 03:00:00 +02:00", "2026-03-30 02:30:00 +02:00"]
    );
    assert_eq!(
        local("0 30 2 * * *", "America/New_York", "2026-03-07T08:00:00Z", 2),
        ["2026-03-08 03:00:00 -04:00", "2026-03-09 02:30:00 -04:00"]
    );
    // the day begins at 01:00: midnight's job is not lost
    assert_eq!(
        local("0 0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z", 2),
        ["2026-09-06 01:00:00 -03:00", "2026-09-07 00:00:00 -03:00"]
    );
    // half an hour: 02:00 → 02:30
    assert_eq!(
        local("0 15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", 2),
        ["2026-10-04 02:30:00 +11:00", "2026-10-05 02:15:00 +11:00"]
    );
}

#[test]
fn a_fixed_time_that_comes_twice_runs_once() {
    assert_eq!(
        local("0 30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2),
        ["2026-10-25 02:30:00 +02:00", "2026-10-26 02:30:00 +01:00"]
    );
    assert_eq!(
        local("0 30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", 2),
        ["2026-11-01 01:30:00 -04:00", "2026-11-02 01:30:00 -05:00"]
    );
    assert_eq!(
        local("0 30 23 * * *", "America/Santiago", "2026-04-04T12:00:00Z", 2),
        ["2026-04-04 23:30:00 -03:00", "2026-04-05 23:30:00 -04:00"]
    );
    assert_eq!(
        local("0 45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", 2),
        ["2026-04-05 01:45:00 +11:00", "2026-04-06 01:45:00 +10:30"]
    );
}

#[test]
fn an_interval_goes_on_through_both() {
    // nothing in the gap, no run for it
    assert_eq!(
        local("0 */30 * * * *", "Europe/Berlin", "2026-03-29T00:10:00Z", 3),
        ["2026-03-29 01:30:00 +01:00", "2026-03-29 03:00:00 +02:00", "2026-03-29 03:30:00 +02:00"]
    );
    // both passes
    assert_eq!(
        local("0 */30 * * * *", "Europe/Berlin", "2026-10-25T00:10:00Z", 4),
        [
            "2026-10-25 02:30:00 +02:00",
            "2026-10-25 02:00:00 +01:00",
            "2026-10-25 02:30:00 +01:00",
            "2026-10-25 03:00:00 +01:00"
        ]
    );
    assert_eq!(
        local("0 */15 * * * *", "Australia/Lord_Howe", "2026-04-04T14:35:00Z", 4),
        [
            "2026-04-05 01:45:00 +11:00",
            "2026-04-05 01:30:00 +10:30",
            "2026-04-05 01:45:00 +10:30",
            "2026-04-05 02:00:00 +10:30"
        ]
    );
    // a range of hours is an interval too
    assert_eq!(
        local("0 30 1-3 * * *", "America/New_York", "2026-11-01T05:00:00Z", 3),
        ["2026-11-01 01:30:00 -04:00", "2026-11-01 01:30:00 -05:00", "2026-11-01 02:30:00 -05:00"]
    );
    // every second: 3,600 in each hour of the line of time, none of it silent
    let cron = parse_cron("* * * * * *", Some("Europe/Berlin")).unwrap();
    let all = cron.between(at("2026-10-24T23:30:00Z"), at("2026-10-25T02:30:00Z"), 20_000);
    assert_eq!(all.len(), 3 * 3_600);
}

const CHANGES: &[(&str, &str)] = &[
    ("Europe/Berlin", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", "2026-10-25T01:00:00Z"),
    ("America/New_York", "2026-03-08T07:00:00Z"),
    ("America/New_York", "2026-11-01T06:00:00Z"),
    ("America/Santiago", "2026-09-06T04:00:00Z"),
    ("America/Santiago", "2026-04-05T03:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"),
];

fn cron(expression: &str, zone: Tz) -> CronSchedule {
    CronSchedule::parse(expression, zone).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Replicas that started at different moments agree: the next occurrence does not depend on where one asks from.
    #[test]
    fn asking_earlier_or_later_gives_the_same_occurrences(
        change in 0..CHANGES.len(),
        minute in prop::sample::select(vec!["0", "30", "*/7", "*", "15,45", "10-20"]),
        hour in prop::sample::select(vec!["0", "1", "2", "3", "*", "1-3", "*/2", "23"]),
        offset in -300_i64..300,
    ) {
        let (zone, instant) = CHANGES[change];
        let schedule = cron(&format!("{minute} {hour} * * *"), zone.parse().unwrap());
        let change = at(instant);
        let all = schedule.between(change - TimeDelta::hours(30), change + TimeDelta::hours(60), 10_000);
        prop_assert!(all.is_sorted() && all.windows(2).all(|pair| pair[0] < pair[1]));
        let asked = change + TimeDelta::minutes(offset) + TimeDelta::seconds(17);
        let expected = all.iter().find(|it| **it > asked).copied();
        prop_assert_eq!(schedule.next_after(asked), expected);
        let on_time = change + TimeDelta::minutes(offset);
        prop_assert_eq!(schedule.next_after(on_time), all.iter().find(|it| **it > on_time).copied());
    }

    /// An interval runs at exactly the instants whose local time matches.
    #[test]
    fn intervals_are_the_instants_whose_local_time_matches(
        change in 0..CHANGES.len(),
        step in 2_u32..59,
        hours in prop::sample::select(vec![(0_u32, 23_u32), (1, 3), (0, 2), (22, 23)]),
    ) {
        let (zone, instant) = CHANGES[change];
        let zone: Tz = zone.parse().unwrap();
        let schedule = cron(&format!("*/{step} {}-{} * * *", hours.0, hours.1), zone);
        let (from, to) = (at(instant) - TimeDelta::hours(26), at(instant) + TimeDelta::hours(26));
        let matches = |it: &DateTime<Utc>| {
            let local = it.with_timezone(&zone);
            local.minute().is_multiple_of(step) && (hours.0..=hours.1).contains(&local.hour())
        };
        let minutes = (1..=52 * 60).map(|minute| from + TimeDelta::minutes(minute));
        prop_assert_eq!(schedule.between(from, to, 10_000), minutes.filter(matches).collect::<Vec<_>>());
    }
}
