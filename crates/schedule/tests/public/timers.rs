//! One process on a simulated clock: what fires, what is skipped, who waits for whom, and how it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chrono::TimeDelta;
use waymark_schedule::{Origin, Outcome, Overlap, Spec, Stopped, Tick, TickError, TriggerError, Triggered};

use crate::support::{Gate, Recorder, at, settled, simulated, until};

fn seconds(count: i64) -> TimeDelta {
    TimeDelta::seconds(count)
}

#[tokio::test]
async fn occurrences_are_nominal() {
    let (scheduler, clock) = simulated("2026-01-01T00:00:00.400Z");
    let (every, cron) = (Recorder::new(), Recorder::new());
    let registered = scheduler.register(Spec::every("every", 1_500), every.handler()).unwrap();
    scheduler.register(Spec::cron("cron", "*/2 * * * * *"), cron.handler()).unwrap();
    assert_eq!(registered.next(), Some(at("2026-01-01T00:00:01.500Z")));
    settled(&scheduler, &clock, true).await;
    // the timer is late by a second: the occurrence is still the occurrence
    clock.set(at("2026-01-01T00:00:02.500Z"));
    settled(&scheduler, &clock, true).await;
    assert_eq!((every.times(), cron.times()), (vec!["00:00:01.500".to_owned()], vec!["00:00:02".to_owned()]));
    assert_eq!(every.all()[0].key, "2026-01-01T00:00:01.500Z");
    let last = registered.last().unwrap();
    assert_eq!((last.outcome, last.attempt, last.origin), (Outcome::Completed, 1, Origin::Timer));
    assert_eq!(registered.next(), Some(at("2026-01-01T00:00:03Z")));
    let metrics = scheduler.metrics();
    assert_eq!((metrics.runs, metrics.claims_won, metrics.lateness.total()), (2, 2, 2));
}

#[tokio::test]
async fn a_machine_that_slept_for_a_day_wakes_without_a_flood() {
    let (scheduler, clock) = simulated("2026-01-01T00:00:00Z");
    let (second, minute) = (Recorder::new(), Recorder::new());
    scheduler.register(Spec::cron("second", "* * * * * *"), second.handler()).unwrap();
    scheduler.register(Spec::cron("minute", "* * * * *"), minute.handler()).unwrap();
    settled(&scheduler, &clock, true).await;
    clock.set(at("2026-01-02T00:00:30Z"));
    settled(&scheduler, &clock, true).await;
    let mut times = second.times();
    times.sort();
    assert_eq!(times, ["00:00:28", "00:00:29", "00:00:30"]);
    assert_eq!(minute.count(), 0);
    assert_eq!(scheduler.metrics().skipped_late, 200, "a hundred counted for each");
    clock.advance(seconds(30));
    settled(&scheduler, &clock, true).await;
    assert_eq!(minute.times(), ["00:01:00"]);
}

#[tokio::test]
async fn jumps_of_the_clock_fire_nothing_twice() {
    let (scheduler, clock) = simulated("2026-01-01T00:00:00Z");
    let recorder = Recorder::new();
    scheduler.register(Spec::every("a", 1_000), recorder.handler()).unwrap();
    for second in [1, 2, 3, 1, 2, 0, 3, 4, 2, 4, 5] {
        settled(&scheduler, &clock, true).await;
        clock.set(at("2026-01-01T00:00:00Z") + seconds(second));
    }
    settled(&scheduler, &clock, true).await;
    assert_eq!(recorder.times(), ["00:00:01", "00:00:02", "00:00:03", "00:00:04", "00:00:05"]);
}

#[tokio::test]
async fn a_reload_in_the_firing_second_neither_drops_nor_doubles() {
    let (scheduler, clock) = simulated("2026-01-01T00:00:00Z");
    let (old, new) = (Recorder::new(), Recorder::new());
    let first = scheduler.register(Spec::cron("a", "* * * * * *"), old.handler()).unwrap();
    settled(&scheduler, &clock, true).await;
    clock.set(at("2026-01-01T00:00:01.200Z"));
    settled(&scheduler, &clock, true).await;
    // it has fired: the new one waits for the next second
    let second = scheduler.register(Spec::cron("a", "* * * * * *"), new.handler()).unwrap();
    assert_eq!(second.next(), Some(at("2026-01-01T00:00:02Z")));
    assert_eq!(first.next(), None);
    assert_eq!(first.trigger(None).await, Err(TriggerError::Stopped));
    // stopping what was replaced leaves its successor alone
    first.stop().await;
    settled(&scheduler, &clock, true).await;
    assert_eq!((old.count(), new.count()), (1, 0));
    // due and replaced before the timer looked: it belongs to the one that was registered then
    clock.set(at("2026-01-01T00:00:02.100Z"));
    scheduler.register(Spec::cron("a", "*/10 * * * * *"), Recorder::new().handler()).unwrap();
    settled(&scheduler, &clock, true).await;
    assert_eq!((old.count(), new.times()), (1, vec!["00:00:02".to_owned()]));
    // also after a stop, and with a clock set back
    scheduler.get("a").unwrap().stop().await;
    clock.set(at("2026-01-01T00:00:01.900Z"));
    let again = scheduler.register(Spec::cron("a", "* * * * * *"), new.handler()).unwrap();
    assert_eq!(again.next(), Some(at("2026-01-01T00:00:03Z")));
}

