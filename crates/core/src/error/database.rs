//! Driver errors → codes: unique, foreign key, not null, range, length. What the database says of
//! table, column and value goes into the extensions; everything else is internal. And what of that
//! may stand in the log.

use std::error::Error as StdError;

use sea_orm::{DbErr, RuntimeErr};
use sqlx::error::DatabaseError;

use super::{Code, Error};
use crate::schema::Collection;

/// Translates a driver error; the original is kept as the cause for the log.
#[track_caller]
#[must_use]
pub fn from_driver(error: DbErr) -> Error {
    if let Some(what) = conflict(&error) {
        tracing::warn!(what, %error, "a statement met a change made at the same time");
        return Error::new(Code::ConcurrencyConflict).because(error);
    }
    let Some(violation) = violation(&error) else {
        let code = match &error {
            DbErr::ConnectionAcquire(_) | DbErr::Conn(_) => Code::ServiceUnavailable,
            _ => Code::Internal,
        };
        let translated = Error::new(code).because(error);
        return if code == Code::ServiceUnavailable { translated.with("service", "database") } else { translated };
    };
    let mut translated = Error::new(violation.code);
    if let Some(table) = violation.table {
        translated = translated.with("collection", table);
    }
    if violation.code == Code::ValueTooLong || violation.code == Code::ValueOutOfRange || violation.column.is_some() {
        translated = translated.with("field", violation.column.map_or(serde_json::Value::Null, Into::into));
    }
    translated.because(error)
}

/// Completes a translated error with what only the place of the statement knows: the collection,
/// the field behind a constraint's name, and whether a foreign key was broken by a deletion.
#[must_use]
pub fn in_collection(error: Error, collection: &Collection, deleting: bool) -> Error {
    let driver = error.cause().and_then(|cause| cause.downcast_ref::<DbErr>());
    let Some(violation) = driver.and_then(violation) else { return error };
    let has = |name: &str| error.problems().next().is_some_and(|problem| problem.extensions.contains_key(name));
    let (has_collection, has_field) = (has("collection"), has("field"));
    let mut error = error;
    if matches!(violation.code, Code::InvalidForeignKey) && violation.ambiguous && deleting {
        error = error.recoded(Code::RecordStillReferenced);
    }
    if !has_collection {
        error = error.with("collection", &*collection.name);
    }
    if !has_field && let Some(field) = violation.constraint.and_then(|name| field_of(collection, &name)) {
        error = error.with("field", field);
    }
    error
}

/// The field that a unique constraint stands on, by the names this server and its kin give them.
fn field_of(collection: &Collection, constraint: &str) -> Option<String> {
    let name = constraint.rsplit('.').next().unwrap_or(constraint);
    if name.eq_ignore_ascii_case("PRIMARY") || name.eq_ignore_ascii_case(&format!("{}_pkey", collection.name)) {
        return Some(collection.primary.to_string());
    }
    collection
        .fields
        .keys()
        .find(|field| {
            name.eq_ignore_ascii_case(&format!("{}_{field}_unique", collection.name))
                || name.eq_ignore_ascii_case(field)
        })
        .map(ToString::to_string)
}

/// What a database complained about.
struct Violation {
    code: Code,
    table: Option<String>,
    column: Option<String>,
    constraint: Option<String>,
    /// SQLite doesn't tell which side of a foreign key was broken.
    ambiguous: bool,
}

impl Violation {
    fn of(code: Code) -> Self {
        Self { code, table: None, column: None, constraint: None, ambiguous: false }
    }
}

/// What the log may know of a cause and the causes behind it. Databases quote the values they
/// refuse, so of such complaints only the code is told.
#[must_use]
pub fn for_log(cause: &(dyn StdError + 'static)) -> String {
    let mut told = String::new();
    let mut next = Some(cause);
    while let Some(error) = next {
        told.push_str(if told.is_empty() { "" } else { ": " });
        if let Some(driver) = error.downcast_ref::<DbErr>()
            && let Some(database) = complaint(driver)
        {
            let state = database.code().unwrap_or_default();
            let about_values = violation(driver).is_some() || state.starts_with("22") || state.starts_with("23");
            let message = if about_values { "values were refused" } else { database.message() };
            told.push_str(&format!("database error {state}, {message}"));
            break;
        }
        told.push_str(&error.to_string());
        next = error.source();
    }
    told
}

/// What a database itself said, as opposed to its driver or the way there.
fn complaint(error: &DbErr) -> Option<&dyn DatabaseError> {
    let (DbErr::Query(RuntimeErr::SqlxError(error)) | DbErr::Exec(RuntimeErr::SqlxError(error))) = error else {
        return None;
    };
    match &**error {
        sqlx::Error::Database(database) => Some(&**database),
        _ => None,
    }
}

fn violation(error: &DbErr) -> Option<Violation> {
    let database = complaint(error)?;
    if let Some(error) = database.try_downcast_ref::<sqlx::postgres::PgDatabaseError>() {
        return postgres(error);
    }
    if let Some(error) = database.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>() {
        return mysql(error.number(), error.message());
    }
    sqlite(&database.code()?, database.message())
}

/// What was changed under a statement: rows (deadlocks, lock waits) or the tables themselves.
fn conflict(error: &DbErr) -> Option<&'static str> {
    let (DbErr::Query(RuntimeErr::SqlxError(error)) | DbErr::Exec(RuntimeErr::SqlxError(error))) = error else {
        return None;
    };
    let sqlx::Error::Database(database) = &**error else { return None };
    if let Some(error) = database.try_downcast_ref::<sqlx::postgres::PgDatabaseError>() {
        return match error.code() {
            "40P01" | "40001" | "55P03" => Some("rows"),
            "42P01" | "42703" | "0A000" => Some("tables"),
            _ => None,
        };
    }
    if let Some(error) = database.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>() {
        return match error.number() {
            1213 | 1205 | 1020 => Some("rows"),
            1146 | 1054 | 1412 | 1615 => Some("tables"),
            _ => None,
        };
    }
    let message = database.message();
    match database.code()?.as_ref() {
        "5" | "261" | "517" | "6" | "262" => Some("rows"),
        _ if message.starts_with("no such column")
            || message.starts_with("no such table")
            || message.contains("has no column named") =>
        {
            Some("tables")
        }
        _ => None,
    }
}

