//! The engine from outside: what its public face bears.

#![allow(clippy::unwrap_used)]

mod authority;
mod query;
