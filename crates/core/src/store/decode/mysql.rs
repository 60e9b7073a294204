//! MySQL and MariaDB values, by the driver's column type.

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use sqlx::{
    Row, TypeInfo, ValueRef,
    mysql::{MySqlRow, types::MySqlTime},
};
use uuid::Uuid;

use super::{Render, binary, decimal, format, null, stored_text, undecodable, whole};
use crate::{error::Result, ident::Key, schema::FieldType};

pub(super) fn write(row: &MySqlRow, index: usize, render: Render, out: &mut Vec<u8>) -> Result<()> {
    let value = row.try_get_raw(index).map_err(undecodable)?;
    if value.is_null() {
        null(out);
        return Ok(());
    }
    let info = value.type_info();
    match info.name() {
        "TINYINT" | "BOOLEAN" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" | "YEAR" => {
            whole(out, row.try_get_unchecked::<i64, _>(index).map_err(undecodable)?, render)?;
        }
        "TINYINT UNSIGNED" | "SMALLINT UNSIGNED" | "MEDIUMINT UNSIGNED" | "INT UNSIGNED" | "BIGINT UNSIGNED" => {
            let number = row.try_get_unchecked::<u64, _>(index).map_err(undecodable)?;
            match i64::try_from(number) {
                Ok(number) => whole(out, number, render)?,
                Err(_) => decimal(out, &number.to_string(), render),
            }
        }
        "FLOAT" => {
            let number = row.try_get_unchecked::<f32, _>(index).map_err(undecodable)?;
            match render {
                Render::Decimal(_) | Render::Rounded(_) => decimal(out, &number.to_string(), render),
                _ => format::single(out, number),
            }
        }
        "DOUBLE" => {
            let number = row.try_get_unchecked::<f64, _>(index).map_err(undecodable)?;
            match render {
                Render::Decimal(_) | Render::Rounded(_) => decimal(out, &format::plain_digits(number), render),
                _ => format::double(out, number),
            }
        }
        "DECIMAL" => decimal(out, row.try_get_unchecked::<&str, _>(index).map_err(undecodable)?, render),
        "BIT" => whole(out, i64::from(bit(row.try_get_unchecked::<&[u8], _>(index).map_err(undecodable)?)), render)?,
        "DATE" => match row.try_get_unchecked::<NaiveDate, _>(index) {
            Ok(date) => {
                out.push(b'"');
                format::date(out, date.signed_duration_since(NaiveDate::default()).num_days());
                out.push(b'"');
            }
            // All-zero dates have no other form.
            Err(_) => null(out),
        },
        "TIME" => match row.try_get_unchecked::<MySqlTime, _>(index) {
            Ok(time) => {
                out.push(b'"');
                if time.sign().is_negative() {
                    out.push(b'-');
                }
                let seconds =
                    u64::from(time.hours()) * 3600 + u64::from(time.minutes()) * 60 + u64::from(time.seconds());
                format::time(out, seconds);
                out.push(b'"');
            }
            Err(error) => return Err(undecodable(error)),
        },
        "DATETIME" | "TIMESTAMP" => {
            let micros = if info.name() == "DATETIME" {
                row.try_get_unchecked::<NaiveDateTime, _>(index).map(|moment| moment.and_utc().timestamp_micros())
            } else {
                row.try_get_unchecked::<DateTime<Utc>, _>(index).map(|moment| moment.timestamp_micros())
            };
            match micros {
                Ok(micros) if render == Render::Timestamp => format::timestamp(out, micros),
                Ok(micros) if render == Render::Date => {
                    out.push(b'"');
                    format::date(out, micros.div_euclid(86_400_000_000));
                    out.push(b'"');
                }
                Ok(micros) => format::date_time(out, micros),
                Err(_) => null(out),
            }
        }
        "BLOB" | "TINYBLOB" | "MEDIUMBLOB" | "LONGBLOB" | "BINARY" | "VARBINARY" | "GEOMETRY" => {
            let bytes = row.try_get_unchecked::<&[u8], _>(index).map_err(undecodable)?;
            match (render, std::str::from_utf8(bytes)) {
                // Expressions and binary collations come as bytes too.
                (Render::Binary, _) | (_, Err(_)) => binary(out, bytes),
                (_, Ok(text)) => stored_text(out, text, render),
            }
        }
        _ => stored_text(out, row.try_get_unchecked::<&str, _>(index).map_err(undecodable)?, render),
    }
    Ok(())
}

/// Bits, most significant byte first.
fn bit(bytes: &[u8]) -> u32 {
    bytes.iter().rev().take(4).enumerate().fold(0, |sum, (place, byte)| sum | u32::from(*byte) << (8 * place))
}

pub(super) fn key(row: &MySqlRow, index: usize, kind: FieldType) -> Result<Option<Key>> {
    let value = row.try_get_raw(index).map_err(undecodable)?;
    if value.is_null() {
        return Ok(None);
    }
    let info = value.type_info();
    Ok(Some(match info.name() {
        name if name.ends_with("UNSIGNED") => {
            let number = row.try_get_unchecked::<u64, _>(index).map_err(undecodable)?;
            i64::try_from(number).map_or_else(|_| Key::Text(number.to_string()), Key::Int)
        }
        "TINYINT" | "BOOLEAN" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" | "YEAR" => {
            Key::Int(row.try_get_unchecked::<i64, _>(index).map_err(undecodable)?)
        }
        "DATE" | "DATETIME" | "TIMESTAMP" | "TIME" | "FLOAT" | "DOUBLE" => {
            let mut out = Vec::new();
            write(row, index, Render::Text, &mut out)?;
            Key::Text(String::from_utf8_lossy(&out).trim_matches('"').to_owned())
        }
        _ => {
            let bytes = row.try_get_unchecked::<&[u8], _>(index).map_err(undecodable)?;
            let text = std::str::from_utf8(bytes).map_err(undecodable)?;
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
    #[test]
    fn bits() {
        assert_eq!(super::bit(&[1]), 1);
        assert_eq!(super::bit(&[1, 2]), 258);
    }
}