/// SQLSTATE classes 22 and 23 (PostgreSQL manual, appendix A).
fn postgres(error: &sqlx::postgres::PgDatabaseError) -> Option<Violation> {
    let detail = error.detail().unwrap_or_default();
    let code = match error.code() {
        "23505" => Code::RecordNotUnique,
        "23503" if detail.contains("still referenced") => Code::RecordStillReferenced,
        "23503" => Code::InvalidForeignKey,
        "23001" => Code::RecordStillReferenced,
        "23502" => Code::NotNullViolation,
        "22003" => Code::ValueOutOfRange,
        "22001" => Code::ValueTooLong,
        "22P02" | "22007" | "22008" | "22021" | "22P05" | "23514" | "22P03" => Code::InvalidPayload,
        _ => return None,
    };
    let column = match error.column() {
        Some(column) => Some(column.to_owned()),
        None => between(detail, "Key (", ")=").map(|name| name.trim_matches('"').to_owned()),
    };
    Some(Violation {
        code,
        table: error.table().map(str::to_owned),
        column,
        constraint: error.constraint().map(str::to_owned),
        ambiguous: false,
    })
}

/// Server error numbers (MySQL 8 reference, "Server Error Message Reference").
fn mysql(number: u16, message: &str) -> Option<Violation> {
    let code = match number {
        1062 => Code::RecordNotUnique,
        1452 | 1216 => Code::InvalidForeignKey,
        1451 | 1217 => Code::RecordStillReferenced,
        1048 | 1364 => Code::NotNullViolation,
        1264 | 1690 => Code::ValueOutOfRange,
        1406 => Code::ValueTooLong,
        1366 | 1292 | 1411 | 3140 | 4025 | 3819 | 1265 => Code::InvalidPayload,
        _ => return None,
    };
    let column = match number {
        1452 => between(message, "FOREIGN KEY (`", "`)"),
        1048 | 1364 | 1406 | 1264 | 1366 | 1265 => {
            between(message, "olumn '", "'").or_else(|| between(message, "Field '", "'"))
        }
        _ => None,
    };
    let constraint = if number == 1062 { between_last(message, "for key '", "'") } else { None };
    Some(Violation {
        column: column.map(|name| name.rsplit('.').next().unwrap_or(name).trim_matches('`').to_owned()),
        constraint: constraint.map(str::to_owned),
        ..Violation::of(code)
    })
}

/// Extended result codes (sqlite.org/rescode.html).
fn sqlite(code: &str, message: &str) -> Option<Violation> {
    let (code, marker) = match code {
        "2067" | "1555" | "2579" => (Code::RecordNotUnique, "UNIQUE constraint failed: "),
        "787" | "1811" => return Some(Violation { ambiguous: true, ..Violation::of(Code::InvalidForeignKey) }),
        "1299" => (Code::NotNullViolation, "NOT NULL constraint failed: "),
        "275" | "3091" => (Code::InvalidPayload, "\u{0}"),
        "20" => (Code::InvalidPayload, "\u{0}"),
        _ => return None,
    };
    let names = message.split_once(marker).map(|(_, names)| names.split(',').next().unwrap_or(names).trim());
    let (table, column) = names
        .and_then(|name| name.split_once('.'))
        .map_or((None, None), |(table, column)| (Some(table.to_owned()), Some(column.to_owned())));
    Some(Violation { table, column, ..Violation::of(code) })
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    text.split_once(before)?.1.split_once(after).map(|(inner, _)| inner)
}

fn between_last<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    text.rsplit_once(before)?.1.split_once(after).map(|(inner, _)| inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mysql_messages_name_columns_and_keys() {
        let unique = mysql(1062, "Duplicate entry 'it's 1' for key 'books_title_unique'").unwrap();
        assert_eq!((unique.code, unique.constraint.as_deref()), (Code::RecordNotUnique, Some("books_title_unique")));
        let foreign = mysql(
            1452,
            "Cannot add or update a child row: a foreign key constraint fails (`db`.`child`, CONSTRAINT `c` FOREIGN KEY (`parent`) REFERENCES `p` (`id`))",
        )
        .unwrap();
        assert_eq!((foreign.code, foreign.column.as_deref()), (Code::InvalidForeignKey, Some("parent")));
        let long = mysql(1406, "Data too long for column 'code' at row 1").unwrap();
        assert_eq!((long.code, long.column.as_deref()), (Code::ValueTooLong, Some("code")));
    }

    #[test]
    fn sqlite_messages_name_table_and_column() {
        let unique = sqlite("2067", "UNIQUE constraint failed: books.title").unwrap();
        assert_eq!((unique.table.as_deref(), unique.column.as_deref()), (Some("books"), Some("title")));
        assert!(sqlite("787", "FOREIGN KEY constraint failed").unwrap().ambiguous);
        assert!(sqlite("5", "database is locked").is_none());
    }
}
