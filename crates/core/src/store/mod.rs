//! Talking to the database: connections, executing statements, decoding rows to JSON.

pub mod pool;

pub use pool::{Db, Dialect, Executor, Transaction};
