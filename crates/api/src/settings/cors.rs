//! Which pages of other origins may call this server.

use regex::Regex;

use super::{Reader, source::Entry};

#[derive(Clone, Debug)]
pub struct Cors {
    pub enabled: bool,
    pub origin: CorsOrigin,
    pub methods: Vec<String>,
    pub allowed_headers: Vec<String>,
    pub exposed_headers: Vec<String>,
    pub credentials: bool,
    /// Seconds.
    pub max_age: usize,
}

#[derive(Clone, Debug)]
pub enum CorsOrigin {
    Nobody,
    /// Whatever origin asks is named in the answer.
    Anybody,
    Some(Vec<Entry<Regex>>),
}

impl Cors {
    pub fn read(reader: &mut Reader<'_>) -> Self {
        let entries = reader.patterns("CORS_ORIGIN");
        let origin = match entries.as_slice() {
            [] => CorsOrigin::Nobody,
            [Entry::Text(text)] if text == "true" => CorsOrigin::Anybody,
            [Entry::Text(text)] if text == "false" => CorsOrigin::Nobody,
            _ => CorsOrigin::Some(entries),
        };
        Self {
            enabled: reader.boolean("CORS_ENABLED"),
            origin,
            methods: reader.list("CORS_METHODS"),
            allowed_headers: reader.list("CORS_ALLOWED_HEADERS"),
            exposed_headers: reader.list("CORS_EXPOSED_HEADERS"),
            credentials: reader.boolean("CORS_CREDENTIALS"),
            max_age: reader.number("CORS_MAX_AGE", 0..=i64::from(u32::MAX)) as usize,
        }
    }
}
