//! What the messenger promises, seen from outside, on real servers that are killed, restarted,
//! stalled and cut off.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what must be there is there, or the test fails"
)]

mod delivery;
mod outages;
mod permissions;
mod settings;
mod slow_readers;
mod stage;
mod stopping;
mod topology;
