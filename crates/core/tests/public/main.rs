//! The engine from outside: what its public face refuses at compile time, and what its parser bears.

#![allow(clippy::unwrap_used)]

mod authority;
mod query;
