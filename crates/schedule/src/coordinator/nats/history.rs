//! Recent runs of a schedule from the bucket: ever longer spans of its past until enough runs are found.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::consumer::{DeliverPolicy, ReplayPolicy, push};
use futures_util::StreamExt;

use super::connection::{Live, server_now};
use super::marker::{Marker, runs_of};
use super::{Nats, Unavailable};
use crate::history::RunRecord;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The newest `most` runs, the newest first.
pub(super) async fn read(nats: &Arc<Nats>, name: &str, most: usize) -> Result<Vec<RunRecord>, Unavailable> {
    let live = nats.live()?;
    let (_, now) = server_now(nats, &live).await?;
    let mut records = Vec::new();
    for span in [Some(HOUR), Some(HOUR * 24), None] {
        let policy = match span {
            Some(span) => DeliverPolicy::ByStartTime { start_time: now - span },
            None => DeliverPolicy::LastPerSubject,
        };
        records = since(nats, &live, name, policy).await?;
        if records.len() >= most {
            break;
        }
    }
    records.sort_by(|a, b| b.scheduled_at.cmp(&a.scheduled_at).then_with(|| b.started_at.cmp(&a.started_at)));
    records.truncate(most);
    Ok(records)
}

async fn since(nats: &Nats, live: &Live, name: &str, policy: DeliverPolicy) -> Result<Vec<RunRecord>, Unavailable> {
    let deadline = nats.settings.deadlines.command;
    let failed = |reason: &str| Unavailable(format!("the history could not be read: {reason}"));
    let opened = async {
        let consumer = live
            .kv
            .stream
            .create_consumer(push::OrderedConfig {
                deliver_subject: live.client.new_inbox(),
                description: Some("history of a schedule".to_owned()),
                filter_subject: format!("{}{}", live.kv.prefix, runs_of(name)),
                deliver_policy: policy,
                replay_policy: ReplayPolicy::Instant,
                ..Default::default()
            })
            .await
            .map_err(|error| failed(&error.to_string()))?;
        let pending = consumer.cached_info().num_pending;
        let messages = consumer.messages().await.map_err(|error| failed(&error.to_string()))?;
        Ok((pending, messages))
    };
    let (pending, mut messages) = tokio::time::timeout(deadline, opened).await.map_err(|_| failed("no answer"))??;
    let mut records = Vec::new();
    let mut more = pending > 0;
    while more {
        let message = tokio::time::timeout(deadline, messages.next()).await.map_err(|_| failed("no answer"))?;
        let Some(Ok(message)) = message else { return Err(failed("the connection was lost")) };
        more = message.info().is_ok_and(|info| info.pending > 0);
        records.extend(Marker::parse(&message.payload).map(Marker::record));
    }
    Ok(records)
}
