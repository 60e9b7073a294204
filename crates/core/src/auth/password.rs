//! Password hashes: argon2id strings in the PHC format, also those written by other servers with
//! other parameters. Not here: the password policy (`system::users`), attempts (`login`).

use std::{num::NonZeroUsize, sync::Arc};

use argon2::{Algorithm, Argon2, Params, PasswordHash, PasswordHasher, PasswordVerifier, Version};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

use super::AuthSettings;
use crate::error::{Code, Error, Result};

/// Parameters where the settings say 0.
const DEFAULT_MEMORY_KIB: u32 = 65_536;
const DEFAULT_PASSES: u32 = 3;
const DEFAULT_LANES: u32 = 4;

/// Hashes and verifies with a bound on how many run at once: each takes tens of MiB and a core.
pub struct Passwords {
    settings: AuthSettings,
    slots: Arc<Semaphore>,
    /// A hash nobody knows the password of; verified against when there is no user.
    dummy: OnceCell<String>,
}

impl Passwords {
    /// As many slots as the machine has cores.
    #[must_use]
    pub fn new(settings: AuthSettings) -> Self {
        let slots = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self { settings, slots: Arc::new(Semaphore::new(slots)), dummy: OnceCell::new() }
    }

    /// As [`hash`], waiting for a slot.
    ///
    /// # Errors
    /// As [`hash`].
    pub async fn hash(&self, password: &str) -> Result<String> {
        hash_in(Some(self.slot().await?), &self.settings, password).await
    }

    /// As [`verify`], waiting for a slot.
    ///
    /// # Errors
    /// As [`verify`].
    pub async fn verify(&self, hash: &str, password: &str) -> Result<bool> {
        verify_in(Some(self.slot().await?), hash, password).await
    }

    /// Spends the time of a verification; for logins of users that don't exist or have no password.
    ///
    /// # Errors
    /// As [`verify`].
    pub async fn verify_nobody(&self, password: &str) -> Result<()> {
        let dummy = self
            .dummy
            .get_or_try_init(|| async {
                let unknown: [u8; 24] = rand::random();
                self.hash(&unknown.map(|byte| format!("{byte:02x}")).concat()).await
            })
            .await?;
        self.verify(dummy, password).await.map(drop)
    }

    async fn slot(&self) -> Result<OwnedSemaphorePermit> {
        Arc::clone(&self.slots).acquire_owned().await.map_err(Error::internal)
    }
}

/// Hashes a password; the work runs on the blocking pool. Prefer [`Passwords::hash`], which is bounded.
///
/// # Errors
/// `INTERNAL_SERVER_ERROR` when the parameters of the settings are out of argon2's range.
pub async fn hash(settings: &AuthSettings, password: &str) -> Result<String> {
    hash_in(None, settings, password).await
}

/// Whether a password belongs to a stored hash; parameters are those of the hash. A stored text
/// that is no argon2 hash fits no password. Prefer [`Passwords::verify`], which is bounded.
///
/// # Errors
/// `SERVICE_UNAVAILABLE` when the server is shutting down.
pub async fn verify(hash: &str, password: &str) -> Result<bool> {
    verify_in(None, hash, password).await
}

/// The work of one hash: the slot is given back when the work ends, not when its caller gives up.
type Slot = Option<OwnedSemaphorePermit>;

async fn hash_in(slot: Slot, settings: &AuthSettings, password: &str) -> Result<String> {
    let or = |value: u32, default: u32| if value == 0 { default } else { value };
    let params = Params::new(
        or(settings.hash_memory_kib, DEFAULT_MEMORY_KIB),
        or(settings.hash_passes, DEFAULT_PASSES),
        or(settings.hash_lanes, DEFAULT_LANES),
        None,
    )
    .map_err(|error| Error::internal(error.to_string()))?;
    let password = password.to_owned();
    blocking(slot, move || {
        let salt: [u8; 16] = rand::random();
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_with_salt(password.as_bytes(), &salt)
            .map(|hash| hash.to_string())
            .map_err(|error| Error::internal(error.to_string()))
    })
    .await
}

async fn verify_in(slot: Slot, hash: &str, password: &str) -> Result<bool> {
    let (hash, password) = (hash.to_owned(), password.to_owned());
    blocking(slot, move || {
        let Ok(hash) = PasswordHash::new(&hash) else { return Ok(false) };
        Ok(Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
    })
    .await
}

async fn blocking<T: Send + 'static>(slot: Slot, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let guarded = move || {
        let _slot = slot;
        work()
    };
    tokio::task::spawn_blocking(guarded)
        .await
        .unwrap_or_else(|error| Err(Error::new(Code::ServiceUnavailable).because(error)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn cheap() -> AuthSettings {
        AuthSettings { hash_memory_kib: 64, hash_passes: 1, hash_lanes: 1, ..AuthSettings::default() }
    }

    #[tokio::test]
    async fn a_hash_fits_its_password_only() {
        let passwords = Passwords::new(cheap());
        let hash = passwords.hash("secret").await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=64,t=1,p=1$"));
        assert_ne!(hash, passwords.hash("secret").await.unwrap());
        assert!(passwords.verify(&hash, "secret").await.unwrap());
        assert!(!passwords.verify(&hash, "secret ").await.unwrap());
        passwords.verify_nobody("secret").await.unwrap();
    }

    #[tokio::test]
    async fn hashes_of_other_parameters_fit_too() {
        let strong = AuthSettings { hash_memory_kib: 4096, hash_passes: 3, hash_lanes: 4, ..AuthSettings::default() };
        let hash = hash(&strong, "motdepasse-é").await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=4096,t=3,p=4$"));
        assert!(Passwords::new(cheap()).verify(&hash, "motdepasse-é").await.unwrap());
        // A vector of the reference implementation of argon2 (its test.c).
        let vector = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
        assert!(verify(vector, "password").await.unwrap());
    }

    #[tokio::test]
    async fn no_hash_fits_nothing() {
        for stored in ["", "secret", "**********", "$argon2id$v=19$m=65536", "$2b$10$abc"] {
            assert!(!verify(stored, "secret").await.unwrap());
        }
    }
}
