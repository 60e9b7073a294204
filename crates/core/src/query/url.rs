//! Query strings with brackets (`filter[_or][0][n][_eq]=1`) → one JSON object of strings, arrays and
//! objects. Linear in the length of the text. What the names mean stands in `parse`.

use indexmap::IndexMap;
use percent_encoding::percent_decode;
use serde_json::{Map, Value};

use super::{QueryLimits, functions::shorten};
use crate::error::{Error, Result};

/// Parameters one query string may have.
const MOST_PARAMETERS: usize = 1000;

/// A value while it is being put together.
enum Node {
    Text(String),
    /// By key; `next` is the index the next `[]` gets.
    Branch {
        entries: IndexMap<String, Node>,
        next: usize,
    },
}

impl Node {
    fn branch() -> Self {
        Node::Branch { entries: IndexMap::new(), next: 0 }
    }
}

/// Reads a raw (still percent-encoded) query string.
///
/// # Errors
/// `INVALID_QUERY`: too many parameters, too deep, not UTF-8, a name used as value and as object.
pub fn parse(raw: &str, limits: &QueryLimits) -> Result<Map<String, Value>> {
    let mut root = Node::branch();
    for (count, pair) in raw.split('&').filter(|pair| !pair.is_empty()).enumerate() {
        if count >= MOST_PARAMETERS {
            return Err(Error::invalid_query(format!("More than {MOST_PARAMETERS} parameters.")));
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decode(name)?, decode(value)?);
        let path = split_name(&name, limits.parse_depth)?;
        insert(&mut root, &path, value, &name)?;
    }
    match into_json(root, limits.array_limit, true) {
        Value::Object(map) => Ok(map),
        _ => Ok(Map::new()),
    }
}

fn decode(text: &str) -> Result<String> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode(spaced.as_bytes())
        .decode_utf8()
        .map_err(|_| Error::invalid_query("A query parameter is not valid UTF-8."))?;
    if decoded.contains('\0') {
        return Err(Error::invalid_query("A query parameter contains a NUL character."));
    }
    Ok(decoded.into_owned())
}

/// `a[b][]` → `a`, `b`, `` (empty = next index).
fn split_name(name: &str, depth: usize) -> Result<Vec<&str>> {
    let Some(open) = name.find('[').filter(|open| *open > 0) else { return Ok(vec![name]) };
    let (first, mut rest) = name.split_at(open);
    let mut path = vec![first];
    while let Some(inner) = rest.strip_prefix('[') {
        let Some((key, after)) = inner.split_once(']') else {
            return Err(Error::invalid_query(format!("Unclosed bracket in \"{}\".", shorten(name))));
        };
        if path.len() > depth {
            return Err(Error::invalid_query(format!("\"{first}\" is nested deeper than {depth} levels.")));
        }
        path.push(key);
        rest = after;
    }
    if rest.is_empty() {
        Ok(path)
    } else {
        Err(Error::invalid_query(format!("Text after a bracket in \"{}\".", shorten(name))))
    }
}

fn insert(root: &mut Node, path: &[&str], value: String, name: &str) -> Result<()> {
    let conflict = || Error::invalid_query(format!("\"{}\" is both a value and an object.", shorten(name)));
    let mut node = root;
    for (position, key) in path.iter().enumerate() {
        let last = position + 1 == path.len();
        let Node::Branch { entries, next } = node else { return Err(conflict()) };
        let key = if key.is_empty() && position > 0 {
            let index = *next;
            *next = next.saturating_add(1);
            index.to_string()
        } else {
            if let Ok(index) = key.parse::<usize>() {
                *next = (*next).max(index.saturating_add(1));
            }
            (*key).to_owned()
        };
        if last {
            match entries.entry(key) {
                indexmap::map::Entry::Vacant(entry) => {
                    entry.insert(Node::Text(value));
                }
                // A repeated parameter makes a list.
                indexmap::map::Entry::Occupied(mut entry) => match entry.get_mut() {
                    Node::Branch { entries, next } => {
                        entries.insert(next.to_string(), Node::Text(value));
                        *next = next.saturating_add(1);
                    }
                    Node::Text(first) => {
                        let first = std::mem::take(first);
                        let entries =
                            IndexMap::from([("0".to_owned(), Node::Text(first)), ("1".to_owned(), Node::Text(value))]);
                        entry.insert(Node::Branch { entries, next: 2 });
                    }
                },
            }
            return Ok(());
        }
        node = entries.entry(key).or_insert_with(Node::branch);
    }
    Ok(())
}

/// Branches whose keys are all indexes (up to the limit) are arrays, in index order.
fn into_json(node: Node, array_limit: usize, root: bool) -> Value {
    match node {
        Node::Text(text) => Value::String(text),
        Node::Branch { entries, .. } => {
            let indexed = !root
                && !entries.is_empty()
                && entries.keys().all(|key| key.parse::<usize>().is_ok_and(|index| index <= array_limit));
            if indexed {
                let mut items: Vec<(usize, Value)> = entries
                    .into_iter()
                    .map(|(key, node)| (key.parse().unwrap_or(usize::MAX), into_json(node, array_limit, false)))
                    .collect();
                items.sort_by_key(|(index, _)| *index);
                Value::Array(items.into_iter().map(|(_, value)| value).collect())
            } else {
                let map = entries.into_iter().map(|(key, node)| (key, into_json(node, array_limit, false)));
                Value::Object(map.collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(raw: &str) -> Value {
        Value::Object(parse(raw, &QueryLimits::default()).unwrap())
    }

    #[test]
    fn brackets_lists_and_repeats() {
        assert_eq!(read("a[b][c]=1&a[b][d]=x%20y"), json!({"a": {"b": {"c": "1", "d": "x y"}}}));
        assert_eq!(read("a[]=1&a[]=2"), json!({"a": ["1", "2"]}));
        assert_eq!(read("a[1]=y&a[0]=x"), json!({"a": ["x", "y"]}));
        assert_eq!(read("a=1&a=2&a=3"), json!({"a": ["1", "2", "3"]}));
        assert_eq!(read("a[900]=x"), json!({"a": {"900": "x"}}));
        assert_eq!(read("a&b="), json!({"a": "", "b": ""}));
    }

    #[test]
    fn refuses_what_has_no_meaning() {
        let limits = QueryLimits::default();
        let deep = format!("a{}=1", "[b]".repeat(1000));
        let many = "a=1&".repeat(1001);
        for raw in ["a=1&a[b]=2", "a[b=1", "a[b]c=1", "a=%ff", "a=%00", &deep, &many] {
            assert!(parse(raw, &limits).is_err(), "{raw:.40}");
        }
    }
}