#[tokio::test]
async fn allow_runs_side_by_side() {
    let (scheduler, clock) = simulated("2026-01-01T00:00:00Z");
    let (recorder, gate) = (Recorder::new(), Gate::closed());
    scheduler.register(Spec::every("a", 1_000), recorder.gated(&gate)).unwrap();
    for second in 1..=3 {
        settled(&scheduler, &clock, false).await;
        clock.advance(seconds(1));
        recorder.wait(second).await;
    }
    assert_eq!(scheduler.list()[0].active, 3);
    gate.let_pass(3);
    settled(&scheduler, &clock, true).await;
}

#[tokio::test]
async fn skip_drops_what_meets_a_running_one_whatever_it_comes_from() {
    let (scheduler, clock) = simulated("2026-01-01T00:00:00Z");
    let (recorder, gate) = (Recorder::new(), Gate::closed());
    let schedule = scheduler.register(Spec::every("a", 1_000).overlap(Overlap::Skip), recorder.gated(&gate)).unwrap();
    settled(&scheduler, &clock, false).await;
    clock.advance(seconds(1));
    recorder.wait(1).await;
    assert_eq!(schedule.trigger(None).await, Ok(Triggered::Skipped));
    settled(&scheduler, &clock, false).await;
    clock.advance(seconds(1));
    settled(&scheduler, &clock, false).await;
    assert_eq!(scheduler.metrics().overlap_skips, 2);
    gate.let_pass(2);
    settled(&scheduler, &clock, true).await;
    clock.advance(seconds(1));
    recorder.wait(2).await;
    assert_eq!(recorder.times(), ["00:00:01", "00:00:03"]);
}

