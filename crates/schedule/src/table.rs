//! The timers of all schedules as a plain state machine: what is due when, and what never fires twice. No task, no clock.
//!
//! Instants are milliseconds since the epoch by the replica's clock. An entry's `next` only moves forward, except when the
//! clock went back: then it is counted again from the clock, but never before what has fired under this name.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use crate::spec::Occurrences;

/// Missed occurrences counted per schedule and wake-up.
const MOST_COUNTED: u64 = 100;
/// Removed names remembered before the ones that fired over a day ago are forgotten.
const MOST_REMEMBERED: usize = 10_000;
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// An occurrence to run now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) name: Arc<str>,
    pub(crate) occurrence: i64,
}

/// Occurrences that were too late.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missed {
    pub(crate) name: Arc<str>,
    /// At least so many.
    pub(crate) count: u64,
    /// They lie in `(after, until]`.
    pub(crate) until: i64,
}

#[derive(Debug)]
struct Entry {
    generation: u64,
    occurrences: Occurrences,
    next: Option<i64>,
}

#[derive(Debug)]
pub(crate) struct Table {
    late_limit: i64,
    entries: HashMap<Arc<str>, Entry>,
    /// Wake-ups; an entry whose generation or instant is no longer current is passed over.
    heap: BinaryHeap<Reverse<(i64, u64, Arc<str>)>>,
    /// The newest occurrence fired per name; it outlives the entry.
    fired: HashMap<Arc<str>, i64>,
    last_now: i64,
    generations: u64,
}

impl Table {
    pub(crate) fn new(late_limit: i64) -> Self {
        Self {
            late_limit,
            entries: HashMap::new(),
            heap: BinaryHeap::new(),
            fired: HashMap::new(),
            last_now: i64::MIN,
            generations: 0,
        }
    }

    /// Adds or replaces a schedule and returns its generation. What was due of a replaced one must have been taken by
    /// [`Table::due`] at the same `now` before.
    pub(crate) fn insert(&mut self, name: Arc<str>, occurrences: Occurrences, now: i64) -> u64 {
        self.forget_old(now);
        self.generations += 1;
        let generation = self.generations;
        let base = self.base(&name, now);
        let next = occurrences.next_after(base);
        self.entries.insert(name.clone(), Entry { generation, occurrences, next });
        self.wake_at(next, generation, name);
        generation
    }

    /// Removes a schedule unless it was replaced since.
    pub(crate) fn remove(&mut self, name: &str, generation: u64) -> bool {
        let current = self.entries.get(name).is_some_and(|entry| entry.generation == generation);
        if current {
            self.entries.remove(name);
        }
        current
    }

    /// The next occurrence of a schedule.
    pub(crate) fn next_of(&self, name: &str) -> Option<i64> {
        self.entries.get(name).and_then(|entry| entry.next)
    }

    /// When the earliest schedule is due.
    pub(crate) fn wake(&mut self) -> Option<i64> {
        while let Some(Reverse((at, generation, name))) = self.heap.peek() {
            let current =
                self.entries.get(name).is_some_and(|entry| entry.generation == *generation && entry.next == Some(*at));
            if current {
                return Some(*at);
            }
            self.heap.pop();
        }
        None
    }

    /// Takes what is due at `now`, each occurrence once and in order per schedule.
    pub(crate) fn due(&mut self, now: i64) -> (Vec<Due>, Vec<Missed>) {
        if now < self.last_now {
            self.count_again(now);
        }
        self.last_now = now;
        let (mut due, mut missed) = (Vec::new(), Vec::new());
        while let Some(at) = self.wake().filter(|at| *at <= now) {
            let Some(Reverse((_, generation, name))) = self.heap.pop() else { break };
            let oldest = now - self.late_limit;
            let Some(entry) = self.entries.get_mut(&name) else { continue };
            let next = if at < oldest {
                // too late: go on with the first that is not, however many lie between
                let until = oldest - 1;
                let count = entry.occurrences.count(at, until, MOST_COUNTED - 1) + 1;
                missed.push(Missed { name: name.clone(), count, until });
                entry.occurrences.next_after(until)
            } else {
                self.fired.insert(name.clone(), at);
                due.push(Due { name: name.clone(), occurrence: at });
                entry.occurrences.next_after(at)
            };
            entry.next = next;
            self.wake_at(next, generation, name);
        }
        (due, missed)
    }

    /// The clock went back: what was skipped or not reached may come again, what fired may not.
    fn count_again(&mut self, now: i64) {
        let names: Vec<Arc<str>> = self.entries.keys().cloned().collect();
        for name in names {
            let base = self.base(&name, now);
            let Some(entry) = self.entries.get_mut(&name) else { continue };
            entry.next = entry.occurrences.next_after(base);
            let (next, generation) = (entry.next, entry.generation);
            self.wake_at(next, generation, name);
        }
    }

    fn base(&self, name: &str, now: i64) -> i64 {
        self.fired.get(name).copied().unwrap_or(i64::MIN).max(now)
    }

    fn wake_at(&mut self, at: Option<i64>, generation: u64, name: Arc<str>) {
        if let Some(at) = at {
            self.heap.push(Reverse((at, generation, name)));
        }
    }

    fn forget_old(&mut self, now: i64) {
        if self.fired.len() > MOST_REMEMBERED + self.entries.len() {
            self.fired.retain(|name, fired| self.entries.contains_key(name) || *fired > now - DAY_MS);
        }
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
