//! One export in one format: rows in, text out.

use serde_json::Value;
use waymark_core::{Result, query::ast::ExportFormat};

use super::{csv, json, xml, yaml};

/// Writes rows as they come. `rows` any number of times, then `end`; or `one` alone.
pub(super) struct Writer {
    format: ExportFormat,
    columns: csv::Columns,
    started: bool,
}

impl Writer {
    /// `columns` are those of all rows; only CSV needs them.
    pub fn new(format: ExportFormat, columns: csv::Columns) -> Self {
        Self { format, columns, started: false }
    }

    /// Rows of a list.
    ///
    /// # Errors
    /// `INTERNAL_SERVER_ERROR` for values that the format can't hold.
    pub fn rows(&mut self, rows: &[Value], out: &mut Vec<u8>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let first = !std::mem::replace(&mut self.started, true);
        match self.format {
            ExportFormat::Csv => {
                if first {
                    self.columns.write_heading(out);
                }
                rows.iter().for_each(|row| self.columns.write_row(row, out));
                Ok(())
            }
            ExportFormat::Json => json::rows(rows, first, out),
            ExportFormat::Xml => xml::rows(rows, first, out),
            ExportFormat::Yaml => yaml::append(rows, out),
        }
    }

    /// The end of a list.
    pub fn end(&self, out: &mut Vec<u8>) {
        match self.format {
            ExportFormat::Csv => {}
            ExportFormat::Json => json::end(self.started, out),
            ExportFormat::Xml => xml::end(self.started, out),
            ExportFormat::Yaml if self.started => {}
            ExportFormat::Yaml => out.extend_from_slice(b"[]\n"),
        }
    }

    /// Something that is no list.
    ///
    /// # Errors
    /// As [`Writer::rows`].
    pub fn one(&mut self, value: &Value, out: &mut Vec<u8>) -> Result<()> {
        match self.format {
            ExportFormat::Csv => self.rows(std::slice::from_ref(value), out),
            ExportFormat::Json => json::one(value, out),
            ExportFormat::Xml => xml::one(value, out),
            ExportFormat::Yaml => yaml::append(value, out),
        }
    }
}
