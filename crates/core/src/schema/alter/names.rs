//! Names of tables, columns and constraints: which are acceptable, and which we give.

use crate::{
    error::{Error, Result},
    store::Dialect,
};

/// Bytes an identifier may have: what the engine takes, and never more than the 64 characters the
/// metadata tables hold.
const fn longest_name(dialect: Dialect) -> usize {
    match dialect {
        Dialect::Postgres => 63,
        Dialect::Sqlite | Dialect::Mysql => 64,
    }
}

/// # Errors
/// `INVALID_PAYLOAD` when no collection may have this name.
pub fn check_collection_name(dialect: Dialect, name: &str) -> Result<()> {
    check_name(dialect, "collection", name)?;
    let lower = name.to_lowercase();
    if lower.starts_with("directus_") {
        return Err(Error::invalid_payload("A collection can't begin with \"directus_\"."));
    }
    if lower.starts_with("sqlite_") || lower.starts_with("pg_") {
        return Err(Error::invalid_payload("A collection can't begin with \"sqlite_\" or \"pg_\"."));
    }
    if name.contains(' ') {
        return Err(Error::invalid_payload("The name of a collection can't hold spaces."));
    }
    Ok(())
}

/// # Errors
/// `INVALID_PAYLOAD` when no field may have this name.
pub fn check_field_name(dialect: Dialect, name: &str) -> Result<()> {
    check_name(dialect, "field", name)
}

fn check_name(dialect: Dialect, what: &str, name: &str) -> Result<()> {
    let longest = longest_name(dialect);
    let problem = if name.is_empty() {
        "is required".to_owned()
    } else if name.len() > longest {
        format!("has more than {longest} bytes")
    } else if name.chars().any(char::is_control) {
        "holds control characters".to_owned()
    } else if name == "*" || name.starts_with('-') || name.contains([',', '.', ':', '(', ')']) {
        // Queries and permission rows use these to put names together: a field of such a name could
        // not be asked for, and a permission on `a,b` would be one on `a` and one on `b`.
        "holds characters that have a meaning in queries".to_owned()
    } else if name.trim() != name {
        "begins or ends with a space".to_owned()
    } else if dialect == Dialect::Mysql && name.chars().any(|character| character > '\u{ffff}') {
        "holds characters the database can't use in names".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::invalid_payload(format!("The name of the {what} {problem}.")))
}

/// `<table>_<column>_foreign`, in lower case, with a hash in place of what the engine can't hold.
#[must_use]
pub fn foreign_key_name(dialect: Dialect, table: &str, column: &str) -> String {
    shortened(dialect, table, column, "foreign")
}

/// `<table>_<column>_unique`, like [`foreign_key_name`].
#[must_use]
pub fn unique_name(dialect: Dialect, table: &str, column: &str) -> String {
    shortened(dialect, table, column, "unique")
}

fn shortened(dialect: Dialect, table: &str, column: &str, kind: &str) -> String {
    let full = format!("{table}_{column}_{kind}").to_lowercase();
    let longest = longest_name(dialect);
    if full.len() <= longest {
        return full;
    }
    // FNV-1a of what the name stands for: the same on every run and platform.
    let hash = format!("{table}\u{0}{column}")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let ending = format!("_{hash:016x}_{kind}");
    let room = longest.saturating_sub(ending.len());
    let mut kept = String::new();
    for character in full.chars() {
        if kept.len() + character.len_utf8() > room {
            break;
        }
        kept.push(character);
    }
    kept + &ending
}
