//! Counters of failed logins. In memory here; a store shared by replicas implements the same trait.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;
use moka::sync::Cache;

use crate::error::Result;

/// Users counted at a time; beyond that the least used are forgotten.
const MOST_COUNTERS: u64 = 100_000;

/// Counts attempts by name, without a time window.
#[async_trait]
pub trait AttemptStore: Send + Sync {
    /// Counts one more; gives the number with this one.
    async fn count(&self, name: &str) -> Result<u64>;

    /// Begins at zero again.
    async fn reset(&self, name: &str) -> Result<()>;
}

/// The attempts this server has seen.
pub struct LocalAttempts(Cache<String, Arc<AtomicU64>>);

impl Default for LocalAttempts {
    fn default() -> Self {
        Self(Cache::new(MOST_COUNTERS))
    }
}

#[async_trait]
impl AttemptStore for LocalAttempts {
    async fn count(&self, name: &str) -> Result<u64> {
        let counter = self.0.get_with_by_ref(name, Arc::default);
        Ok(counter.fetch_add(1, Ordering::Relaxed).saturating_add(1))
    }

    async fn reset(&self, name: &str) -> Result<()> {
        self.0.invalidate(name);
        Ok(())
    }
}
