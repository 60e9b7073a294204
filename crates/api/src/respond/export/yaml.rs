//! YAML 1.2. A list in parts is its parts one after the other.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;
use waymark_core::{Error, Result};

pub(super) trait Yaml {
    fn serializable(&self) -> impl Serialize;
}

impl Yaml for [Value] {
    fn serializable(&self) -> impl Serialize {
        Nodes(self)
    }
}

impl Yaml for Value {
    fn serializable(&self) -> impl Serialize {
        Node(self)
    }
}

/// Adds a document, or rows to one.
pub(super) fn append(value: &(impl Yaml + ?Sized), out: &mut Vec<u8>) -> Result<()> {
    let text = serde_saphyr::to_string(&value.serializable()).map_err(Error::internal)?;
    out.extend_from_slice(text.as_bytes());
    if !text.ends_with('\n') {
        out.push(b'\n');
    }
    Ok(())
}

/// A JSON value for other formats: serde_json keeps numbers as text, which only itself understands.
struct Node<'v>(&'v Value);

struct Nodes<'v>(&'v [Value]);

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Node))
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(flag) => serializer.serialize_bool(*flag),
            Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(whole), _, _) => serializer.serialize_i64(whole),
                (_, Some(whole), _) => serializer.serialize_u64(whole),
                // More digits than a float holds stay as they are, as a text.
                (_, _, Some(float)) if float.is_finite() && number.to_string().len() <= 17 => {
                    serializer.serialize_f64(float)
                }
                _ => serializer.serialize_str(&number.to_string()),
            },
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(items) => Nodes(items).serialize(serializer),
            Value::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, &Node(value))?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_make_one_list() {
        let mut out = Vec::new();
        append([json!({"id": 11, "title": "amber"})].as_slice(), &mut out).expect("written");
        append([json!({"id": 12, "big": 9007199254740993_i64, "f": 1.5, "l": []})].as_slice(), &mut out)
            .expect("written");
        assert_eq!(
            String::from_utf8_lossy(&out),
            "- id: 11\n  title: amber\n- id: 12\n  big: 9007199254740993\n  f: 1.5\n  l: []\n"
        );
    }

    #[test]
    fn texts_that_look_like_other_values_stay_texts() {
        let value = json!({"a": "yes", "b": "1e3", "c": "null", "d": "x: y # z", "e": "", "f": "two\nlines"});
        let mut out = Vec::new();
        append(&value, &mut out).expect("written");
        let wanted = "a: \"yes\"\nb: \"1e3\"\nc: \"null\"\nd: \"x: y # z\"\ne: \"\"\nf: |-\n  two\n  lines\n";
        assert_eq!(String::from_utf8_lossy(&out), wanted);
    }
}
