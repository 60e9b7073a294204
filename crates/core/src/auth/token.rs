//! Access tokens: JWTs signed with HS256 and `SECRET`. Not here: static tokens and the current
//! state of users (`identity`), refresh tokens (`session`).
//!
//! Only claims are read here; the rights of a caller always come from the current rows.

use chrono::{DateTime, Utc};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, crypto, decode_header, encode};
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::AuthSettings;
use crate::error::{Code, Error, Result};

/// The issuer of our own tokens.
pub const ISSUER: &str = "waymark";

/// What an access token of a user says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessClaims {
    pub user: Uuid,
    /// See [`session_mark`]; absent in tokens of other issuers.
    pub session: Option<String>,
}

/// Whom an access token is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bearer {
    User(AccessClaims),
    /// A share; its role and item come from its current row.
    Share(Uuid),
}

/// The user an access token is made for.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub user: Uuid,
    pub role: Option<Uuid>,
    pub admin: bool,
    pub app: bool,
    /// The refresh token of the session; only its [`session_mark`] enters the token.
    pub session: &'a str,
}

#[derive(Serialize)]
struct Claims<'a> {
    id: Uuid,
    role: Option<Uuid>,
    app_access: bool,
    admin_access: bool,
    session: String,
    iat: i64,
    exp: i64,
    iss: &'a str,
}

/// Signs an access token that is good from `now` for the settings' lifetime (whole seconds).
///
/// # Errors
/// `INTERNAL_SERVER_ERROR` when the secret can't be a key.
pub fn issue(settings: &AuthSettings, subject: Subject<'_>, now: DateTime<Utc>) -> Result<String> {
    let lifetime = i64::try_from(settings.access_token_ttl.as_secs()).unwrap_or(i64::MAX);
    let claims = Claims {
        id: subject.user,
        role: subject.role,
        app_access: subject.app,
        admin_access: subject.admin,
        session: session_mark(settings, subject.session)?,
        iat: now.timestamp(),
        exp: now.timestamp().saturating_add(lifetime),
        iss: ISSUER,
    };
    encode(&Header::new(Algorithm::HS256), &claims, &signing_key(settings)?).map_err(Error::internal)
}

/// Reads a bearer value. `None` when it is no JWT of an accepted issuer, and so a static token.
///
/// # Errors
/// `INVALID_TOKEN` (algorithm, signature, `nbf`, missing claims), `TOKEN_EXPIRED`.
pub fn read(settings: &AuthSettings, token: &str, now: DateTime<Utc>) -> Result<Option<Bearer>> {
    let Some(claims) = accepted_claims(settings, token) else { return Ok(None) };
    verify_signature(settings, token)?;
    check_times(&claims, now)?;
    if ["role", "app_access", "admin_access"].iter().any(|name| !claims.contains_key(*name)) {
        return Err(Error::new(Code::InvalidToken));
    }
    let id = |name: &str| claims.get(name).and_then(Value::as_str).and_then(|id| Uuid::try_parse(id).ok());
    let session = claims.get("session").and_then(Value::as_str).map(str::to_owned);
    match (id("id"), id("share")) {
        (Some(user), _) => Ok(Some(Bearer::User(AccessClaims { user, session }))),
        (None, Some(share)) => Ok(Some(Bearer::Share(share))),
        (None, None) => Err(Error::new(Code::InvalidToken)),
    }
}

/// Stands for a session inside an access token without giving away its refresh token: a keyed
/// digest. It changes whenever the refresh token does.
///
/// # Errors
/// As [`issue`].
pub fn session_mark(settings: &AuthSettings, refresh_token: &str) -> Result<String> {
    // A JWT is signed over "header.payload": the colon keeps the two uses of the key apart.
    crypto::sign(format!("session:{refresh_token}").as_bytes(), &signing_key(settings)?, Algorithm::HS256)
        .map_err(Error::internal)
}

fn signing_key(settings: &AuthSettings) -> Result<EncodingKey> {
    EncodingKey::from_secret(settings.secret.as_bytes()).map_err(Error::internal)
}

/// The unverified claims, if they name an accepted issuer.
fn accepted_claims(settings: &AuthSettings, token: &str) -> Option<Map<String, Value>> {
    if token.split('.').count() != 3 {
        return None;
    }
    let claims: Map<String, Value> = jsonwebtoken::dangerous::insecure_decode_claims(token).ok()?;
    let issuer = claims.get("iss")?.as_str()?;
    (issuer == ISSUER || settings.issuers.iter().any(|accepted| accepted == issuer)).then_some(claims)
}

