//! Who of the ticks of one schedule may run: `allow` all, `skip` the one that meets another, `queue` one after another in
//! order of their coming. Ticks of timer, trigger, catch-up and takeover pass the same chain; a tick leaves it however
//! it ends, because leaving is `Drop`.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::spec::Overlap;

/// Why a tick did not get in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// `skip`, and one is in.
    Busy,
    /// `queue`, and the queue is full.
    Full,
}

/// The chain of one schedule; it outlives re-registration.
#[derive(Debug)]
pub(crate) struct Chain {
    inside: Mutex<Inside>,
    first: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Inside {
    next: u64,
    tickets: BTreeSet<u64>,
}

impl Default for Chain {
    fn default() -> Self {
        Self { inside: Mutex::default(), first: watch::Sender::new(0) }
    }
}

impl Chain {
    /// Takes a place. With `queue` at most `waiting` ticks stand behind the first.
    pub(crate) fn enter(self: &Arc<Self>, overlap: Overlap, waiting: usize) -> Result<Ticket, Refused> {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        match overlap {
            Overlap::Skip if !inside.tickets.is_empty() => return Err(Refused::Busy),
            Overlap::Queue if inside.tickets.len() > waiting => return Err(Refused::Full),
            _ => {}
        }
        let number = inside.next;
        inside.next += 1;
        inside.tickets.insert(number);
        if inside.tickets.len() == 1 {
            self.first.send_replace(number);
        }
        Ok(Ticket { chain: self.clone(), number, waits: overlap == Overlap::Queue })
    }

    /// How many ticks are in, running or waiting.
    pub(crate) fn inside(&self) -> usize {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner).tickets.len()
    }
}

/// A place in the chain; dropping it leaves.
#[derive(Debug)]
pub(crate) struct Ticket {
    chain: Arc<Chain>,
    number: u64,
    waits: bool,
}

impl Ticket {
    /// Waits until all who came before have left (`queue`), or returns at once.
    pub(crate) async fn turn(&self) {
        if self.waits {
            let mut first = self.chain.first.subscribe();
            // the chain holds the sender, so this ends only with our turn
            let _ = first.wait_for(|first| *first >= self.number).await;
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut inside = self.chain.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.tickets.remove(&self.number);
        let first = inside.tickets.first().copied().unwrap_or(inside.next);
        self.chain.first.send_replace(first);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use proptest::prelude::*;

    use super::*;

    fn may_run(ticket: &Ticket) -> bool {
        ticket.turn().now_or_never().is_some()
    }

    #[test]
    fn skip_lets_one_in() {
        let chain = Arc::new(Chain::default());
        let first = chain.enter(Overlap::Skip, 0).unwrap();
        assert_eq!(chain.enter(Overlap::Skip, 0).unwrap_err(), Refused::Busy);
        drop(first);
        assert!(chain.enter(Overlap::Skip, 0).is_ok());
    }

    #[test]
    fn one_who_leaves_early_does_not_open_the_door() {
        let chain = Arc::new(Chain::default());
        let running = chain.enter(Overlap::Queue, 10).unwrap();
        let loser = chain.enter(Overlap::Queue, 10).unwrap();
        let waiting = chain.enter(Overlap::Queue, 10).unwrap();
        assert!(may_run(&running) && !may_run(&loser) && !may_run(&waiting));
        drop(loser);
        assert!(!may_run(&waiting));
        drop(running);
        assert!(may_run(&waiting));
    }

    proptest! {
        /// Whatever comes and leaves in whatever order: exactly the eldest ticket has its turn, and the bound holds.
        #[test]
        fn queue_runs_one_at_a_time_in_order(steps in prop::collection::vec(0_usize..6, 1..80), bound in 0_usize..4) {
            let chain = Arc::new(Chain::default());
            let mut tickets: Vec<Ticket> = Vec::new();
            for step in steps {
                if step < 3 {
                    match chain.enter(Overlap::Queue, bound) {
                        Ok(ticket) => tickets.push(ticket),
                        Err(refused) => {
                            prop_assert_eq!(refused, Refused::Full);
                            prop_assert_eq!(tickets.len(), bound + 1);
                        }
                    }
                } else if !tickets.is_empty() {
                    tickets.remove((step * 7) % tickets.len());
                }
                prop_assert_eq!(chain.inside(), tickets.len());
                prop_assert!(tickets.len() <= bound + 1);
                for (position, ticket) in tickets.iter().enumerate() {
                    prop_assert_eq!(may_run(ticket), position == 0);
                }
            }
        }
    }
}
