//! The manual of the settings, made from `default.toml`: what `docs/CONFIG.md` holds and what
//! `config print` lists.

use super::source::DEFAULTS;

/// One setting as the manual describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManualEntry {
    pub name: &'static str,
    pub section: &'static str,
    pub description: String,
    /// As it stands in the file; of settings without a default: an example.
    pub value: &'static str,
    pub has_default: bool,
}

/// All settings in the order of the manual.
#[must_use]
pub fn entries() -> Vec<ManualEntry> {
    let mut entries = Vec::new();
    let (mut section, mut description) = ("", String::new());
    for line in DEFAULTS.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
            description.clear();
        } else if let Some(text) = line.strip_prefix("# ") {
            description.push_str(if description.is_empty() { "" } else { " " });
            description.push_str(text);
        } else if let Some((name, value)) = line.strip_prefix('#').unwrap_or(line).split_once(" = ") {
            let description = std::mem::take(&mut description);
            entries.push(ManualEntry { name, section, description, value, has_default: !line.starts_with('#') });
        } else {
            description.clear();
        }
    }
    entries
}

/// Whether a value must not be shown.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    matches!(
        name,
        "KEY"
            | "SECRET"
            | "DB_PASSWORD"
            | "DB_CONNECTION_STRING"
            | "ADMIN_PASSWORD"
            | "MESSENGER_REDIS"
            | "MESSENGER_REDIS_PASSWORD"
            | "MESSENGER_NATS"
            | "MESSENGER_NATS_PASSWORD"
            | "MESSENGER_NATS_TOKEN"
    )
}

/// The text of `docs/CONFIG.md`.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from("# Settings\n\n");
    text.push_str("Made from `crates/api/src/settings/default.toml` by `waymark config manual`.\n");
    let introduction = DEFAULTS.split("\n## ").next().unwrap_or_default();
    for paragraph in introduction.split("\n#\n") {
        let lines: Vec<&str> = paragraph.lines().map(|line| line.trim_start_matches('#').trim()).collect();
        text.push_str(&format!("\n{}\n", lines.join("\n").trim()));
    }
    let mut section = "";
    for entry in entries() {
        if entry.section != section {
            section = entry.section;
            text.push_str(&format!("\n## {section}\n\n| Name | Default | Meaning |\n|---|---|---|\n"));
        }
        let default = if entry.has_default {
            format!("`{}`", entry.value.trim_matches('"').replace('|', "\\|"))
        } else {
            format!("– (`{}`)", entry.value.trim_matches('"').replace('|', "\\|"))
        };
        text.push_str(&format!("| `{}` | {default} | {} |\n", entry.name, entry.description.replace('|', "\\|")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_on_disk_is_the_one_made_here() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/CONFIG.md");
        let on_disk = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(on_disk, markdown(), "run `waymark config manual > docs/CONFIG.md`");
    }

    #[test]
    fn every_setting_is_described() {
        let entries = entries();
        assert!(entries.len() > 50);
        for entry in entries {
            assert!(!entry.description.is_empty(), "{}", entry.name);
        }
    }
}
