//! The request body: JSON only, bounded, absent or an object or an array.

use actix_web::{
    HttpRequest,
    dev::Payload,
    http::header::{self, HeaderMap},
    web::BytesMut,
};
use futures_util::StreamExt;
use serde_json::Value;
use waymark_core::{Code, Error, Result};

/// How long a whole body may take to arrive; a stalled sender must not hold a connection for ever.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// Reads the body. Absent or empty: `None`, whatever its type.
///
/// # Errors
/// `CONTENT_TOO_LARGE` beyond `limit` bytes, `UNSUPPORTED_MEDIA_TYPE` when it is not declared to be
/// JSON, `INVALID_PAYLOAD` when it isn't JSON (or UTF-8), is nested too deeply, or is a bare scalar.
pub async fn read(request: &HttpRequest, mut payload: Payload, limit: usize) -> Result<Option<Value>> {
    if matches!(payload, Payload::None) {
        return Ok(None);
    }
    let declared = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if declared.is_some_and(|length: u64| length > limit as u64) {
        return Err(too_large(limit));
    }
    let mut bytes = BytesMut::new();
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let next = tokio::time::timeout_at(deadline, payload.next()).await;
        let Some(chunk) = next.map_err(|_| Error::invalid_payload("The request body did not arrive in time."))? else {
            break;
        };
        let chunk = chunk.map_err(|error| {
            Error::invalid_payload("The request body could not be read.").because(error.to_string())
        })?;
        if bytes.len() + chunk.len() > limit {
            return Err(too_large(limit));
        }
        bytes.extend_from_slice(&chunk);
    }
    if bytes.is_empty() {
        return Ok(None);
    }
    if !is_json(request.headers()) {
        return Err(Error::new(Code::UnsupportedMediaType));
    }
    match serde_json::from_slice(&bytes) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => Ok(Some(value)),
        Ok(_) => Err(Error::invalid_payload("The request body has to be a JSON object or array.")),
        Err(error) => Err(Error::invalid_payload(format!(
            "The request body is not valid JSON (line {}, column {}).",
            error.line(),
            error.column()
        ))),
    }
}

fn too_large(limit: usize) -> Error {
    Error::with_message(Code::ContentTooLarge, format!("The request body is larger than {limit} bytes."))
}

fn is_json(headers: &HeaderMap) -> bool {
    let plain = headers
        .get(header::CONTENT_ENCODING)
        .is_none_or(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"identity"));
    let Some(kind) = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    plain && (essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json")))
}
