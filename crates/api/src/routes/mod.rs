//! Which route is served by whom. One file per resource; [`family`] serves the collections that
//! have nothing of their own.

pub mod auth;
pub mod collections;
pub mod family;
pub mod fields;
pub mod items;
pub mod list;
pub mod relations;
pub mod root;
pub mod server;
pub mod users;

use actix_web::{
    Resource, guard,
    http::Method,
    web::{self, ServiceConfig},
};

use crate::extract::not_found;

/// Registers all routes. Special paths stand before the patterns that would take them.
pub fn configure(config: &mut ServiceConfig) {
    root::configure(config);
    server::configure(config);
    items::configure(config);
    auth::configure(config);
    users::configure(config);
    collections::configure(config);
    fields::configure(config);
    relations::configure(config);
    family::configure(config);
    config.default_service(web::to(not_found));
}

/// A resource that answers 404 to methods it has no route for.
#[must_use]
pub fn resource(path: &str) -> Resource {
    web::resource(path).default_service(web::to(not_found))
}

/// A route for GET and HEAD.
#[must_use]
pub fn get() -> actix_web::Route {
    web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
}

/// A route for SEARCH: a GET whose query stands in the body.
#[must_use]
pub fn search() -> actix_web::Route {
    web::route().guard(guard::fn_guard(|context| is_search(&context.head().method)))
}

fn is_search(method: &Method) -> bool {
    method.as_str() == "SEARCH"
}
