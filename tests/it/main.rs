//! Tests through the public door, one folder per feature.

mod architecture;
mod auth;
mod bad_input;
mod docs;
mod export;
mod faults;
mod flows;
mod hooks;
mod items;
mod oracle;
mod permissions;
mod process;
mod query;
mod replicas;
mod server;
mod shares;
mod statements;
mod tables;
mod users;
mod writes;
