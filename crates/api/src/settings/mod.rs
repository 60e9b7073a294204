//! What the operator can set: one struct per concern, read together from defaults, file and
//! environment, with all problems reported at once. The manual is `default.toml`.

pub mod cors;
pub mod database;
pub mod general;
pub mod log;
pub mod manual;
pub mod messenger;
pub mod parse;
pub mod query;
pub mod schedule;
pub mod secret;
pub mod security;
pub mod source;

pub use secret::Secret;
pub use source::{Problems, Reader, Source};

/// Everything a server needs to know.
#[derive(Clone, Debug)]
pub struct Settings {
    pub general: general::General,
    pub log: log::Log,
    pub database: database::Database,
    pub security: security::Security,
    pub cors: cors::Cors,
    pub query: query::QuerySettings,
    pub messenger: messenger::Messenger,
    pub schedule: schedule::Schedule,
}

impl Settings {
    /// Reads and checks everything.
    ///
    /// # Errors
    /// One line for each variable that can't be used.
    pub fn read(source: &Source) -> Result<Self, Problems> {
        let mut reader = Reader::new(source);
        let messenger = messenger::Messenger::read(&mut reader);
        let settings = Self {
            general: general::General::read(&mut reader),
            log: log::Log::read(&mut reader),
            database: database::Database::read(&mut reader),
            security: security::Security::read(&mut reader),
            cors: cors::Cors::read(&mut reader),
            query: query::QuerySettings::read(&mut reader),
            schedule: schedule::Schedule::read(&mut reader, &messenger),
            messenger,
        };
        reader.finish().map(|()| settings)
    }
}

#[cfg(test)]
mod tests;
