//! Regular expressions as rules write them (ECMAScript, optionally between slashes, without flags)
//! in the terms of our engine, which runs in linear time and therefore knows no look-around and no
//! back-references.

use regex::Regex;

/// Compiles a rule's pattern; `None` when it can't be.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    let bare = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).unwrap_or(pattern);
    Regex::new(&translate(bare)).ok()
}

/// ASCII meaning of `\d` and `\w`; inside classes, characters that only our engine gives a meaning.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut in_class = false;
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('d') => out.push_str("[0-9]"),
                Some('D') => out.push_str("[^0-9]"),
                Some('w') => out.push_str("[A-Za-z0-9_]"),
                Some('W') => out.push_str("[^A-Za-z0-9_]"),
                Some(escaped) => out.extend(['\\', escaped]),
                None => out.push('\\'),
            },
            '[' if !in_class => {
                in_class = true;
                out.push('[');
                if characters.peek() == Some(&'^') {
                    characters.next();
                    out.push('^');
                }
            }
            ']' => {
                in_class = false;
                out.push(']');
            }
            '[' | '&' | '~' if in_class => out.extend(['\\', character]),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn slashes_classes_and_ascii() {
        assert!(compile("/^a+$/").unwrap().is_match("aa"));
        assert!(compile(r"^[a-z]{3}-\d+$").unwrap().is_match("abc-12"));
        assert!(!compile(r"^\d$").unwrap().is_match("٣"));
        assert!(compile(r"^[\w.&&-]+$").unwrap().is_match("a_.&-"));
        assert!(compile(r"^[[]$").unwrap().is_match("["));
        assert!(compile(r"^a\/b$").unwrap().is_match("a/b"));
    }

    #[test]
    fn what_is_not_supported_is_not_guessed() {
        for pattern in ["(?=a)b", r"(a)\1", "(", "[z-a]"] {
            assert!(compile(pattern).is_none(), "{pattern}");
        }
    }
}
