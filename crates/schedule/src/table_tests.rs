//! The timer's state machine under jumps of the clock and re-registration.

use proptest::prelude::*;

use super::*;

const START: i64 = 1_700_000_000_000;

fn name(text: &str) -> Arc<str> {
    text.into()
}

fn fired(due: &[Due]) -> Vec<i64> {
    due.iter().map(|due| due.occurrence - START).collect()
}

#[test]
fn a_day_of_sleep_is_one_skip_and_no_flood() {
    let mut table = Table::new(2_000);
    for number in 0..200 {
        table.insert(name(&format!("every-second-{number}")), Occurrences::Every(1_000), START);
    }
    assert_eq!(table.due(START + 1_000).0.len(), 200);
    let started = std::time::Instant::now();
    let (due, missed) = table.due(START + 1_000 + DAY_MS);
    // the three that are not late: exactly 2 s, 1 s and 0 s ago
    assert_eq!(due.len(), 600);
    assert!(due.iter().all(|due| due.occurrence >= START + DAY_MS - 1_000));
    assert_eq!((missed.len(), missed[0].count), (200, MOST_COUNTED));
    assert!(started.elapsed().as_secs() < 2);
}

#[test]
fn a_clock_that_goes_back_brings_back_only_what_did_not_fire() {
    let mut table = Table::new(2_000);
    table.insert(name("a"), Occurrences::Every(1_000), START);
    assert_eq!(fired(&table.due(START + 1_000).0), [1_000]);
    // an hour ahead: skipped but for the last three
    assert_eq!(fired(&table.due(START + 3_600_000).0), [3_598_000, 3_599_000, 3_600_000]);
    // and back: silent until past what fired
    assert_eq!(fired(&table.due(START + 2_000).0), [] as [i64; 0]);
    assert_eq!(table.next_of("a"), Some(START + 3_601_000));

    let mut table = Table::new(2_000);
    table.insert(name("b"), Occurrences::Every(10_000), START);
    assert_eq!(fired(&table.due(START + 10_000).0), [10_000]);
    // ahead without firing: nothing is lost when it comes back
    assert_eq!(fired(&table.due(START + 55_000).0), [] as [i64; 0]);
    assert_eq!(fired(&table.due(START + 15_000).0), [] as [i64; 0]);
    assert_eq!(fired(&table.due(START + 20_000).0), [20_000]);
}

#[derive(Debug, Clone)]
enum Step {
    Look(i64),
    Reload,
    Remove,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_i64..3_000).prop_map(Step::Look),
        2 => (-20_000_i64..20_000).prop_map(Step::Look),
        2 => Just(Step::Reload),
        1 => Just(Step::Remove),
    ]
}

proptest! {
    /// However the clock jumps and whoever reloads: no occurrence fires twice, none before its time or more than 2 s late,
    /// and they fire in order.
    #[test]
    fn nothing_fires_twice(steps in prop::collection::vec(step(), 1..120), period in prop::sample::select(vec![250_i64, 1_000, 7_000])) {
        let mut table = Table::new(2_000);
        let mut now = START;
        let mut generation = table.insert(name("a"), Occurrences::Every(period), now);
        let mut all: Vec<i64> = Vec::new();
        for step in steps {
            match step {
                Step::Look(by) => now += by,
                Step::Reload => {}
                Step::Remove => {
                    table.remove("a", generation);
                }
            }
            let (due, _) = table.due(now);
            for due in due {
                prop_assert!(due.occurrence <= now && now - due.occurrence <= 2_000);
                all.push(due.occurrence);
            }
            if !matches!(step, Step::Look(_)) {
                generation = table.insert(name("a"), Occurrences::Every(period), now);
            }
            if let Some(next) = table.next_of("a") {
                prop_assert!(next > now);
            }
        }
        prop_assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", all);
    }

    /// A clock that only runs forward in steps of at most 2 s misses nothing, reloads included.
    #[test]
    fn nothing_is_dropped(steps in prop::collection::vec((0_i64..2_000, any::<bool>()), 1..100)) {
        let mut table = Table::new(2_000);
        let mut now = START;
        table.insert(name("a"), Occurrences::Every(300), now);
        let mut all = Vec::new();
        for (by, reload) in steps {
            now += by;
            let (due, missed) = table.due(now);
            all.extend(due.into_iter().map(|due| due.occurrence));
            prop_assert!(missed.is_empty());
            if reload {
                table.insert(name("a"), Occurrences::Every(300), now);
            }
        }
        let first = Occurrences::Every(300).next_after(START).unwrap();
        let expected: Vec<i64> = (0..).map(|n| first + n * 300).take_while(|it| *it <= now).collect();
        prop_assert_eq!(all, expected);
    }
}

#[test]
fn the_newest_of_a_long_gap_cost_no_walk_through_it() {
    let cron = crate::cron::parse_cron("* * * * * *", None).unwrap();
    let every_second = Occurrences::Cron(Box::new(cron));
    let (newest, left_out) = every_second.newest(START - 365 * DAY_MS, START, 5);
    assert_eq!(newest, [START - 4_000, START - 3_000, START - 2_000, START - 1_000, START]);
    assert!(left_out);
    let yearly = Occurrences::Cron(Box::new(crate::cron::parse_cron("0 0 1 1 *", None).unwrap()));
    assert_eq!(yearly.newest(START - 3 * 365 * DAY_MS, START, 5).0.len(), 3);
    assert_eq!(Occurrences::Every(1_000).newest(START, START, 5), (vec![], false));
}
