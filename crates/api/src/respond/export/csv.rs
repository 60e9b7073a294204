//! CSV (RFC 4180, with bare line feeds): texts are quoted, numbers and booleans are not, null is
//! nothing. Objects become columns of their own, named by their path; lists stay JSON text. The
//! columns are those of all rows, in the order in which they appear.

use indexmap::IndexSet;
use serde_json::Value;
use waymark_core::{Error, Result, query::ast::ExportFormat};

/// Columns of one file. JSON fields make as many as they have keys, and every row has all of them.
const MOST_COLUMNS: usize = 5_000;
/// The column of rows that are no objects (bare keys).
const BARE: &str = "value";

/// The columns of a file.
#[derive(Debug, Default)]
pub(super) struct Columns(IndexSet<String>);

impl Columns {
    /// Adds the columns of rows, when the format is CSV.
    ///
    /// # Errors
    /// `INVALID_QUERY` when there are too many.
    pub fn add_all(&mut self, format: ExportFormat, rows: &[Value]) -> Result<()> {
        if format == ExportFormat::Csv {
            for row in rows {
                flatten(row, &mut |name, _| {
                    if !self.0.contains(name) {
                        self.0.insert(name.to_owned());
                    }
                });
                if self.0.len() > MOST_COLUMNS {
                    let message = format!("The rows come to more than {MOST_COLUMNS} columns: name fewer fields.");
                    return Err(Error::invalid_query(message));
                }
            }
        }
        Ok(())
    }

    pub fn write_heading(&self, out: &mut Vec<u8>) {
        for (position, name) in self.0.iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            quote(name, out);
        }
    }

    /// A row, with the line break before it.
    pub fn write_row(&self, row: &Value, out: &mut Vec<u8>) {
        let mut cells: Vec<Option<&Value>> = vec![None; self.0.len()];
        flatten(row, &mut |name, value| {
            if let Some(cell) = self.0.get_index_of(name).and_then(|position| cells.get_mut(position)) {
                *cell = Some(value);
            }
        });
        out.push(b'\n');
        for (position, value) in cells.into_iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            match value {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) => quote(text, out),
                Some(plain @ (Value::Bool(_) | Value::Number(_))) => {
                    out.extend_from_slice(plain.to_string().as_bytes())
                }
                Some(nested) => quote(&nested.to_string(), out),
            }
        }
    }
}

/// Each cell of a row with the name of its column.
fn flatten<'v>(row: &'v Value, each: &mut impl FnMut(&str, &'v Value)) {
    fn members<'v>(path: &mut String, value: &'v Value, each: &mut impl FnMut(&str, &'v Value)) {
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                let length = path.len();
                for (name, value) in inner {
                    if length > 0 {
                        path.push('.');
                    }
                    path.push_str(name);
                    members(path, value, each);
                    path.truncate(length);
                }
            }
            value => each(path, value),
        }
    }
    match row {
        Value::Object(_) => members(&mut String::new(), row, each),
        bare => each(BARE, bare),
    }
}

fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for (position, part) in text.split('"').enumerate() {
        if position > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(part.as_bytes());
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn csv(rows: &[Value]) -> String {
        let (mut columns, mut out) = (Columns::default(), Vec::new());
        columns.add_all(ExportFormat::Csv, rows).expect("few columns");
        columns.write_heading(&mut out);
        rows.iter().for_each(|row| columns.write_row(row, &mut out));
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn cells_are_quoted_by_their_type() {
        let rows = [json!({"a": 1, "b": "say \"hi\", twice\n", "c": true, "d": null, "e": 1.50})];
        assert_eq!(csv(&rows), "\"a\",\"b\",\"c\",\"d\",\"e\"\n1,\"say \"\"hi\"\", twice\n\",true,,1.5");
    }

    #[test]
    fn objects_are_columns_and_lists_are_text() {
        let rows = [
            json!({"id": 1, "owner": null, "tags": ["x", {"y": "z"}], "none": {}}),
            json!({"id": 2, "owner": {"name": "Ö", "home": {"town": "Bergen"}}, "tags": []}),
        ];
        let wanted = "\"id\",\"owner\",\"tags\",\"none\",\"owner.name\",\"owner.home.town\"\n\
                      1,,\"[\"\"x\"\",{\"\"y\"\":\"\"z\"\"}]\",\"{}\",,\n2,,\"[]\",,\"Ö\",\"Bergen\"";
        assert_eq!(csv(&rows), wanted);
        assert_eq!(csv(&[json!(7), json!("k")]), "\"value\"\n7\n\"k\"");
    }

    #[test]
    fn the_number_of_columns_is_bounded() {
        let wide: serde_json::Map<String, Value> = (0..=MOST_COLUMNS).map(|n| (format!("k{n}"), json!(n))).collect();
        let rows = [json!({ "j": wide })];
        assert!(Columns::default().add_all(ExportFormat::Csv, &rows).is_err());
        assert!(Columns::default().add_all(ExportFormat::Json, &rows).is_ok());
    }
}
