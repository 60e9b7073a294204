//! `export=`: the data of an answer as a file in another format. Lists are read in parts, spooled,
//! and sent from the spool, so that their length doesn't matter and a slow client holds no database
//! connection.

mod csv;
mod json;
mod name;
mod spool;
mod writer;
mod xml;
mod yaml;

use std::{future::pending, sync::Arc, time::Duration};

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    http::header::{self, ContentDisposition, DispositionParam, DispositionType},
};
use chrono::Utc;
use serde_json::Value;
use waymark_core::{
    Code, Error, Result,
    ident::Key,
    items,
    query::{Query, ast::ExportFormat},
};

pub use name::collection_of;

use self::{spool::Spooler, writer::Writer};
use super::Answer;
use crate::extract::{Call, peer::Peer};

/// How long an export waits for others.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// Others are being read or sent; their number is bounded.
fn busy() -> Error {
    Error::new(Code::ServiceUnavailable).with("service", "export")
}

/// Ends when the client is gone; never when it can't be watched.
async fn gone(peer: Option<Peer>) {
    match peer {
        Some(peer) => peer.gone().await,
        None => pending().await,
    }
}

/// Nobody reads this any more.
fn abandoned() -> Error {
    Error::with_message(Code::ServiceUnavailable, "The client is gone.")
}

/// Answers a list as a file. Reading ends early when the client goes away, and in any case in order, so
/// that the place of the export is free when its database connection is.
///
/// # Errors
/// As the engine's `read`; `INVALID_QUERY` when it is too long or a CSV would have too many columns,
/// `SERVICE_UNAVAILABLE` when too many others are under way.
pub async fn list(call: Call, format: ExportFormat, collection: &str, query: Query, keys: Option<Vec<Key>>) -> Answer {
    let state = Arc::clone(&call.state);
    let collection = collection.to_owned();
    let read = async move {
        let ctx = call.ctx().await?;
        // Each holds a database connection while it is read.
        let permit = tokio::select! {
            permit = tokio::time::timeout(LONGEST_WAIT, call.state.exports.acquire()) => permit.map_err(|_| busy())?,
            () = gone(call.peer.clone()) => return Err(abandoned()),
        };
        let permit = permit.map_err(Error::internal)?;
        let mut spooler = Spooler::new(format, Arc::clone(&call.state.spools), call.peer.clone());
        items::export(&ctx, &collection, &query, keys.as_deref(), &mut spooler).await?;
        drop(permit);
        spooler.answer(builder(format, &collection)).await
    };
    state.shielded(read).await.map_err(Into::into)
}

/// Answers the data of a ready answer as a file: `body` is an envelope.
///
/// # Errors
/// `INTERNAL_SERVER_ERROR` when it is none, `INVALID_QUERY` as [`list`].
pub fn enveloped(format: ExportFormat, collection: &str, body: &[u8]) -> Result<HttpResponse> {
    let mut envelope: serde_json::Map<String, Value> = serde_json::from_slice(body).map_err(Error::internal)?;
    let data = envelope.remove("data").unwrap_or_default();
    let mut columns = csv::Columns::default();
    let mut out = Vec::with_capacity(body.len());
    match data {
        Value::Array(rows) => {
            columns.add_all(format, &rows)?;
            let mut writer = Writer::new(format, columns);
            writer.rows(&rows, &mut out)?;
            writer.end(&mut out);
        }
        one => {
            columns.add_all(format, std::slice::from_ref(&one))?;
            Writer::new(format, columns).one(&one, &mut out)?;
        }
    }
    Ok(builder(format, collection).body(out))
}

/// A 200 with the headers of a file; never stored.
fn builder(format: ExportFormat, collection: &str) -> HttpResponseBuilder {
    let (kind, extension) = match format {
        ExportFormat::Csv => ("text/csv; charset=utf-8", "csv"),
        ExportFormat::Json => (super::envelope::JSON, "json"),
        ExportFormat::Xml => ("text/xml; charset=utf-8", "xml"),
        ExportFormat::Yaml => ("text/yaml; charset=utf-8", "yaml"),
    };
    let name = format!("{collection} {}.{extension}", Utc::now().format("%Y%m%d-%H%M%S"));
    let disposition = ContentDisposition {
        disposition: DispositionType::Attachment,
        parameters: vec![DispositionParam::Filename(name)],
    };
    let mut builder = HttpResponse::Ok();
    builder
        .insert_header((header::CONTENT_TYPE, kind))
        .insert_header(disposition)
        .insert_header((header::CACHE_CONTROL, "no-store"));
    builder
}
