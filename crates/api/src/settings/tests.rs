//! Settings as operators write them.

use std::time::Duration;

use super::{Problems, Settings, Source, manual, parse, security::Network};

fn read<'a>(values: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Settings, Problems> {
    let base = [("DB_CLIENT", "sqlite3"), ("DB_FILENAME", "x.db"), ("KEY", "k"), ("SECRET", "s")];
    Settings::read(&Source::of_values(base.into_iter().chain(values)).expect("layers"))
}

#[test]
fn defaults_are_complete() {
    let settings = read([]).expect("usable");
    assert_eq!(settings.general.port, 8055);
    assert_eq!(settings.general.max_payload_size, 1024 * 1024);
    assert_eq!(settings.general.robots_txt, "User-agent: *\nDisallow: /");
    assert_eq!(settings.general.root_redirect.as_deref(), Some("./admin"));
    assert_eq!(settings.security.access_token_ttl, Duration::from_secs(900));
    assert_eq!(settings.security.refresh_token_ttl, Duration::from_secs(7 * 86_400));
    assert_eq!(settings.security.cookie.name, "waymark_refresh_token");
    assert_eq!(settings.security.ip_custom_header, None);
    assert_eq!(settings.database.exclude_tables, ["spatial_ref_sys", "sysdiagrams"]);
    assert_eq!(settings.query.limits.max_limit, None);
}

#[test]
fn every_problem_is_told_at_once_without_the_value() {
    let values = [("DB_CLIENT", "oracle9"), ("PORT", "70000"), ("ACCESS_TOKEN_TTL", "soon"), ("SECRET", "")];
    let problems = read(values).expect_err("unusable").0;
    for name in ["DB_CLIENT", "PORT", "ACCESS_TOKEN_TTL", "SECRET"] {
        assert_eq!(problems.iter().filter(|line| line.starts_with(name)).count(), 1, "{name}: {problems:?}");
    }
    assert!(problems.iter().all(|line| line.contains("accepted: ") && !line.contains('\n')), "{problems:?}");
    assert!(!problems.concat().contains("oracle9"));
}

#[test]
fn secrets_do_not_show() {
    let settings = read([("SECRET", "hidden-one"), ("ADMIN_PASSWORD", "hidden-two")]).expect("usable");
    let shown = format!("{settings:?}");
    assert!(!shown.contains("hidden-"), "{shown}");
    assert_eq!(settings.security.secret.reveal(), "hidden-one");
    assert!(manual::is_secret("DB_PASSWORD"));
}

#[test]
fn type_prefixes_force_a_type() {
    let settings =
        read([("SECRET", "string:0123"), ("PORT", "number:9000"), ("CORS_METHODS", "array:GET,string:POST")]);
    let settings = settings.expect("usable");
    assert_eq!(settings.security.secret.reveal(), "0123");
    assert_eq!(settings.general.port, 9000);
    assert_eq!(settings.cors.methods, ["GET", "POST"]);
    let settings = read([("CORS_METHODS", r#"json:["GET","SEARCH"]"#)]).expect("usable");
    assert_eq!(settings.cors.methods, ["GET", "SEARCH"]);
}

#[test]
fn secrets_come_from_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("secret");
    std::fs::write(&path, "from a file\n").expect("written");
    let path = path.to_str().expect("UTF-8");
    let base = [("DB_CLIENT", "sqlite3"), ("DB_FILENAME", "x.db"), ("KEY", "k")];
    let source = Source::of_values(base.into_iter().chain([("SECRET_FILE", path)])).expect("layers");
    assert_eq!(Settings::read(&source).expect("usable").security.secret.reveal(), "from a file");
    let both = read([("SECRET_FILE", path)]).expect_err("unusable").0;
    assert!(both.iter().any(|line| line.contains("SECRET_FILE")), "{both:?}");
    let missing = Source::of_values(base.into_iter().chain([("SECRET_FILE", "/nowhere/secret")])).expect("layers");
    assert!(Settings::read(&missing).is_err());
}

#[test]
fn urls_are_built_from_parts() {
    let parts = [
        ("DB_CLIENT", "pg"),
        ("DB_HOST", "db"),
        ("DB_DATABASE", "blog"),
        ("DB_USER", "me"),
        ("DB_PASSWORD", "p@ss/word"),
    ];
    assert_eq!(read(parts).expect("usable").database.url.reveal(), "postgres://me:p%40ss%2Fword@db:5432/blog");
    let url = [("DB_CLIENT", "mysql"), ("DB_CONNECTION_STRING", "mysql://me@db/blog")];
    assert_eq!(read(url).expect("usable").database.url.reveal(), "mysql://me@db/blog");
    assert!(read([("DB_CLIENT", "pg"), ("DB_CONNECTION_STRING", "mysql://me@db/blog")]).is_err());
}

#[test]
fn durations_and_sizes() {
    assert_eq!(parse::duration("15m"), Some(Duration::from_secs(900)));
    assert_eq!(parse::duration("500ms"), Some(Duration::from_millis(500)));
    assert_eq!(parse::duration("1000"), Some(Duration::from_secs(1)));
    assert_eq!(parse::duration("1.5 hours"), Some(Duration::from_secs(5400)));
    assert_eq!(parse::duration("-1"), None);
    assert_eq!(parse::duration("soon"), None);
    assert_eq!(parse::size("1mb"), Some(1_048_576));
    assert_eq!(parse::size("1.5kb"), Some(1536));
    assert_eq!(parse::size("12"), Some(12));
    assert_eq!(parse::size("much"), None);
}

#[test]
fn networks_hold_their_addresses() {
    let ten = Network::parse("10.0.0.0/8").expect("a network");
    assert!(ten.iter().any(|network| network.contains("10.200.3.4".parse().expect("an address"))));
    assert!(!ten.iter().any(|network| network.contains("11.0.0.1".parse().expect("an address"))));
    let all = Network::parse("0.0.0.0/0").expect("a network");
    assert!(all.iter().all(|network| network.contains("203.0.113.1".parse().expect("an address"))));
    assert!(Network::parse("10.0.0.0/33").is_none());
    assert!(Network::parse("here").is_none());
}
