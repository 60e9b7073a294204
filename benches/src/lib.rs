//! What the benchmarks share: the collections they read and write, their rows, and a bootstrapped engine
//! on them.

pub mod articles;
pub mod posts;
pub mod purchases;
pub mod relations;
pub mod scene;
