//! The caller: token from header or query, looked up by the engine.

use std::{borrow::Cow, sync::Arc};

use actix_web::{HttpRequest, http::header};
use percent_encoding::percent_decode_str;
use waymark_core::{
    Code, Error, Result,
    actor::{Actor, Origin},
    auth::identity,
};

use super::address;
use crate::state::State;

/// Who asks. No token: the public.
///
/// # Errors
/// The codes of bad tokens, on public routes too: `TOKEN_EXPIRED`, `INVALID_TOKEN`,
/// `INVALID_CREDENTIALS`, `INVALID_IP`.
pub async fn of(request: &HttpRequest, state: &State) -> Result<Arc<Actor>> {
    let origin = origin(request, state);
    match token(request)? {
        None => Ok(Arc::new(Actor::public(origin))),
        Some(token) => Ok(Arc::new(identity::actor_for_token(&state.engine, &token, origin).await?)),
    }
}

/// Where the request came from, for activity rows.
#[must_use]
pub fn origin(request: &HttpRequest, state: &State) -> Origin {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Origin {
        ip: address::of(request, &state.settings.security),
        user_agent: text(header::USER_AGENT),
        origin: text(header::ORIGIN),
    }
}

/// The token of the request. The header wins over the query; a header of any other form than
/// `Bearer <token>` is ignored.
///
/// # Errors
/// `INVALID_CREDENTIALS` when the query holds anything but one text.
pub fn token(request: &HttpRequest) -> Result<Option<Cow<'_, str>>> {
    let header = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = match header.and_then(bearer) {
        Some(token) => Some(Cow::Borrowed(token)),
        None => in_query(request.query_string())?,
    };
    Ok(token.filter(|token| !token.is_empty()))
}

fn bearer(header: &str) -> Option<&str> {
    let mut parts = header.split(' ');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(scheme), Some(token), None) if scheme.eq_ignore_ascii_case("bearer") => Some(token),
        _ => None,
    }
}

fn in_query(query: &str) -> Result<Option<Cow<'_, str>>> {
    let mut found = None;
    for rest in query.split('&').filter_map(|part| part.strip_prefix("access_token")) {
        match rest.strip_prefix('=') {
            Some(value) if found.is_none() => found = Some(value),
            // given twice, or `access_token[…]`: a list or an object is no token
            Some(_) => return Err(Error::new(Code::InvalidCredentials)),
            None if rest.starts_with('[') || rest.starts_with("%5B") || rest.starts_with("%5b") => {
                return Err(Error::new(Code::InvalidCredentials));
            }
            None => {}
        }
    }
    let Some(value) = found else { return Ok(None) };
    if !value.contains(['%', '+']) {
        return Ok(Some(Cow::Borrowed(value)));
    }
    Ok(Some(Cow::Owned(percent_decode_str(&value.replace('+', " ")).decode_utf8_lossy().into_owned())))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn token_of(uri: &str, header: Option<&str>) -> Option<String> {
        let mut request = TestRequest::with_uri(uri);
        if let Some(header) = header {
            request = request.insert_header(("authorization", header));
        }
        token(&request.to_http_request()).expect("one token").map(Cow::into_owned)
    }

    #[test]
    fn header_wins_and_malformed_headers_are_ignored() {
        assert_eq!(token_of("/x", None), None);
        assert_eq!(token_of("/x?access_token=", None), None);
        assert_eq!(token_of("/x?a=1&access_token=q%2Bq", None).as_deref(), Some("q+q"));
        assert_eq!(token_of("/x?access_token=q", Some("Bearer h")).as_deref(), Some("h"));
        assert_eq!(token_of("/x?access_token=q", Some("bEARER h")).as_deref(), Some("h"));
        assert_eq!(token_of("/x?access_token=q", Some("Basic h")).as_deref(), Some("q"));
        assert_eq!(token_of("/x?access_token=q", Some("Bearer  h")).as_deref(), Some("q"));
        assert_eq!(token_of("/x", Some("Bearer a b")), None);
        assert_eq!(token_of("/x", Some("Bearer")), None);
    }

    #[test]
    fn lists_are_no_tokens() {
        for query in ["access_token[]=a", "access_token%5B%5D=a", "access_token=a&access_token=b"] {
            let request = TestRequest::with_uri(&format!("/x?{query}")).to_http_request();
            assert!(token(&request).is_err(), "{query}");
        }
        assert_eq!(token_of("/x?access_token[]=q", Some("Bearer h")).as_deref(), Some("h"));
        assert_eq!(token_of("/x?access_tokens=q", None), None);
    }
}
