//! What the messenger promises, seen from outside, on real servers that are killed, restarted,
//! stalled and cut off.

mod delivery;
mod outages;
mod permissions;
mod settings;
mod slow_readers;
mod stage;
mod stopping;
mod topology;
