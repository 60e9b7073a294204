//! PostgreSQL's binary forms (documented with each type's send function), read in place.

use sqlx::{
    Row, ValueRef,
    postgres::{PgRow, PgTypeInfo},
};
use uuid::Uuid;

use super::{Render, binary, boolean, decimal, format, list_length, mask, null, stored_text, undecodable, whole};
use crate::{
    error::{Error, Result},
    ident::Key,
};

/// Microseconds from 1970-01-01 to PostgreSQL's epoch 2000-01-01.
const EPOCH_MICROS: i64 = 946_684_800_000_000;
const EPOCH_DAYS: i64 = 10_957;

/// The binary form of a type.
#[derive(Clone, Copy)]
enum Form {
    Integer,
    Float4,
    Float8,
    Numeric,
    Boolean,
    Uuid,
    Date,
    Time,
    Timestamp,
    Json,
    Jsonb,
    Bytes,
    /// Texts, and everything that is selected as its text.
    Text,
}

impl Form {
    /// By the fixed numbers of the built-in types (PostgreSQL's `pg_type.dat`): this is asked for each value.
    fn of(info: &PgTypeInfo) -> Self {
        match info.oid().map_or(0, |oid| oid.0) {
            20 | 21 | 23 | 26 => Self::Integer,
            700 => Self::Float4,
            701 => Self::Float8,
            1700 => Self::Numeric,
            16 => Self::Boolean,
            2950 => Self::Uuid,
            1082 => Self::Date,
            1083 => Self::Time,
            1114 | 1184 => Self::Timestamp,
            114 => Self::Json,
            3802 => Self::Jsonb,
            17 => Self::Bytes,
            _ => Self::Text,
        }
    }
}

pub(super) fn write(row: &PgRow, index: usize, render: Render, out: &mut Vec<u8>) -> Result<()> {
    let value = row.try_get_raw(index).map_err(undecodable)?;
    if value.is_null() {
        null(out);
        return Ok(());
    }
    let bytes = value.as_bytes().map_err(undecodable)?;
    match Form::of(&value.type_info()) {
        Form::Integer => {
            let number = integer(bytes).ok_or_else(broken)?;
            whole(out, number, render)?;
        }
        Form::Float4 => match render {
            Render::Decimal(_) | Render::Rounded(_) => decimal(out, &float4(bytes)?.to_string(), render),
            _ => format::single(out, float4(bytes)?),
        },
        Form::Float8 => match render {
            Render::Decimal(_) | Render::Rounded(_) => decimal(out, &format::plain_digits(float8(bytes)?), render),
            _ => format::double(out, float8(bytes)?),
        },
        Form::Numeric => match numeric(bytes)? {
            Some(digits) => match render {
                Render::ListLength => list_length(out, digits.parse().unwrap_or(-1))?,
                _ => decimal(out, &digits, render),
            },
            None => null(out),
        },
        Form::Boolean => {
            let value = bytes.first() == Some(&1);
            if render == Render::Masked { mask(out, value) } else { boolean(out, value) }
        }
        Form::Uuid => {
            let id = Uuid::from_slice(bytes).map_err(undecodable)?;
            let mut buffer = Uuid::encode_buffer();
            out.push(b'"');
            out.extend_from_slice(id.hyphenated().encode_lower(&mut buffer).as_bytes());
            out.push(b'"');
        }
        Form::Date => match i64::from(i32::from_be_bytes(fixed(bytes)?)) {
            days if days == i64::from(i32::MAX) => out.extend_from_slice(b"\"infinity\""),
            days if days == i64::from(i32::MIN) => out.extend_from_slice(b"\"-infinity\""),
            days => {
                out.push(b'"');
                format::date(out, days + EPOCH_DAYS);
                out.push(b'"');
            }
        },
        Form::Time => {
            out.push(b'"');
            format::time(out, i64::from_be_bytes(fixed(bytes)?).unsigned_abs() / 1_000_000);
            out.push(b'"');
        }
        Form::Timestamp => match i64::from_be_bytes(fixed(bytes)?) {
            i64::MAX => out.extend_from_slice(b"\"infinity\""),
            i64::MIN => out.extend_from_slice(b"\"-infinity\""),
            micros => {
                let micros = micros.saturating_add(EPOCH_MICROS);
                // The field's type decides: a special may type a column otherwise than its catalogue.
                if render == Render::DateTime { format::date_time(out, micros) } else { format::timestamp(out, micros) }
            }
        },
        Form::Json => stored_text(out, text(bytes)?, Render::Json),
        // One version byte before the text.
        Form::Jsonb => stored_text(out, text(bytes.get(1..).unwrap_or_default())?, Render::Json),
        Form::Bytes => binary(out, bytes),
        Form::Text => stored_text(out, text(bytes)?, render),
    }
    Ok(())
}

