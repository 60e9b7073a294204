//! The Waymark server: settings, wiring, routes and lifecycle around the engine.

pub mod extract;
pub mod middleware;
pub mod respond;
pub mod routes;
pub mod settings;
pub mod state;
