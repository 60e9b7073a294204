//! What is logged and how.

use super::Reader;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// A filter of the tracing crates: `info`, `off` …
    pub filter: String,
    pub style: LogStyle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogStyle {
    Pretty,
    /// JSON lines.
    Raw,
}

impl Log {
    pub fn read(reader: &mut Reader<'_>) -> Self {
        let levels = [
            ("fatal", "error"),
            ("error", "error"),
            ("warn", "warn"),
            ("info", "info"),
            ("debug", "debug"),
            ("trace", "trace"),
            ("silent", "off"),
        ];
        let level = reader.choice("LOG_LEVEL", &levels);
        let style = reader.choice("LOG_STYLE", &[("pretty", LogStyle::Pretty), ("raw", LogStyle::Raw)]);
        Self { filter: level.unwrap_or("info").to_owned(), style: style.unwrap_or(LogStyle::Pretty) }
    }
}
