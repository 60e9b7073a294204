//! `/auth`: logging in, refreshing, logging out. Only shapes and cookies here; the rules are the
//! engine's. Answers are never cached.

use actix_web::{
    HttpRequest, HttpResponse,
    cookie::{Cookie, SameSite, time::Duration as CookieAge},
    http::{
        StatusCode,
        header::{self, HeaderName, HeaderValue},
    },
    middleware::DefaultHeaders,
    web::{self, ServiceConfig},
};
use serde_json::{Map, Value, json};
use waymark_core::{
    Code, Error, Result,
    auth::login::{self, LoginRequest, Tokens},
};

use super::{get, resource};
use crate::{
    extract::{Call, not_found},
    respond::{self, Answer, envelope},
    settings::security,
};

/// Cookies of servers this one may have taken the place of: read when the configured one is
/// absent, so that sessions go on; never set.
const FORMER_COOKIES: [&str; 2] = ["directus_refresh_token", "cairncms_refresh_token"];

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

pub fn configure(config: &mut ServiceConfig) {
    config.service(
        web::scope("/auth")
            .wrap(
                DefaultHeaders::new()
                    .add((OPENER_POLICY, HeaderValue::from_static("same-origin")))
                    .add((header::CACHE_CONTROL, HeaderValue::from_static("no-store"))),
            )
            .service(resource("").route(get().to(providers)))
            .service(resource("/login").route(web::post().to(log_in)))
            .service(resource("/refresh").route(web::post().to(refresh)))
            .service(resource("/logout").route(web::post().to(log_out)))
            .default_service(web::to(not_found)),
    );
}

/// Where the refresh token travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Json,
    Cookie,
}

impl Mode {
    fn of(body: &Map<String, Value>) -> Result<Option<Self>> {
        match body.get("mode") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(mode)) if mode == "json" => Ok(Some(Self::Json)),
            Some(Value::String(mode)) if mode == "cookie" => Ok(Some(Self::Cookie)),
            Some(_) => Err(Error::invalid_payload("\"mode\" has to be \"json\" or \"cookie\".")),
        }
    }
}

async fn providers(call: Call) -> Answer {
    let body = json!({ "data": [], "disableDefault": call.state.engine.settings.auth.disable_default });
    Ok(envelope::json(StatusCode::OK, serde_json::to_vec(&body).map_err(Error::internal)?))
}

async fn log_in(mut call: Call) -> Answer {
    if call.state.engine.settings.auth.disable_default {
        return Err(Error::new(Code::RouteNotFound).into());
    }
    let body = call.object()?;
    let mode = Mode::of(&body)?.unwrap_or(Mode::Json);
    let request = LoginRequest::parse(&body)?;
    let tokens = login::login(&call.state.engine, &request, &call.actor.origin).await?;
    answer(&call, &tokens, mode)
}

async fn refresh(mut call: Call, request: HttpRequest) -> Answer {
    let body = call.object()?;
    let mode = Mode::of(&body)?;
    let sent = Sent::of(&call, &request, &body);
    let token = sent.token()?;
    let mode = mode.unwrap_or(if sent.body.is_some() { Mode::Json } else { Mode::Cookie });
    let tokens = login::refresh(&call.state.engine, token).await?;
    answer(&call, &tokens, mode)
}

async fn log_out(mut call: Call, request: HttpRequest) -> Answer {
    let body = call.object()?;
    let sent = Sent::of(&call, &request, &body);
    login::logout(&call.state.engine, sent.token()?).await?;
    let mut response = respond::empty();
    if let Some((name, _)) = &sent.cookie {
        let mut cookie = cookie(&call.state.settings.security, name, "");
        cookie.set_max_age(CookieAge::ZERO);
        response.add_cookie(&cookie).map_err(Error::internal)?;
    }
    Ok(response)
}

/// The refresh tokens of a request.
struct Sent {
    body: Option<String>,
    /// Name and value.
    cookie: Option<(String, String)>,
}

impl Sent {
    fn of(call: &Call, request: &HttpRequest, body: &Map<String, Value>) -> Self {
        let body = match body.get("refresh_token") {
            None | Some(Value::Null) => None,
            Some(Value::String(token)) => Some(token.clone()).filter(|token| !token.is_empty()),
            // no token at all, and so an unknown one
            Some(other) => Some(other.to_string()),
        };
        let configured = call.state.settings.security.cookie.name.as_str();
        let cookie = std::iter::once(configured).chain(FORMER_COOKIES).find_map(|name| {
            let cookie = request.cookie(name)?;
            (!cookie.value().is_empty()).then(|| (name.to_owned(), cookie.value().to_owned()))
        });
        Self { body, cookie }
    }

    fn token(&self) -> Result<&str> {
        let in_cookie = self.cookie.as_ref().map(|(_, token)| token);
        self.body
            .as_ref()
            .or(in_cookie)
            .map(String::as_str)
            .ok_or_else(|| Error::invalid_payload("\"refresh_token\" is required, in the body or as a cookie."))
    }
}

fn answer(call: &Call, tokens: &Tokens, mode: Mode) -> Answer {
    let expires = u64::try_from(tokens.expires.as_millis()).unwrap_or(u64::MAX);
    let mut data = json!({ "access_token": tokens.access_token, "expires": expires });
    if mode == Mode::Json
        && let Some(data) = data.as_object_mut()
    {
        data.insert("refresh_token".to_owned(), tokens.refresh_token.as_str().into());
    }
    let mut response = respond::value(&data)?;
    if mode == Mode::Cookie {
        set_cookie(&mut response, &call.state.settings.security, &tokens.refresh_token)?;
    }
    Ok(response)
}

fn set_cookie(response: &mut HttpResponse, settings: &security::Security, token: &str) -> Result<()> {
    let mut cookie = cookie(settings, &settings.cookie.name, token);
    let age = i64::try_from(settings.refresh_token_ttl.as_secs()).unwrap_or(i64::MAX);
    cookie.set_max_age(CookieAge::seconds(age));
    response.add_cookie(&cookie).map_err(Error::internal)
}

fn cookie<'a>(settings: &security::Security, name: &'a str, value: &'a str) -> Cookie<'a> {
    let mut cookie = Cookie::new(name, value);
    cookie.set_path("/");
    cookie.set_http_only(true);
    cookie.set_secure(settings.cookie.secure);
    cookie.set_same_site(match settings.cookie.same_site {
        security::SameSite::Lax => SameSite::Lax,
        security::SameSite::Strict => SameSite::Strict,
        security::SameSite::None => SameSite::None,
    });
    if let Some(domain) = &settings.cookie.domain {
        cookie.set_domain(domain.clone());
    }
    cookie
}
