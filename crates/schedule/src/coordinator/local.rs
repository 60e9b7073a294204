//! One process: every occurrence is its own. Claims are still monotonic per name, and manual keys a set, so that nothing
//! runs twice while the process lives.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::sync::watch;

use super::{Answer, Claim, Coordinator, Hold, Status, Unavailable};
use crate::history::Outcome;

/// Manual keys remembered; the oldest are forgotten.
const MOST_KEYS: usize = 10_000;

#[derive(Debug)]
pub(crate) struct Local {
    status: watch::Sender<Status>,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    newest: HashMap<Arc<str>, i64>,
    keys: std::collections::HashSet<(Arc<str>, String)>,
    order: VecDeque<(Arc<str>, String)>,
}

impl Local {
    pub(crate) fn new() -> Self {
        Self { status: watch::Sender::new(Status::Available), memory: Mutex::default() }
    }
}

impl Memory {
    fn claim(&mut self, claim: Claim) -> bool {
        if let Some(key) = claim.manual {
            let key = (claim.name, key);
            if !self.keys.insert(key.clone()) {
                return false;
            }
            self.order.push_back(key);
            while self.order.len() > MOST_KEYS {
                if let Some(oldest) = self.order.pop_front() {
                    self.keys.remove(&oldest);
                }
            }
            return true;
        }
        let newest = self.newest.entry(claim.name).or_insert(i64::MIN);
        let newer = claim.occurrence > *newest;
        *newest = claim.occurrence.max(*newest);
        newer
    }
}

#[async_trait]
impl Coordinator for Local {
    async fn claim(&self, claim: Claim) -> Result<Answer, Unavailable> {
        let won = self.memory.lock().unwrap_or_else(PoisonError::into_inner).claim(claim);
        Ok(if won { Answer::Won(Box::new(Once)) } else { Answer::Lost })
    }

    fn status(&self) -> watch::Receiver<Status> {
        self.status.subscribe()
    }

    async fn trim_retired(&self, registered: &[Arc<str>]) -> Result<u64, Unavailable> {
        let cutoff = Utc::now().timestamp_millis() - 30 * 24 * 60 * 60 * 1_000;
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let before = memory.newest.len();
        memory.newest.retain(|name, newest| *newest > cutoff || registered.contains(name));
        Ok(u64::try_from(before - memory.newest.len()).unwrap_or(0))
    }
}

/// A right that ends with the run and leaves no trace.
#[derive(Debug)]
pub(crate) struct Once;

#[async_trait]
impl Hold for Once {
    async fn finish(self: Box<Self>, _outcome: &Outcome, _at: DateTime<Utc>) -> Result<(), Unavailable> {
        Ok(())
    }
}
