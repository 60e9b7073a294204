//! Tests through the public door, one folder per feature.

mod architecture;
mod auth;
mod docs;
mod process;
mod server;
