//! Tests through the public door, one folder per feature.

mod architecture;
mod auth;
mod bad_input;
mod docs;
mod items;
mod permissions;
mod process;
mod query;
mod server;
mod statements;
mod tables;
mod users;
mod writes;
