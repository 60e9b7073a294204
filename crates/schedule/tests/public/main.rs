//! The schedules through their public door: calendars, simulated time, real stores that break, and real processes.

mod bad_input;
mod calendar;
mod claims;
mod faults;
mod leases;
mod log;
mod processes;
mod support;
mod timers;
