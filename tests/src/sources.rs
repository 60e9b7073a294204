//! The project's own sources, for tests of its rules.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A Rust file of the product, without its unit tests.
#[derive(Clone, Debug)]
pub struct Source {
    /// Relative to the root, with `/`.
    pub path: String,
    pub text: String,
}

/// The root of the checkout.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// All Rust files under a folder, in order. Files named `tests.rs` or `…_tests.rs`, folders named `tests` and what
/// stands from a `#[cfg(test)] mod …` on are left out.
///
/// # Panics
/// When a file can't be read.
#[must_use]
pub fn under(folder: &str) -> Vec<Source> {
    let mut found = Vec::new();
    collect(&root().join(folder), &mut found);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn collect(folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if name != "target" && name != "tests" {
                collect(&path, found);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" && !name.ends_with("_tests.rs") {
            let text = fs::read_to_string(&path).expect("a readable source");
            let text = without_tests(&text);
            let path = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            found.push(Source { path, text });
        }
    }
}

/// Unit tests stand at the end of a file.
fn without_tests(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut rest = text.lines().peekable();
    while let Some(line) = rest.next() {
        let opens = rest.peek().is_some_and(|next| next.starts_with("mod ") && next.ends_with('{'));
        if line.trim() == "#[cfg(test)]" && opens {
            break;
        }
        lines.push(line);
    }
    lines.join("\n")
}
