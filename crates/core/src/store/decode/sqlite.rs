//! SQLite values, by their storage class: a column may hold any of them whatever its declared type.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Timelike};
use sqlx::{Row, TypeInfo, ValueRef, sqlite::SqliteRow};
use uuid::Uuid;

use super::{Render, binary, decimal, format, null, stored_text, undecodable, whole};
use crate::{error::Result, ident::Key, schema::FieldType};

pub(super) fn write(row: &SqliteRow, index: usize, render: Render, out: &mut Vec<u8>) -> Result<()> {
    let value = row.try_get_raw(index).map_err(undecodable)?;
    if value.is_null() {
        null(out);
        return Ok(());
    }
    match value.type_info().name() {
        "INTEGER" | "BOOLEAN" => {
            let number = row.try_get_unchecked::<i64, _>(index).map_err(undecodable)?;
            // Dates written by others: epoch milliseconds.
            match render {
                Render::Date => {
                    out.push(b'"');
                    format::date(out, number.div_euclid(86_400_000));
                    out.push(b'"');
                }
                Render::DateTime => format::date_time(out, number.saturating_mul(1000)),
                Render::Timestamp => format::timestamp(out, number.saturating_mul(1000)),
                Render::Float => format::integer(out, number),
                _ => whole(out, number, render)?,
            }
        }
        "REAL" => {
            let number = row.try_get_unchecked::<f64, _>(index).map_err(undecodable)?;
            match render {
                Render::Decimal(_) | Render::Rounded(_) | Render::BigInteger => {
                    decimal(out, &format::plain_digits(number), render);
                }
                Render::Boolean => super::boolean(out, number != 0.0),
                Render::Text => {
                    out.push(b'"');
                    format::double(out, number);
                    out.push(b'"');
                }
                _ => format::double(out, number),
            }
        }
        "BLOB" => {
            let bytes = row.try_get_unchecked::<&[u8], _>(index).map_err(undecodable)?;
            match (render, std::str::from_utf8(bytes)) {
                (Render::Binary, _) | (_, Err(_)) => binary(out, bytes),
                (_, Ok(text)) => stored_text(out, text, render),
            }
        }
        _ => text(row.try_get_unchecked::<&str, _>(index).map_err(undecodable)?, render, out),
    }
    Ok(())
}

fn text(text: &str, render: Render, out: &mut Vec<u8>) {
    match render {
        Render::Date => match moment(text) {
            Some(micros) => {
                out.push(b'"');
                format::date(out, micros.div_euclid(86_400_000_000));
                out.push(b'"');
            }
            None => stored_text(out, text, Render::Text),
        },
        Render::DateTime => match moment(text) {
            Some(micros) => format::date_time(out, micros),
            None => stored_text(out, text, Render::Text),
        },
        Render::Timestamp => match moment(text) {
            Some(micros) => format::timestamp(out, micros),
            None => stored_text(out, text, Render::Text),
        },
        Render::Time => match text.parse::<NaiveTime>() {
            Ok(time) => {
                out.push(b'"');
                format::time(out, u64::from(time.num_seconds_from_midnight()));
                out.push(b'"');
            }
            Err(_) => stored_text(out, text, Render::Text),
        },
        other => stored_text(out, text, other),
    }
}

/// Microseconds since 1970 of the forms that dates are stored in: with `T` or a blank, with zone
/// (taken into account) or without (UTC), or a date alone.
fn moment(text: &str) -> Option<i64> {
    if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
        return Some(moment.timestamp_micros());
    }
    for format in ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"] {
        if let Ok(moment) = NaiveDateTime::parse_from_str(text, format) {
            return Some(moment.and_utc().timestamp_micros());
        }
    }
    for format in ["%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M:%S%.f%#z"] {
        if let Ok(moment) = DateTime::parse_from_str(text, format) {
            return Some(moment.timestamp_micros());
        }
    }
    let date: NaiveDate = text.parse().ok()?;
    Some(date.signed_duration_since(NaiveDate::default()).num_days() * 86_400_000_000)
}

pub(super) fn key(row: &SqliteRow, index: usize, kind: FieldType) -> Result<Option<Key>> {
    let value = row.try_get_raw(index).map_err(undecodable)?;
    if value.is_null() {
        return Ok(None);
    }
    Ok(Some(match value.type_info().name() {
        "INTEGER" | "BOOLEAN" => {
            let number = row.try_get_unchecked::<i64, _>(index).map_err(undecodable)?;
            match kind {
                FieldType::Integer | FieldType::BigInteger => Key::Int(number),
                _ => Key::Text(number.to_string()),
            }
        }
        "REAL" => Key::Text(format::plain_digits(row.try_get_unchecked::<f64, _>(index).map_err(undecodable)?)),
        "BLOB" => {
            let bytes = row.try_get_unchecked::<&[u8], _>(index).map_err(undecodable)?;
            Key::Text(String::from_utf8_lossy(bytes).into_owned())
        }
        _ => {
            let text = row.try_get_unchecked::<&str, _>(index).map_err(undecodable)?;
            match kind {
                FieldType::Uuid => Uuid::try_parse(text).map_or_else(|_| Key::Text(text.to_owned()), Key::Uuid),
                FieldType::Integer | FieldType::BigInteger => {
                    text.parse().map_or_else(|_| Key::Text(text.to_owned()), Key::Int)
                }
                _ => Key::Text(text.to_owned()),
            }
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn every_stored_form_of_a_moment() {
        let expected = Some(1_709_195_415_000_000);
        for text in [
            "2024-02-29T08:30:15Z",
            "2024-02-29T10:30:15+02:00",
            "2024-02-29 08:30:15",
            "2024-02-29T08:30:15.000",
            "2024-02-29 08:30:15.000+00:00",
        ] {
            assert_eq!(moment(text), expected, "{text}");
        }
        assert_eq!(moment("1970-01-02"), Some(86_400_000_000));
        assert_eq!(moment("soon"), None);
    }
}
