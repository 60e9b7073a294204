//! The schedules through their public door: calendars, simulated time, real stores that break, and real processes.

mod bad_input;
mod calendar;
mod leases;
mod log;
mod processes;
mod redis_faults;
mod support;
mod timers;