// Not `jsonwebtoken::decode`: its own reading of `exp` does not understand numbers kept as text
// (serde_json's `arbitrary_precision`).
fn verify_signature(settings: &AuthSettings, token: &str) -> Result<()> {
    let refused = || Error::new(Code::InvalidToken);
    let header = decode_header(token).map_err(|error| refused().because(error))?;
    if header.alg != Algorithm::HS256 {
        return Err(refused());
    }
    let (message, signature) = token.rsplit_once('.').ok_or_else(refused)?;
    let key = DecodingKey::from_secret(settings.secret.as_bytes()).map_err(Error::internal)?;
    match crypto::verify(signature, message.as_bytes(), &key, Algorithm::HS256) {
        Ok(true) => Ok(()),
        Ok(false) => Err(refused()),
        Err(error) => Err(refused().because(error)),
    }
}

fn check_times(claims: &Map<String, Value>, now: DateTime<Utc>) -> Result<()> {
    let now = now.timestamp() as f64;
    match claims.get("exp").map(Value::as_f64) {
        Some(Some(expires)) if now < expires => {}
        Some(Some(_)) => return Err(Error::new(Code::TokenExpired)),
        Some(None) | None => return Err(Error::new(Code::InvalidToken)),
    }
    match claims.get("nbf").map(Value::as_f64) {
        None => Ok(()),
        Some(Some(begins)) if begins <= now => Ok(()),
        Some(_) => Err(Error::new(Code::InvalidToken)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn settings() -> AuthSettings {
        AuthSettings {
            secret: "a secret of some length".into(),
            issuers: vec!["elsewhere".into()],
            access_token_ttl: Duration::from_mins(15),
            ..AuthSettings::default()
        }
    }

    fn subject() -> Subject<'static> {
        Subject { user: Uuid::from_u128(7), role: None, admin: false, app: true, session: "refresh" }
    }

    fn sign(algorithm: Algorithm, claims: &Value) -> String {
        encode(&Header::new(algorithm), claims, &signing_key(&settings()).unwrap()).unwrap()
    }

    fn code(token: &str) -> Code {
        read(&settings(), token, Utc::now()).unwrap_err().code()
    }

    #[test]
    fn our_token_is_read_back() {
        let now = Utc::now();
        let token = issue(&settings(), subject(), now).unwrap();
        let Bearer::User(claims) = read(&settings(), &token, now).unwrap().unwrap() else { panic!("a user's") };
        assert_eq!(claims.user, Uuid::from_u128(7));
        assert_eq!(claims.session, Some(session_mark(&settings(), "refresh").unwrap()));
        assert!(!token.contains("refresh"));
        let later = now + chrono::TimeDelta::minutes(15);
        assert_eq!(read(&settings(), &token, later).unwrap_err().code(), Code::TokenExpired);
    }

    #[test]
    fn tampering_is_refused() {
        let token = issue(&settings(), subject(), Utc::now()).unwrap();
        assert_eq!(code(&format!("{token}x")), Code::InvalidToken);
        let (message, _) = token.rsplit_once('.').unwrap();
        assert_eq!(code(&format!("{message}.")), Code::InvalidToken);
        let other = AuthSettings { secret: "another secret".into(), ..settings() };
        assert_eq!(read(&other, &token, Utc::now()).unwrap_err().code(), Code::InvalidToken);
    }

    #[test]
    fn only_hs256_and_complete_claims() {
        let full = json!({"iss": "waymark", "id": Uuid::from_u128(7), "role": null, "app_access": 1, "admin_access": 0, "exp": 4_100_000_000_u64});
        assert!(read(&settings(), &sign(Algorithm::HS256, &full), Utc::now()).unwrap().is_some());
        assert_eq!(code(&sign(Algorithm::HS512, &full)), Code::InvalidToken);
        for missing in ["id", "role", "app_access", "admin_access", "exp"] {
            let mut claims = full.clone();
            claims.as_object_mut().unwrap().remove(missing);
            assert_eq!(code(&sign(Algorithm::HS256, &claims)), Code::InvalidToken, "{missing}");
        }
        let mut early = full.clone();
        early["nbf"] = json!(4_000_000_000_u64);
        assert_eq!(code(&sign(Algorithm::HS256, &early)), Code::InvalidToken);
        let mut share = full.clone();
        share["id"] = Value::Null;
        share["share"] = json!(Uuid::from_u128(9));
        let read_share = read(&settings(), &sign(Algorithm::HS256, &share), Utc::now()).unwrap();
        assert_eq!(read_share, Some(Bearer::Share(Uuid::from_u128(9))));
        let mut moved = full;
        moved["iss"] = json!("elsewhere");
        assert!(read(&settings(), &sign(Algorithm::HS256, &moved), Utc::now()).unwrap().is_some());
    }

    #[test]
    fn everything_else_is_a_static_token() {
        let stranger = json!({"id": Uuid::from_u128(7), "role": null, "app_access": true, "admin_access": true, "exp": 4_100_000_000_u64});
        let foreign = json!({"iss": "nobody", "exp": 4_100_000_000_u64});
        for token in
            ["", "plain", "a.b.c", "....", &sign(Algorithm::HS256, &stranger), &sign(Algorithm::HS256, &foreign)]
        {
            assert_eq!(read(&settings(), token, Utc::now()).unwrap(), None, "{token}");
        }
    }
}
