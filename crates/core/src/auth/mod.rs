//! Who is who: passwords, tokens, sessions, and the cache of users, roles and policies.

pub mod attempts;
pub mod email;
pub mod identity;
pub mod login;
pub mod password;
pub mod password_policy;
pub(crate) mod rows;
pub mod session;
mod share;
pub mod token;

use std::time::Duration;

/// What authentication needs to know of the settings.
#[derive(Clone, Default)]
pub struct AuthSettings {
    /// Signing key of all JWTs (`SECRET`).
    pub secret: String,
    /// Further accepted issuers beside `waymark` (`AUTH_JWT_ISSUERS`).
    pub issuers: Vec<String>,
    pub access_token_ttl: Duration,
    pub refresh_token_ttl: Duration,
    /// No login with e-mail and password (`AUTH_DISABLE_DEFAULT`).
    pub disable_default: bool,
    /// Least duration of a login (`LOGIN_STALL_TIME`).
    pub login_stall: Duration,
    /// argon2: KiB, passes, lanes (`HASH_*`).
    pub hash_memory_kib: u32,
    pub hash_passes: u32,
    pub hash_lanes: u32,
}

impl std::fmt::Debug for AuthSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthSettings").finish_non_exhaustive()
    }
}
