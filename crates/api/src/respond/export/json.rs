//! JSON, indented by tabs.

use serde::Serialize;
use serde_json::{Serializer, Value, ser::PrettyFormatter};
use waymark_core::{Error, Result};

pub(super) fn one(value: &Value, out: &mut Vec<u8>) -> Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, PrettyFormatter::with_indent(b"\t"))).map_err(Error::internal)
}

/// Rows of a list, one level in.
pub(super) fn rows(rows: &[Value], first: bool, out: &mut Vec<u8>) -> Result<()> {
    let mut row_text = Vec::new();
    for (position, row) in rows.iter().enumerate() {
        out.extend_from_slice(if first && position == 0 { b"[\n\t" } else { b",\n\t" });
        row_text.clear();
        one(row, &mut row_text)?;
        // Line breaks inside of texts are escaped, so all of these are the formatter's.
        for byte in &row_text {
            out.push(*byte);
            if *byte == b'\n' {
                out.push(b'\t');
            }
        }
    }
    Ok(())
}

pub(super) fn end(started: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if started { b"\n]" } else { b"[]" });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_in_parts_is_the_list_at_once() {
        let all = json!([{"id": 1, "text": "a\nb", "list": [1, {"x": null}]}, {}, {"n": 12345678901234567890_u64}]);
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        one(&all, &mut whole).expect("written");
        let list = all.as_array().expect("a list");
        for (position, row) in list.iter().enumerate() {
            rows(std::slice::from_ref(row), position == 0, &mut parts).expect("written");
        }
        end(true, &mut parts);
        assert_eq!(String::from_utf8_lossy(&parts), String::from_utf8_lossy(&whole));
    }
}
