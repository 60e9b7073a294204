//! CORS answers, from the settings.

use crate::settings::{
    cors::{Cors, CorsOrigin},
    source::Entry,
};

/// The middleware. Used only when CORS is enabled.
pub fn build(settings: &Cors) -> actix_cors::Cors {
    let methods = settings.methods.iter().map(String::as_str);
    let headers = settings.allowed_headers.iter().map(String::as_str);
    let exposed = settings.exposed_headers.iter().map(String::as_str);
    let mut cors = actix_cors::Cors::default()
        .allowed_methods(methods.filter(|method| !method.is_empty()))
        .allowed_headers(headers)
        .expose_headers(exposed)
        .max_age(settings.max_age)
        .disable_vary_header()
        .block_on_origin_mismatch(false);
    if settings.credentials {
        cors = cors.supports_credentials();
    }
    match &settings.origin {
        CorsOrigin::Nobody => cors,
        CorsOrigin::Anybody => cors.allow_any_origin(),
        CorsOrigin::Some(entries) => {
            let entries = entries.clone();
            cors.allowed_origin_fn(move |origin, _| {
                let origin = origin.to_str().unwrap_or_default();
                entries.iter().any(|entry| match entry {
                    Entry::Text(text) => text == origin,
                    Entry::Pattern(pattern) => pattern.is_match(origin),
                })
            })
        }
    }
}
