//! XML 1.0: a root `data`; of lists each row is an `item`. A list value is an element per entry, null
//! an empty element. Names that XML can't have get `_` for the characters in the way.

use quick_xml::{
    Writer,
    events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event},
};
use serde_json::Value;
use waymark_core::{Error, Result};

const ROOT: &str = "data";
const ROW: &str = "item";

pub(super) fn rows(rows: &[Value], first: bool, out: &mut Vec<u8>) -> Result<()> {
    let mut writer = Writer::new(out);
    if first {
        begin(&mut writer)?;
    }
    rows.iter().try_for_each(|row| element(&mut writer, ROW, row))
}

pub(super) fn end(started: bool, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    // Writing to a Vec can't fail.
    if !started {
        let _ = begin(&mut writer);
    }
    let _ = writer.write_event(Event::End(BytesEnd::new(ROOT)));
}

pub(super) fn one(value: &Value, out: &mut Vec<u8>) -> Result<()> {
    let mut writer = Writer::new(out);
    declaration(&mut writer)?;
    element(&mut writer, ROOT, value)
}

fn begin(writer: &mut Writer<&mut Vec<u8>>) -> Result<()> {
    declaration(writer)?;
    writer.write_event(Event::Start(BytesStart::new(ROOT))).map_err(Error::internal)
}

fn declaration(writer: &mut Writer<&mut Vec<u8>>) -> Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None))).map_err(Error::internal)?;
    writer.get_mut().push(b'\n');
    Ok(())
}

fn element(writer: &mut Writer<&mut Vec<u8>>, name: &str, value: &Value) -> Result<()> {
    let name = legal_name(name);
    let event = |writer: &mut Writer<&mut Vec<u8>>, event| writer.write_event(event).map_err(Error::internal);
    match value {
        Value::Null => event(writer, Event::Empty(BytesStart::new(name.as_str()))),
        Value::Array(items) => items.iter().try_for_each(|item| element(writer, &name, item)),
        Value::Object(members) => {
            event(writer, Event::Start(BytesStart::new(name.as_str())))?;
            members.iter().try_for_each(|(name, value)| element(writer, name, value))?;
            event(writer, Event::End(BytesEnd::new(name.as_str())))
        }
        plain => {
            let text = match plain {
                Value::String(text) => legal_text(text),
                other => other.to_string(),
            };
            event(writer, Event::Start(BytesStart::new(name.as_str())))?;
            event(writer, Event::Text(BytesText::new(&text)))?;
            event(writer, Event::End(BytesEnd::new(name.as_str())))
        }
    }
}

/// <https://www.w3.org/TR/xml/#NT-Name>, without the colon: it would name a namespace.
fn legal_name(name: &str) -> String {
    let start = |c: char| {
        matches!(c, '_' | 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
            | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}'
            | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
            | '\u{10000}'..='\u{effff}')
    };
    let further =
        |c: char| matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}');
    let legal = |c: char| start(c) || further(c);
    let mut out: String = name.chars().map(|c| if legal(c) { c } else { '_' }).collect();
    if !out.starts_with(start) {
        out.insert(0, '_');
    }
    out
}

/// <https://www.w3.org/TR/xml/#NT-Char>: most control characters can't be written at all.
fn legal_text(text: &str) -> String {
    let legal = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    text.chars().map(|c| if legal(c) { c } else { '\u{fffd}' }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_become_elements() {
        let mut out = Vec::new();
        let list = [json!({"id": 1, "a²b": "x < y & \"z\"\u{1}", "tags": ["p", "q"], "none": null, "0": {"in": true}})];
        rows(&list, true, &mut out).expect("written");
        end(true, &mut out);
        let wanted = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<data><item><id>1</id>\
            <a_b>x &lt; y &amp; &quot;z&quot;\u{fffd}</a_b><tags>p</tags><tags>q</tags><none/>\
            <_0><in>true</in></_0></item></data>";
        assert_eq!(String::from_utf8_lossy(&out), wanted);
    }

    #[test]
    fn an_empty_list_is_an_empty_document() {
        let mut out = Vec::new();
        end(false, &mut out);
        assert!(String::from_utf8_lossy(&out).ends_with("<data></data>"));
    }
}
