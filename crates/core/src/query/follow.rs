//! `$FOLLOW(collection,field)`: a relation against its direction, without an alias field for it. The
//! rows of that collection whose field points here; with a third name, the field that names the
//! collection (many-to-any).

use crate::error::{Error, Result};

/// Characters of such a step.
const MOST_CHARACTERS: usize = 500;
const PREFIX: &str = "$FOLLOW(";

/// The parts of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follow<'t> {
    pub collection: &'t str,
    pub field: &'t str,
    /// The field that names the collection.
    pub discriminator: Option<&'t str>,
}

/// Whether a name is meant as such a step.
#[must_use]
pub fn is_follow(name: &str) -> bool {
    name.starts_with("$FOLLOW")
}

/// The step's parts.
///
/// # Errors
/// `INVALID_QUERY` when it is malformed or too long.
pub fn parse(name: &str) -> Result<Follow<'_>> {
    let malformed = || Error::invalid_query("\"$FOLLOW\" takes a collection and a field.");
    if name.chars().nth(MOST_CHARACTERS).is_some() {
        return Err(Error::invalid_query(format!("\"$FOLLOW\" takes at most {MOST_CHARACTERS} characters.")));
    }
    let inner = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(')')).ok_or_else(malformed)?;
    let mut parts = inner.split(',').map(str::trim);
    let (Some(collection), Some(field), discriminator, None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(malformed());
    };
    if collection.is_empty() || field.is_empty() || discriminator == Some("") {
        return Err(malformed());
    }
    Ok(Follow { collection, field, discriminator })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_two_or_three_parts() {
        let two = Follow { collection: "tracks", field: "album", discriminator: None };
        assert_eq!(parse("$FOLLOW(tracks,album)").expect("two parts"), two);
        assert_eq!(parse("$FOLLOW(tracks, album)").expect("spaces"), two);
        let three = Follow { collection: "blocks", field: "item", discriminator: Some("kind") };
        assert_eq!(parse("$FOLLOW(blocks,item,kind)").expect("three parts"), three);
        let long = format!("$FOLLOW({},x)", "a".repeat(500));
        for wrong in [
            "$FOLLOW",
            "$FOLLOW()",
            "$FOLLOW(a)",
            "$FOLLOW(a,)",
            "$FOLLOW(a,b,)",
            "$FOLLOW(a,b,c,d)",
            "$FOLLOW(a,b",
            &long,
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
