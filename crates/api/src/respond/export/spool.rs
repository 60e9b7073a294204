//! Where an export waits until it is sent: in memory while it is small, else in a file that has no
//! name and goes with its handle. Parts are kept as the JSON they came as, each with its length
//! before it; the format is written when they are sent.

use std::{
    io::{Read, Seek, SeekFrom, Write},
    sync::Arc,
};

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    web::{Bytes, block},
};
use async_trait::async_trait;
use futures_util::{future::BoxFuture, stream};
use serde_json::Value;
use tempfile::SpooledTempFile;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use waymark_core::{
    Error, Result,
    items::{Json, export::Parts},
    query::ast::ExportFormat,
};

use super::{csv::Columns, writer::Writer};
use crate::extract::peer::Peer;

/// Bytes that are kept in memory.
const IN_MEMORY: usize = 512 * 1024;
/// Bytes of one file.
const LONGEST: u64 = 4 * 1024 * 1024 * 1024;

/// Takes an export and answers with it.
pub(super) struct Spooler {
    format: ExportFormat,
    spools: Arc<Semaphore>,
    peer: Option<Peer>,
    /// `None` only while a thread writes to it.
    spool: Option<Spool>,
}

struct Spool {
    file: SpooledTempFile,
    columns: Columns,
    length: u64,
    /// Held from the first byte in a file until the last one is sent.
    permit: Option<OwnedSemaphorePermit>,
}

impl Spooler {
    pub fn new(format: ExportFormat, spools: Arc<Semaphore>, peer: Option<Peer>) -> Self {
        let file = SpooledTempFile::new(IN_MEMORY);
        let spool = Spool { file, columns: Columns::default(), length: 0, permit: None };
        Self { format, spools, peer, spool: Some(spool) }
    }

    /// The answer with everything that was taken.
    ///
    /// # Errors
    /// `INTERNAL_SERVER_ERROR` when the file can't be read.
    pub async fn answer(self, mut builder: HttpResponseBuilder) -> Result<HttpResponse> {
        let mut spool = self.spool.ok_or_else(|| Error::internal("the export's file is gone"))?;
        spool.file.seek(SeekFrom::Start(0)).map_err(Error::internal)?;
        let whole = !spool.file.is_rolled();
        let writer = Writer::new(self.format, spool.columns);
        let mut reading = Reading { file: spool.file, writer, done: false, _permit: spool.permit };
        if whole {
            let body = block(move || reading.whole()).await.map_err(Error::internal)??;
            return Ok(builder.body(body));
        }
        let parts = stream::unfold(Some(reading), |reading| async move {
            let mut reading = reading.filter(|reading| !reading.done)?;
            match block(move || reading.next().map(|bytes| (bytes, reading))).await.map_err(Error::internal) {
                Ok(Ok((bytes, reading))) => Some((Ok(Bytes::from(bytes)), Some(reading))),
                Ok(Err(error)) | Err(error) => {
                    tracing::error!(%error, "an export ended early");
                    Some((Err(std::io::Error::other(error.to_string())), None))
                }
            }
        });
        Ok(builder.streaming(parts))
    }
}

#[async_trait]
impl Parts for Spooler {
    async fn take(&mut self, part: Json) -> Result<()> {
        if self.peer.as_ref().is_some_and(Peer::is_gone) {
            return Err(super::abandoned());
        }
        let mut spool = self.spool.take().ok_or_else(|| Error::internal("the export's file is gone"))?;
        let format = self.format;
        spool.length = spool.length.saturating_add(part.get().len() as u64);
        if spool.length > LONGEST {
            return Err(Error::invalid_query("The export is too long: ask for less at a time."));
        }
        if spool.length > IN_MEMORY as u64 && spool.permit.is_none() {
            spool.permit = Some(Arc::clone(&self.spools).try_acquire_owned().map_err(|_| super::busy())?);
        }
        let written = block(move || spool.push(format, &part).map(|()| spool)).await.map_err(Error::internal)?;
        self.spool = Some(written?);
        Ok(())
    }

    fn abandoned(&self) -> BoxFuture<'static, ()> {
        Box::pin(super::gone(self.peer.clone()))
    }
}

impl Spool {
    fn push(&mut self, format: ExportFormat, part: &Json) -> Result<()> {
        if format == ExportFormat::Csv {
            match serde_json::from_str(part.get()).map_err(Error::internal)? {
                Value::Array(rows) => self.columns.add_all(format, &rows)?,
                one => self.columns.add_all(format, &[one])?,
            }
        }
        let text = part.get().as_bytes();
        self.file.write_all(&(text.len() as u64).to_le_bytes()).map_err(Error::internal)?;
        self.file.write_all(text).map_err(Error::internal)
    }
}

/// An export that is being sent.
struct Reading {
    file: SpooledTempFile,
    writer: Writer,
    done: bool,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Reading {
    /// The text of the next part; at the end that of the end.
    fn next(&mut self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        let mut length = [0; 8];
        let mut read = 0;
        while let Some(rest) = length.get_mut(read..).filter(|rest| !rest.is_empty()) {
            match self.file.read(rest).map_err(Error::internal)? {
                0 => break,
                more => read += more,
            }
        }
        if read == 0 {
            self.done = true;
            self.writer.end(&mut out);
            return Ok(out);
        }
        let length = usize::try_from(u64::from_le_bytes(length)).map_err(Error::internal)?;
        let mut text = vec![0; length];
        self.file.read_exact(&mut text).map_err(Error::internal)?;
        match serde_json::from_slice(&text).map_err(Error::internal)? {
            Value::Array(rows) => self.writer.rows(&rows, &mut out)?,
            one => {
                self.done = true;
                self.writer.one(&one, &mut out)?;
            }
        }
        Ok(out)
    }

    fn whole(&mut self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        while !self.done {
            out.append(&mut self.next()?);
        }
        Ok(out)
    }
}
