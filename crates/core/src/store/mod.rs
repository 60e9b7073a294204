//! Talking to the database: connections, executing statements, decoding rows to JSON.

pub(crate) mod decode;
pub mod pool;
pub mod render;
pub(crate) mod run;
pub(crate) mod session;
pub(crate) mod shape;

pub use pool::{Db, Dialect, Executor, Transaction};
