//! `waymark serve`.

use std::net::TcpListener;

use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::Failed;
use crate::{lifecycle, server, settings::Settings};

/// Serves until SIGTERM or SIGINT.
pub async fn run(settings: Settings) -> Result<(), Failed> {
    let general = &settings.general;
    let address = format!("{}:{}", general.host, general.port);
    let listener = TcpListener::bind((general.host.as_str(), general.port))
        .map_err(|error| format!("HOST and PORT: {address} can't be listened on ({error})"))?;
    let shutdown = CancellationToken::new();
    let tasks = TaskTracker::new();
    tasks.spawn(lifecycle::cancel_at_signal(shutdown.clone()));
    let served = server::run(settings, listener, shutdown.clone()).await;
    shutdown.cancel();
    tasks.close();
    tasks.wait().await;
    served?;
    tracing::info!("ended");
    Ok(())
}
