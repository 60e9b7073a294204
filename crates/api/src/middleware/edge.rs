//! The outermost layer: request span and log line, headers common to all answers, weak ETags and
//! 304 for conditional reads.

use std::{
    hash::{DefaultHasher, Hasher},
    time::Instant,
};

use actix_web::{
    Error, HttpResponse,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        ConnectionType, Method, StatusCode,
        header::{self, HeaderMap, HeaderName, HeaderValue},
    },
    middleware::Next,
    web::Data,
};
use tracing::Instrument;
use uuid::Uuid;

use crate::state::State;

/// Wraps every request.
///
/// # Errors
/// As the inner services.
pub async fn edge(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let started = Instant::now();
    let id = Uuid::new_v4();
    // the path alone: a query may hold a token
    let span = tracing::info_span!("request", %id, method = %request.method(), path = %request.path());
    let state = request.app_data::<Data<State>>().cloned();
    // A write comes to its end, so that what is committed is told of.
    let shield = state.clone().filter(|_| writes(request.method())).map(Data::into_inner);
    let answered = async move {
        let in_flight = state.as_ref().map(|state| state.drain.enter());
        let response = next.call(request).await?;
        let mut response = conditional(response.map_into_boxed_body());
        if let Some(state) = &state {
            headers(response.headers_mut(), state);
            if state.drain.is_ending() {
                response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
            }
        }
        drop(in_flight);
        let ms = started.elapsed().as_secs_f64() * 1e3;
        tracing::info!(status = response.status().as_u16(), ms = (ms * 100.0).round() / 100.0, "answered");
        Ok(response)
    }
    .instrument(span);
    match shield {
        Some(state) => state.shielded(answered).await,
        None => answered.await,
    }
}

fn writes(method: &Method) -> bool {
    matches!(*method, Method::POST | Method::PATCH | Method::PUT | Method::DELETE)
}

fn headers(headers: &mut HeaderMap, state: &State) {
    const POWERED_BY: HeaderName = HeaderName::from_static("x-powered-by");
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    headers.insert(header::VARY, HeaderValue::from_static("Origin, Cache-Control"));
    headers.insert(POWERED_BY, HeaderValue::from_static("Waymark"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        headers.insert(header::CONTENT_SECURITY_POLICY, state.content_security_policy.clone());
    }
    if let Some(value) = &state.strict_transport_security {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, value.clone());
    }
}

/// Gives reads an ETag, and 304 to those who have the answer already.
fn conditional(response: ServiceResponse<BoxBody>) -> ServiceResponse<BoxBody> {
    let method = response.request().method();
    let readable = *method == Method::GET || *method == Method::HEAD;
    let storable = response.headers().get(header::CACHE_CONTROL).is_none_or(|value| value.as_bytes() != b"no-store");
    if !readable || !storable || response.status() != StatusCode::OK || response.headers().contains_key(header::ETAG) {
        return response;
    }
    let (request, response) = response.into_parts();
    let (response, body) = response.into_parts();
    let body = match body.try_into_bytes() {
        Ok(bytes) => bytes,
        Err(body) => return ServiceResponse::new(request, response.set_body(body)),
    };
    let mut hasher = DefaultHasher::new();
    hasher.write(&body);
    let tag = format!("W/\"{:x}-{:016x}\"", body.len(), hasher.finish());
    let known = request
        .headers()
        .get_all(header::IF_NONE_MATCH)
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|value| value.trim() == "*" || strong(value.trim()) == strong(&tag));
    let value = HeaderValue::from_str(&tag).unwrap_or_else(|_| HeaderValue::from_static("W/\"\""));
    if known {
        let not_modified = HttpResponse::NotModified().insert_header((header::ETAG, value)).finish();
        return ServiceResponse::new(request, not_modified);
    }
    let mut response = response.set_body(BoxBody::new(body));
    response.headers_mut().insert(header::ETAG, value);
    ServiceResponse::new(request, response)
}

fn strong(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}
