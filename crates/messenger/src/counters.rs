//! Counters of one messenger. They only grow.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$documentation:meta])* $name:ident,)*) => {
        /// What a messenger has counted since it was opened, the announcements of replicas included.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts {
            $($(#[$documentation])* pub $name: u64,)*
        }

        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
        }

        impl Counters {
            pub(crate) fn read(&self) -> Counts {
                Counts { $($name: self.$name.0.load(Ordering::Relaxed),)* }
            }
        }
    };
}

counters! {
    /// Messages handed to the store.
    published,
    /// Messages not published because the store was unavailable, or became so meanwhile.
    dropped_unavailable,
    /// Messages not published because too many waited already.
    dropped_full,
    /// Messages not published because they, or their channel's name, are not acceptable.
    dropped_refused,
    /// Messages heard, once for each subscription.
    received,
    /// Messages that slow readers of subscriptions have missed.
    lagged,
    /// Connections to the store after the first.
    reconnects,
    /// How often the store became unavailable.
    episodes,
    /// Announcements of replicas that could not be read.
    malformed_announcements,
    /// Announcements of replicas beyond the bound of the list.
    replicas_beyond_limit,
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn increase(&self) {
        self.add(1);
    }
}
