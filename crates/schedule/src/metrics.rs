//! Counters and the lateness histogram of one scheduler. Rendering (Prometheus or other) is the caller's.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Upper bounds of the lateness buckets in milliseconds; one more bucket holds what is later.
pub const LATENESS_BUCKETS_MS: [u64; 13] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        #[derive(Debug, Default)]
        pub(crate) struct Metrics {
            $(pub(crate) $name: AtomicU64,)+
            lateness: [AtomicU64; LATENESS_BUCKETS_MS.len() + 1],
            lateness_sum_ms: AtomicU64,
        }

        /// What a scheduler has counted since it was opened.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct MetricsSnapshot {
            $($(#[$doc])* pub $name: u64,)+
            /// How late ticks began on their own timer.
            pub lateness: Lateness,
        }

        impl Metrics {
            pub(crate) fn snapshot(&self) -> MetricsSnapshot {
                MetricsSnapshot {
                    $($name: self.$name.load(Relaxed),)+
                    lateness: Lateness {
                        counts: self.lateness.each_ref().map(|count| count.load(Relaxed)),
                        sum_ms: self.lateness_sum_ms.load(Relaxed),
                    },
                }
            }
        }
    };
}

counters! {
    /// Occurrences this replica was given to run.
    claims_won,
    /// Occurrences another replica had, or that a newer claim had passed.
    claims_lost,
    /// Occurrences whose claim could not be made: lost on this replica.
    claims_failed,
    /// Occurrences skipped because the own timer was too late (at most 100 counted per schedule and wake-up).
    skipped_late,
    /// Ticks dropped because one was running (`overlap: skip`).
    overlap_skips,
    /// Ticks dropped because the queue was full (`overlap: queue`).
    queue_dropped,
    /// Ticks that began.
    runs,
    /// Ticks that failed or panicked.
    errors,
    /// Runs taken over from a holder that stopped renewing (nats).
    taken_over,
    /// Runs whose lease was lost while they ran (nats).
    leases_lost,
    /// Runs that made up for missed occurrences (nats).
    caught_up,
}

impl Metrics {
    pub(crate) fn add(counter: &AtomicU64, by: u64) {
        counter.fetch_add(by, Relaxed);
    }

    pub(crate) fn late_by(&self, ms: i64) {
        let ms = u64::try_from(ms).unwrap_or(0);
        let bucket = LATENESS_BUCKETS_MS.iter().position(|bound| ms <= *bound).unwrap_or(LATENESS_BUCKETS_MS.len());
        if let Some(count) = self.lateness.get(bucket) {
            count.fetch_add(1, Relaxed);
        }
        self.lateness_sum_ms.fetch_add(ms, Relaxed);
    }
}

/// A histogram of lateness: start of the tick minus nominal occurrence, by the replica's own clock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Ticks per bucket of [`LATENESS_BUCKETS_MS`], not cumulative; the last one holds what is later.
    pub counts: [u64; LATENESS_BUCKETS_MS.len() + 1],
    /// Sum in milliseconds.
    pub sum_ms: u64,
}

impl Lateness {
    /// Ticks counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The upper bound in milliseconds of the bucket that holds the given share (0.5, 0.99) of all ticks; `None` without
    /// ticks or when it lies past the last bound.
    pub fn quantile_ms(&self, share: f64) -> Option<u64> {
        let total = self.total();
        if total == 0 {
            return None;
        }
        let wanted = (total as f64 * share.clamp(0.0, 1.0)).ceil().max(1.0);
        let mut seen = 0_u64;
        for (count, bound) in self.counts.iter().zip(LATENESS_BUCKETS_MS) {
            seen += count;
            if seen as f64 >= wanted {
                return Some(bound);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_name_the_bucket() {
        let metrics = Metrics::default();
        for late in [0, 1, 3, 3, 700] {
            metrics.late_by(late);
        }
        let lateness = metrics.snapshot().lateness;
        assert_eq!((lateness.total(), lateness.sum_ms), (5, 707));
        assert_eq!(lateness.quantile_ms(0.5), Some(5));
        assert_eq!(lateness.quantile_ms(0.99), Some(1_000));
        metrics.late_by(60_000);
        assert_eq!(metrics.snapshot().lateness.quantile_ms(1.0), None);
        assert_eq!(Lateness::default().quantile_ms(0.5), None);
    }
}