#[tokio::test]
async fn queue_runs_one_after_another_through_errors_and_panics() {
    let (scheduler, clock) = simulated("2026-01-01T00:00:00Z");
    let running = Arc::new(AtomicUsize::new(0));
    let (recorder, gate) = (Recorder::new(), Gate::closed());
    let told = Arc::new(AtomicUsize::new(0));
    let handler = {
        let (running, recorder, gate) = (running.clone(), recorder.handler(), gate.clone());
        let (recorder, gated) = (Arc::new(recorder), Arc::new(Recorder::new().gated(&gate)));
        move |tick: Tick| {
            let (running, recorder, gated) = (running.clone(), recorder.clone(), gated.clone());
            async move {
                use waymark_schedule::Handler;
                assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "two at once");
                recorder.run(tick.clone()).await?;
                gated.run(tick.clone()).await?;
                running.fetch_sub(1, Ordering::SeqCst);
                match tick.scheduled_at.timestamp() % 3 {
                    0 => Err(TickError::from("does not work")),
                    1 => panic!("falls over"),
                    _ => Ok(()),
                }
            }
        }
    };
    let spec = Spec::every("a", 1_000).overlap(Overlap::Queue);
    let counter = told.clone();
    let spec = spec.on_error(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        panic!("this one too");
    });
    let schedule = scheduler.register(spec, handler).unwrap();
    for _ in 1..=6 {
        settled(&scheduler, &clock, false).await;
        clock.advance(seconds(1));
    }
    settled(&scheduler, &clock, false).await;
    clock.advance(TimeDelta::milliseconds(500));
    let manual = tokio::task::JoinSet::from_iter([{
        let schedule = schedule.clone();
        async move { schedule.trigger(Some("by hand")).await }
    }]);
    until("all are queued", async || scheduler.list()[0].active == 7).await;
    gate.let_pass(7);
    let by_hand = manual.join_all().await.remove(0);
    settled(&scheduler, &clock, true).await;
    let times = recorder.times();
    assert_eq!(times.len(), 7);
    assert!(times.is_sorted(), "{times:?}");
    let metrics = scheduler.metrics();
    assert!(metrics.errors >= 4 && told.load(Ordering::SeqCst) == usize::try_from(metrics.errors).unwrap());
    let history = scheduler.history("a").await.unwrap();
    let failures = history.iter().filter_map(|run| match &run.outcome {
        Outcome::Failed(error) => Some(error.as_str()),
        _ => None,
    });
    let failures: Vec<&str> = failures.collect();
    assert!(failures.contains(&"does not work") && failures.contains(&"panicked: falls over"), "{failures:?}");
    match by_hand {
        Ok(Triggered::Ran(record)) => {
            assert_eq!((record.key.as_str(), record.origin), ("manual.by hand", Origin::Manual))
        }
        Err(TriggerError::Failed(error)) => assert!(!error.is_empty()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_queue_is_bounded() {
    let (scheduler, clock) = simulated("2026-01-01T00:00:00Z");
    let (recorder, gate) = (Recorder::new(), Gate::closed());
    let schedule = scheduler.register(Spec::every("a", 10).overlap(Overlap::Queue), recorder.gated(&gate)).unwrap();
    settled(&scheduler, &clock, false).await;
    clock.advance(seconds(2));
    settled(&scheduler, &clock, false).await;
    let metrics = scheduler.metrics();
    assert_eq!((scheduler.list()[0].active, metrics.queue_dropped), (101, 200 - 101));
    assert_eq!(schedule.trigger(None).await, Ok(Triggered::QueueFull));
    gate.let_pass(101);
    settled(&scheduler, &clock, true).await;
}

#[tokio::test]
async fn triggers_are_deduplicated_and_return_the_ticks_error() {
    let (scheduler, clock) = simulated("2026-01-01T00:00:00.123Z");
    let recorder = Recorder::new();
    let schedule = scheduler.register(Spec::cron("a", "0 0 1 1 *"), recorder.handler()).unwrap();
    let Ok(Triggered::Ran(record)) = schedule.trigger(None).await else { panic!("did not run") };
    assert_eq!(record.scheduled_at, at("2026-01-01T00:00:00.123Z"));
    assert_eq!(schedule.trigger(None).await, Ok(Triggered::Duplicate), "the same millisecond");
    clock.advance(TimeDelta::milliseconds(1));
    assert!(matches!(schedule.trigger(None).await, Ok(Triggered::Ran(_))));
    assert!(matches!(schedule.trigger(Some("invoice 7")).await, Ok(Triggered::Ran(_))));
    assert_eq!(schedule.trigger(Some("invoice 7")).await, Ok(Triggered::Duplicate));
    // the key belongs to the schedule, also after a reload
    let schedule = scheduler.register(Spec::cron("a", "0 0 1 1 *"), recorder.handler()).unwrap();
    assert_eq!(schedule.trigger(Some("invoice 7")).await, Ok(Triggered::Duplicate));
    assert_eq!(recorder.count(), 3);
    let failing = |_: Tick| async { Err::<(), TickError>("no paper".into()) };
    let failing = scheduler.register(Spec::cron("b", "0 0 1 1 *"), failing).unwrap();
    assert_eq!(failing.trigger(Some("invoice 7")).await, Err(TriggerError::Failed("no paper".to_owned())));
}

#[tokio::test]
async fn stop_waits_for_running_and_queued_ticks() {
    let (scheduler, clock) = simulated("2026-01-01T00:00:00Z");
    let (recorder, gate) = (Recorder::new(), Gate::closed());
    let schedule = scheduler.register(Spec::every("a", 1_000).overlap(Overlap::Queue), recorder.gated(&gate)).unwrap();
    settled(&scheduler, &clock, false).await;
    clock.advance(seconds(2));
    recorder.wait(1).await;
    settled(&scheduler, &clock, false).await;
    let mut stopping = tokio::task::JoinSet::new();
    let stopped = schedule.clone();
    stopping.spawn(async move { stopped.stop().await });
    until("no next occurrence", async || schedule.next().is_none()).await;
    clock.advance(seconds(1));
    gate.let_pass(10);
    stopping.join_next().await.unwrap().unwrap();
    assert_eq!(recorder.times(), ["00:00:01", "00:00:02"]);
    assert_eq!(schedule.trigger(None).await, Err(TriggerError::Stopped));
    assert_eq!(scheduler.stop(Duration::from_secs(5)).await, Stopped::Finished);
}

#[tokio::test]
async fn stop_is_bounded() {
    let (scheduler, clock) = simulated("2026-01-01T00:00:00Z");
    let recorder = Recorder::new();
    scheduler.register(Spec::every("heeds", 1_000), recorder.gated(&Gate::closed())).unwrap();
    settled(&scheduler, &clock, false).await;
    clock.advance(seconds(1));
    recorder.wait(1).await;
    assert_eq!(scheduler.stop(Duration::from_millis(20)).await, Stopped::Cancelled);
    let refused = scheduler.register(Spec::every("late", 1_000), Recorder::new().handler()).map(|_| ());
    assert_eq!(refused.unwrap_err(), waymark_schedule::RegisterError::Stopped);

    let (scheduler, clock) = simulated("2026-01-01T00:00:00Z");
    let started = Recorder::new();
    let deaf = Arc::new(started.handler());
    let deaf = move |tick: Tick| {
        let deaf = deaf.clone();
        async move {
            use waymark_schedule::Handler;
            deaf.run(tick).await?;
            std::future::pending().await
        }
    };
    scheduler.register(Spec::every("deaf", 1_000), deaf).unwrap();
    settled(&scheduler, &clock, false).await;
    clock.advance(seconds(1));
    started.wait(1).await;
    assert_eq!(scheduler.stop(Duration::from_millis(20)).await, Stopped::Aborted);
    let run = scheduler.history("deaf").await.unwrap().remove(0);
    assert!(matches!(run.outcome, Outcome::Failed(error) if error.starts_with("aborted")));
}
