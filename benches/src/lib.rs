//! What the benchmarks share: the collection they read, its rows, and a bootstrapped engine on it.

pub mod articles;
pub mod scene;
