//! What tests break: a TCP proxy that cuts, stalls and delays, servers of Redis and NATS that can
//! be killed, restarted and frozen, and child processes whose lines a test can await. It knows no
//! client of any of them. Everything that is started ends when its value is dropped.
//!
//! A server program that isn't installed fails the test with a message; nothing is skipped.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a part of tests: what can't be set up fails the test, with a message"
)]

pub mod binary;
mod child;
pub mod nats;
pub mod proxy;
pub mod redis;

pub use binary::Binary;
pub use nats::NatsServer;
pub use proxy::Proxy;
pub use redis::RedisServer;
