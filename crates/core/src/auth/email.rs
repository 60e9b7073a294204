//! The syntax of e-mail addresses, as far as it is worth checking before a mail is sent.

/// Whether a text is an e-mail address whose domain has at least so many labels. Quoted local parts
/// and literal addresses are not taken.
#[must_use]
pub fn is_address(text: &str, least_labels: usize) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let dotted = |part: &str, fits: fn(&str) -> bool| part.split('.').all(|atom| !atom.is_empty() && fits(atom));
    text.chars().count() <= 254
        && local.len() <= 64
        && dotted(local, |atom| atom.chars().all(is_atom_character))
        && domain.split('.').count() >= least_labels
        && dotted(domain, is_label)
}

fn is_atom_character(character: char) -> bool {
    character.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(character)
}

fn is_label(label: &str) -> bool {
    label.len() <= 63
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.chars().all(|character| character.is_alphanumeric() || character == '-')
}

#[cfg(test)]
mod tests {
    use super::is_address;

    #[test]
    fn addresses_are_told_from_other_texts() {
        for text in ["a@b.org", "A.b+c_d'e@x-y.example.com", "jörg@müller.example", "1@2.de"] {
            assert!(is_address(text, 2), "{text}");
        }
        for text in [
            "",
            "a",
            "@",
            "a@",
            "@b.org",
            "no address x",
            "a b@c.de",
            "a@b..org",
            ".a@b.org",
            "a.@b.org",
            "a@-b.org",
            "a@b@c.org",
            "a@b.org\n",
            "a@b",
        ] {
            assert!(!is_address(text, 2), "{text}");
        }
        assert!(is_address("admin@localhost", 1));
    }
}
