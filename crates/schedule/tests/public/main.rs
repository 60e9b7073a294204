//! The schedules through their public door: calendars, simulated time, real stores that break, and real processes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests: what can't be set up fails the test"
)]

mod bad_input;
mod calendar;
mod claims;
mod faults;
mod leases;
mod log;
mod processes;
mod support;
mod timers;
