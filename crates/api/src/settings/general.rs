//! Where the server listens, what it is called, how it ends.

use std::time::Duration;

use super::Reader;

#[derive(Clone, Debug)]
pub struct General {
    pub host: String,
    /// 0 lets the system choose.
    pub port: u16,
    pub public_url: String,
    /// Target of `GET /`; `None`: 404.
    pub root_redirect: Option<String>,
    pub robots_txt: String,
    /// Bytes of a JSON body.
    pub max_payload_size: usize,
    /// Time for requests in flight when the server ends.
    pub shutdown_timeout: Duration,
    /// Threads that serve requests; `None`: one per core.
    pub workers: Option<usize>,
    /// Name of the project before anybody gave it one.
    pub project_name: Option<String>,
}

impl General {
    pub fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            host: reader.text("HOST"),
            port: reader.number("PORT", 0..=65535) as u16,
            public_url: reader.text("PUBLIC_URL"),
            root_redirect: reader.text_or_false("ROOT_REDIRECT"),
            robots_txt: reader.text("ROBOTS_TXT").replace("\\n", "\n"),
            max_payload_size: usize::try_from(reader.size("MAX_PAYLOAD_SIZE")).unwrap_or(usize::MAX),
            shutdown_timeout: reader.duration("SERVER_SHUTDOWN_TIMEOUT"),
            workers: reader.optional_number("SERVER_WORKERS", 1..=1024).map(|number| number as usize),
            project_name: reader.optional_text("PROJECT_NAME"),
        }
    }
}
