//! Which package may use which: by what the packages declare, and by what their sources name.

use std::{collections::BTreeSet, process::Command};

use serde_json::Value;
use waymark_tests::sources;

struct Rule {
    package: &'static str,
    folder: &'static str,
    /// Packages of the workspace that may be used.
    ours: &'static [&'static str],
    /// Beginnings of names of foreign crates that must not be used.
    never: &'static [&'static str],
}

/// A new package needs a line here.
const RULES: &[Rule] = &[
    Rule {
        package: "waymark-core",
        folder: "crates/core",
        ours: &[],
        never: &["actix", "redis", "async-graphql", "async-nats", "figment", "clap", "tracing-subscriber", "reqwest"],
    },
    Rule {
        package: "waymark-messenger",
        folder: "crates/messenger",
        ours: &[],
        never: &["actix", "async-graphql", "figment", "clap", "sea-", "sqlx", "reqwest"],
    },
    Rule {
        package: "waymark-schedule",
        folder: "crates/schedule",
        ours: &[],
        never: &["actix", "async-graphql", "figment", "clap", "sea-", "sqlx", "reqwest"],
    },
    Rule {
        package: "waymark-rig",
        folder: "tests/rig",
        ours: &[],
        never: &["actix", "redis", "async-graphql", "async-nats", "figment", "clap", "sea-", "sqlx", "reqwest"],
    },
    Rule {
        package: "waymark-migrations",
        folder: "migrations",
        ours: &[],
        never: &["actix", "redis", "async-graphql", "async-nats", "figment", "clap", "reqwest"],
    },
    Rule {
        package: "waymark-api",
        folder: "crates/api",
        ours: &["waymark-core", "waymark-messenger", "waymark-migrations", "waymark-schedule"],
        never: &["actix-governor", "openssl"],
    },
    Rule {
        package: "waymark-tests",
        folder: "tests",
        ours: &[
            "waymark-api",
            "waymark-core",
            "waymark-messenger",
            "waymark-migrations",
            "waymark-rig",
            "waymark-schedule",
        ],
        never: &[],
    },
    Rule { package: "waymark-benches", folder: "benches", ours: &["waymark-api", "waymark-core"], never: &[] },
];

/// Crates that only one place of a package may name.
const ROOMS: &[(&str, &str, &[&str])] = &[
    ("crates/api", "figment", &["crates/api/src/settings/"]),
    ("crates/api", "waymark-messenger", &["crates/api/src/replicas/"]),
    ("crates/messenger", "async-nats", &["crates/messenger/src/nats"]),
    ("crates/schedule", "async-nats", &["crates/schedule/src/coordinator/nats/"]),
    ("crates/schedule", "croner", &["crates/schedule/src/cron.rs"]),
    ("crates/api", "clap", &["crates/api/src/cli/", "crates/api/src/main.rs"]),
    ("crates/core", "argon2", &["crates/core/src/auth/", "crates/core/src/payload/"]),
    ("crates/core", "jsonwebtoken", &["crates/core/src/auth/"]),
];

fn packages() -> Vec<Value> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(sources::root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON of cargo");
    metadata["packages"].as_array().cloned().expect("packages")
}

#[test]
fn packages_declare_only_what_they_may_use() {
    let mut broken = Vec::new();
    let mut seen = BTreeSet::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap_or_default().to_owned();
        let Some(rule) = RULES.iter().find(|rule| rule.package == name) else {
            broken.push(format!("{name} has no rule"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let used = dependency["name"].as_str().unwrap_or_default();
            let ours = used.starts_with("waymark-");
            // Unit tests of the engine need the system tables, those of the stores what breaks them.
            let for_tests = dependency["kind"] == "dev" && ["waymark-migrations", "waymark-rig"].contains(&used);
            if ours && !rule.ours.contains(&used) && !for_tests
                || rule.never.iter().any(|start| used.starts_with(start))
            {
                broken.push(format!("{name} must not use {used}"));
            }
        }
        seen.insert(name);
    }
    broken.extend(
        RULES.iter().filter(|rule| !seen.contains(rule.package)).map(|rule| format!("{} is gone", rule.package)),
    );
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn sources_name_only_what_they_may_use() {
    let mut broken = Vec::new();
    for rule in RULES {
        for source in sources::under(rule.folder) {
            for (number, line) in source.text.lines().enumerate() {
                let line = line.trim_start();
                if line.starts_with("//") {
                    continue;
                }
                for other in RULES.iter().filter(|other| other.package != rule.package) {
                    let for_examples = other.package == "waymark-rig" && source.path.contains("/examples/");
                    if names(line, other.package) && !rule.ours.contains(&other.package) && !for_examples {
                        broken.push(format!("{}:{} names {}", source.path, number + 1, other.package));
                    }
                }
                for never in rule.never.iter().filter(|never| line.starts_with("use ") && names(line, never)) {
                    broken.push(format!("{}:{} names {never}", source.path, number + 1));
                }
                for (folder, only, rooms) in ROOMS {
                    let allowed = rooms.iter().any(|room| source.path.starts_with(room));
                    if rule.folder == *folder && names(line, only) && !allowed {
                        broken.push(format!("{}:{} names {only}", source.path, number + 1));
                    }
                }
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

/// Whether a line of code names a crate, as `use krate` or `krate::`.
fn names(line: &str, package: &str) -> bool {
    let krate = package.replace('-', "_");
    line.match_indices(&krate).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let after = line.get(at + krate.len()..).unwrap_or_default();
        let begins = before.is_none_or(|before| !before.is_alphanumeric() && before != '_' && before != ':');
        begins
            && (after.starts_with("::")
                || line.starts_with("use ") && line.get(4..).is_some_and(|used| used.starts_with(&krate)))
    })
}

#[test]
fn names_are_told_apart() {
    assert!(names("use figment::Figment;", "figment"));
    assert!(names("use actix_web::web;", "actix"));
    assert!(names("let a = waymark_core::Error::new();", "waymark-core"));
    assert!(!names("let configment = 1;", "figment"));
    assert!(!names("self::clap::x", "clap"));
}
