//! Tests through the public door, one folder per feature.

mod architecture;
mod docs;
mod server;
