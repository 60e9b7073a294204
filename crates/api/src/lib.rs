//! The Waymark server: settings, wiring, routes and lifecycle around the engine.

pub mod cli;
pub mod cron;
pub mod extract;
pub mod lifecycle;
pub mod middleware;
pub mod replicas;
pub mod respond;
pub mod routes;
pub mod server;
pub mod settings;
pub mod state;
pub mod telemetry;
pub mod wiring;

pub use server::{RunError, run, run_with};
pub use settings::Settings;
