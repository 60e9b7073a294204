//! The `waymark` command as an operator meets it. That these tests need the binary is also what makes
//! `cargo nextest run --workspace` build it, with the same features as everything else.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in what its tests share")]

use std::process::{Command, Output};

fn waymark(arguments: &[&str], settings: &[(&str, &str)]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_waymark"))
        .args(arguments)
        .env_clear()
        .envs(settings.iter().copied())
        .current_dir(directory.path())
        .output()
        .unwrap()
}

#[test]
fn help_names_the_commands() {
    let output = waymark(&["--help"], &[]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for command in ["serve", "bootstrap", "demo", "users", "roles", "count", "config", "healthcheck"] {
        assert!(text.contains(command), "{command} is missing in: {text}");
    }
}

#[test]
fn bad_settings_stop_the_start_with_a_line_each() {
    let settings = [("DB_CLIENT", "oracle"), ("PORT", "many"), ("SECRET", "s3cret-value"), ("KEY", "key")];
    let output = waymark(&["serve"], &settings);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.lines().any(|line| line.contains("DB_CLIENT")), "{text}");
    assert!(text.lines().any(|line| line.contains("PORT")), "{text}");
    assert!(!text.contains("s3cret-value"), "{text}");
}

#[test]
fn printed_settings_hide_secrets() {
    let output = waymark(&["config", "print"], &[("SECRET", "s3cret-value"), ("DB_PASSWORD", "also-s3cret")]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("SECRET"), "{text}");
    assert!(!text.contains("s3cret"), "{text}");
}
