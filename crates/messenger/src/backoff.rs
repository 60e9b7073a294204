//! How long to wait before the next attempt to connect. A pure state machine: no clock.

use std::time::Duration;

use rand::RngExt;

/// The n-th wait in a row is a random part, half to whole, of n steps, at most a maximum.
#[derive(Debug)]
pub(crate) struct Backoff {
    step: Duration,
    max: Duration,
    attempts: u32,
}

impl Backoff {
    pub(crate) fn new(step: Duration, max: Duration) -> Self {
        Self { step, max, attempts: 0 }
    }

    /// After a connection that was confirmed.
    pub(crate) fn reset(&mut self) {
        self.attempts = 0;
    }

    pub(crate) fn next(&mut self) -> Duration {
        self.attempts = self.attempts.saturating_add(1);
        let longest = self.step.saturating_mul(self.attempts).min(self.max);
        // Replicas that lost the store at one moment don't come back at one moment.
        longest.mul_f64(rand::rng().random_range(0.5..=1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_by_steps_up_to_the_maximum_and_start_again_after_a_success() {
        let (step, max) = (Duration::from_millis(50), Duration::from_secs(2));
        let mut backoff = Backoff::new(step, max);
        for _ in 0..2 {
            for attempt in 1..200 {
                let wait = backoff.next();
                let longest = (step * attempt).min(max);
                assert!(wait >= longest / 2 && wait <= longest, "attempt {attempt} waits {wait:?}");
            }
            backoff.reset();
        }
    }

    #[test]
    fn waits_are_spread() {
        let mut waits: Vec<_> =
            (0..50).map(|_| Backoff::new(Duration::from_secs(1), Duration::from_secs(1)).next()).collect();
        waits.sort();
        waits.dedup();
        assert!(waits.len() > 25);
    }

    #[test]
    fn an_endless_outage_overflows_nothing() {
        let mut backoff =
            Backoff { step: Duration::from_secs(80_000), max: Duration::from_secs(2), attempts: u32::MAX - 1 };
        assert!(backoff.next() <= Duration::from_secs(2));
        assert!(backoff.next() <= Duration::from_secs(2));
    }
}
