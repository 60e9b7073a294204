//! Where the server's own rights are taken. `tests/authority.list` holds every place with its reason;
//! a new one is a decision to be made in review.

use std::{collections::BTreeMap, fs};

use waymark_tests::sources;

const CALLS: &[&str] = &["Actor::system(", ".elevated(", ".system_context("];

/// Calls per file, in the order of [`CALLS`] names.
fn found() -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for source in sources::under("crates") {
        let lines = source.text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let calls: usize = lines.map(|line| CALLS.iter().map(|call| line.matches(call).count()).sum::<usize>()).sum();
        if calls > 0 {
            found.insert(source.path, calls);
        }
    }
    found
}

#[test]
fn every_use_of_the_servers_own_rights_is_listed() {
    let text = fs::read_to_string(sources::root().join("tests/authority.list")).expect("tests/authority.list");
    let mut listed = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (Some(calls), Some(path)) = (words.next(), words.next()) else { panic!("not a line of the list: {line}") };
        assert!(words.next().is_some(), "{path} is listed without a reason");
        listed.insert(path.to_owned(), calls.parse::<usize>().expect("a number of calls"));
    }
    assert_eq!(found(), listed, "left: in the sources, right: in tests/authority.list");
}
