//! Keys of roles: stable names made of `a-z`, `0-9` and `_`.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Characters of a key at most, with room for a number behind it.
const LONGEST: usize = 240;

/// The key that a name stands for: without diacritics, lower case, words joined by single
/// underscores, beginning with a letter; `role` when nothing remains.
#[must_use]
pub(super) fn derive(name: &str) -> String {
    let mut key = String::with_capacity(name.len());
    for character in name.nfkd().filter(|character| !is_combining_mark(*character)).flat_map(char::to_lowercase) {
        match character {
            'a'..='z' => key.push(character),
            '0'..='9' if !key.is_empty() => key.push(character),
            '_' if !key.is_empty() && !key.ends_with('_') => key.push('_'),
            space if space.is_whitespace() && !key.is_empty() && !key.ends_with('_') => key.push('_'),
            _ => {}
        }
        if key.len() >= LONGEST {
            break;
        }
    }
    if key.is_empty() { "role".to_owned() } else { key }
}

/// Whether a key given by a client is one already.
#[must_use]
pub(super) fn is_normal(key: &str) -> bool {
    !key.is_empty() && derive(key) == key
}

/// The key itself, or with the first number from 2 that makes it free.
#[must_use]
pub(super) fn numbered(key: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(key) {
        return key.to_owned();
    }
    let mut number = 2_u64;
    loop {
        let candidate = format!("{key}_{number}");
        if !is_taken(&candidate) {
            return candidate;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_keys() {
        for (name, key) in [
            ("Administrator", "administrator"),
            ("Chef d'Équipe", "chef_dequipe"),
            ("  Sales\tTeam", "sales_team"),
            ("A  __ b", "a_b"),
            ("12 Monkeys", "monkeys"),
            ("__x", "x"),
            ("ﬁne", "fine"),
            ("日本", "role"),
            ("", "role"),
            ("42", "role"),
        ] {
            assert_eq!(derive(name), key, "{name}");
            assert!(is_normal(key));
        }
        for key in ["", "A", "a b", "a__b", "1a", "é", "_a"] {
            assert!(!is_normal(key), "{key}");
        }
    }

    #[test]
    fn taken_keys_get_a_number() {
        let taken = ["a", "a_2", "b"];
        assert_eq!(numbered("a", |key| taken.contains(&key)), "a_3");
        assert_eq!(numbered("c", |key| taken.contains(&key)), "c");
    }
}
