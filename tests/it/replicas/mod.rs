//! Several servers that behave as one: what one changes the others know, schedules fire once, and a store that
//! is away is told and survived.

mod absence;
mod coherence;
mod errors;
mod measure;
mod schedules;
mod topology;
