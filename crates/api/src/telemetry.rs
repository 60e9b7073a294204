//! Logs of the process: pretty or JSON lines, to standard error.

use std::io::IsTerminal;

use tracing_subscriber::{EnvFilter, fmt};

use crate::settings::log::{Log, LogStyle};

/// Begins logging; a second call changes nothing.
pub fn start(settings: &Log) {
    // The client of NATS tells of each attempt to connect; messenger and scheduler tell of episodes.
    let filter = EnvFilter::new(format!("{},sqlx=warn,actix_server=warn,async_nats=off", settings.filter));
    let colours = std::io::stderr().is_terminal();
    let builder = fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours);
    // fails only when logging was begun before
    let _ = match settings.style {
        LogStyle::Pretty => builder.with_target(false).try_init(),
        LogStyle::Raw => builder.json().flatten_event(true).try_init(),
    };
}