pub(super) fn key(row: &PgRow, index: usize) -> Result<Option<Key>> {
    let value = row.try_get_raw(index).map_err(undecodable)?;
    if value.is_null() {
        return Ok(None);
    }
    let bytes = value.as_bytes().map_err(undecodable)?;
    Ok(Some(match Form::of(&value.type_info()) {
        Form::Integer => Key::Int(integer(bytes).ok_or_else(broken)?),
        Form::Uuid => Key::Uuid(Uuid::from_slice(bytes).map_err(undecodable)?),
        Form::Numeric => Key::Text(numeric(bytes)?.unwrap_or_default()),
        Form::Float4 => Key::Text(float4(bytes)?.to_string()),
        Form::Float8 => Key::Text(format::plain_digits(float8(bytes)?)),
        Form::Boolean => Key::Int(i64::from(bytes.first() == Some(&1))),
        Form::Date | Form::Time | Form::Timestamp => {
            let mut out = Vec::new();
            write(row, index, Render::Timestamp, &mut out)?;
            Key::Text(String::from_utf8_lossy(&out).trim_matches('"').to_owned())
        }
        Form::Json | Form::Jsonb | Form::Bytes | Form::Text => Key::Text(text(bytes)?.to_owned()),
    }))
}

fn broken() -> Error {
    Error::internal("a value of an unexpected length")
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| broken())
}

fn integer(bytes: &[u8]) -> Option<i64> {
    match bytes.len() {
        2 => bytes.try_into().ok().map(|bytes| i64::from(i16::from_be_bytes(bytes))),
        4 => bytes.try_into().ok().map(|bytes| i64::from(i32::from_be_bytes(bytes))),
        8 => bytes.try_into().ok().map(i64::from_be_bytes),
        _ => None,
    }
}

fn float4(bytes: &[u8]) -> Result<f32> {
    Ok(f32::from_be_bytes(fixed(bytes)?))
}

fn float8(bytes: &[u8]) -> Result<f64> {
    Ok(f64::from_be_bytes(fixed(bytes)?))
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(undecodable)
}

/// `numeric`: four 16-bit words (digit count, weight, sign, display scale), then digits to base
/// 10,000. `None` for NaN and infinities.
fn numeric(bytes: &[u8]) -> Result<Option<String>> {
    let word = |index: usize| -> Result<i16> {
        bytes
            .get(index * 2..index * 2 + 2)
            .and_then(|pair| pair.try_into().ok())
            .map(i16::from_be_bytes)
            .ok_or_else(broken)
    };
    let (count, weight, sign, scale) = (word(0)?, word(1)?, word(2)?, word(3)?);
    let negative = match sign.cast_unsigned() {
        0x0000 => false,
        0x4000 => true,
        _ => return Ok(None),
    };
    let digit = |position: i16| -> Result<i16> {
        if (0..count).contains(&position) { word(4 + usize::try_from(position).unwrap_or(0)) } else { Ok(0) }
    };
    let mut out = String::with_capacity(bytes.len() * 2);
    if negative {
        out.push('-');
    }
    if weight < 0 {
        out.push('0');
    } else {
        for position in 0..=weight {
            let group = digit(position)?;
            if position == 0 { out.push_str(&group.to_string()) } else { out.push_str(&format!("{group:04}")) }
        }
    }
    if scale > 0 {
        out.push('.');
        let mut fraction = String::new();
        let mut position = weight + 1;
        while fraction.len() < usize::try_from(scale).unwrap_or(0) {
            fraction.push_str(&format!("{:04}", if position < 0 { 0 } else { digit(position)? }));
            position += 1;
        }
        fraction.truncate(usize::try_from(scale).unwrap_or(0));
        out.push_str(&fraction);
    }
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    use super::numeric;

    fn read(words: &[i16]) -> Option<String> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        numeric(&bytes).unwrap()
    }

    #[test]
    fn numeric_digits() {
        assert_eq!(read(&[2, 0, 0, 3, 10, 2500]).unwrap(), "10.250");
        assert_eq!(read(&[1, -1, 0x4000, 2, 100]).unwrap(), "-0.01");
        assert_eq!(read(&[1, -2, 0, 8, 1]).unwrap(), "0.00000001");
        assert_eq!(read(&[0, 0, 0, 2]).unwrap(), "0.00");
        assert_eq!(read(&[2, 1, 0, 0, 1, 0]).unwrap(), "10000");
        assert_eq!(read(&[0, 0, 0xC000u16.cast_signed(), 0]), None);
    }
}
