//! Whole numbers, floats and decimals from JSON numbers and numeric texts, by their digits:
//! nothing exact passes through a float.

use serde_json::Value;

use super::{Mismatch, Purpose, Typed};
use crate::schema::{Field, FieldType};

/// No column holds numbers with more digits on either side of the point.
const MOST_DIGITS: i64 = 1000;

/// A number by its decimal digits: `digits × 10^-scale`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Digits {
    negative: bool,
    /// Without leading zeros; empty for zero.
    digits: String,
    /// Digits behind the point; negative for trailing zeros left out.
    scale: i64,
}

impl Digits {
    /// Reads `-12`, `1.50`, `1e3`; also `+1` and `.5`. `None` when it is no number.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        if !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        let digits = format!("{whole}{fraction}").trim_start_matches('0').to_owned();
        let scale = if digits.is_empty() { 0 } else { scale };
        Some(Self { negative: negative && !digits.is_empty(), digits, scale })
    }

    fn len(&self) -> i64 {
        i64::try_from(self.digits.len()).unwrap_or(i64::MAX)
    }

    /// Digits before the point.
    fn whole_digits(&self) -> i64 {
        self.len().saturating_sub(self.scale).max(0)
    }

    fn is_whole(&self) -> bool {
        let fraction = usize::try_from(self.scale).unwrap_or(0);
        self.digits.bytes().rev().take(fraction).all(|byte| byte == b'0') && self.scale <= self.len()
    }

    /// The number when it is whole and fits.
    pub(super) fn to_i64(&self) -> Option<i64> {
        if !self.is_whole() || self.whole_digits() > 19 {
            return None;
        }
        self.plain(0).parse().ok()
    }

    /// Rounded half away from zero to at most `places` digits behind the point.
    fn round(&mut self, places: i64) {
        let excess = self.scale - places;
        if excess <= 0 {
            return;
        }
        if excess > self.len() {
            *self = Self { negative: false, digits: String::new(), scale: 0 };
            return;
        }
        let cut = self.digits.len() - usize::try_from(excess).unwrap_or(0);
        let up = self.digits.as_bytes().get(cut).is_some_and(|digit| *digit >= b'5');
        self.digits.truncate(cut);
        self.scale = places;
        if up {
            self.increment();
        }
        if self.digits.bytes().all(|digit| digit == b'0') {
            *self = Self { negative: false, digits: String::new(), scale: 0 };
        }
    }

    /// Adds one in the last place.
    fn increment(&mut self) {
        let mut digits = std::mem::take(&mut self.digits).into_bytes();
        let mut carry = true;
        for digit in digits.iter_mut().rev() {
            if !carry {
                break;
            }
            carry = *digit == b'9';
            *digit = if carry { b'0' } else { *digit + 1 };
        }
        let text = String::from_utf8(digits).unwrap_or_default();
        self.digits = if carry { format!("1{text}") } else { text };
    }

    /// The plain text with at least `places` digits behind the point.
    fn plain(&self, places: i64) -> String {
        let mut digits = self.digits.clone();
        let mut scale = self.scale;
        while scale < places.max(0) && !digits.is_empty() {
            digits.push('0');
            scale += 1;
        }
        let scale = usize::try_from(scale).unwrap_or(0);
        if digits.len() <= scale {
            digits = format!("{}{digits}", "0".repeat(scale + 1 - digits.len()));
        }
        let (whole, fraction) = digits.split_at_checked(digits.len() - scale).unwrap_or((digits.as_str(), ""));
        let sign = if self.negative { "-" } else { "" };
        // A whole number written with a point (`1.0`) has its zeros cut where no places are asked.
        if fraction.is_empty() || (places == 0 && fraction.bytes().all(|byte| byte == b'0')) {
            format!("{sign}{whole}")
        } else {
            format!("{sign}{whole}.{fraction}")
        }
    }
}

fn exponent_of(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Exponents this large are out of range everywhere; how large does not matter.
    let size = digits.parse::<i64>().unwrap_or(i64::MAX).min(1_000_000_000);
    Some(if negative { -size } else { size })
}

/// The text of a JSON number, or a text that holds a number.
fn number_text(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.trim().to_owned()),
        _ => None,
    }
}

pub(super) fn integer(field: &Field, value: &Value, purpose: Purpose) -> Result<Typed, Mismatch> {
    let mismatch = || Mismatch::type_of("a whole number");
    let text = number_text(value).ok_or_else(mismatch)?;
    if value.is_string() && text.contains(['.', 'e', 'E']) {
        return Err(mismatch());
    }
    let digits = Digits::parse(&text).ok_or_else(mismatch)?;
    if !digits.is_whole() {
        return Err(mismatch());
    }
    let (least, most) = integer_range(field);
    let out_of_range = || Mismatch::range(format!("a whole number from {least} to {most}"));
    let number = digits.to_i64().ok_or_else(out_of_range)?;
    if purpose == Purpose::Storage && !(least..=most).contains(&number) {
        return Err(out_of_range());
    }
    Ok(Typed::Int(number))
}

/// The range of an integer column by its database type; where that says nothing, by the field's.
fn integer_range(field: &Field) -> (i64, i64) {
    let column = field.column.as_ref();
    let data_type = column.map_or("", |column| column.data_type.as_str());
    let unsigned = column.is_some_and(|column| column.unsigned) || data_type.contains("unsigned");
    let name = data_type.split([' ', '(']).next().unwrap_or("");
    let bits: u32 = match name {
        "tinyint" | "int1" => 8,
        "smallint" | "int2" | "smallserial" | "serial2" => 16,
        "mediumint" | "int3" => 24,
        "bigint" | "int8" | "bigserial" | "serial8" => 64,
        _ if field.kind == FieldType::BigInteger => 64,
        _ => 32,
    };
    match (bits, unsigned) {
        (64, false) => (i64::MIN, i64::MAX),
        (64, true) => (0, i64::MAX),
        (bits, false) => (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1),
        (bits, true) => (0, (1_i64 << bits) - 1),
    }
}

pub(super) fn float(value: &Value) -> Result<Typed, Mismatch> {
    let mismatch = || Mismatch::type_of("a number");
    let text = number_text(value).ok_or_else(mismatch)?;
    // `parse` alone would take "inf" and "nan".
    Digits::parse(&text).ok_or_else(mismatch)?;
    let number: f64 = text.parse().map_err(|_| mismatch())?;
    if number.is_finite() {
        Ok(Typed::Float(if number == 0.0 { 0.0 } else { number }))
    } else {
        Err(Mismatch::range("a number that a float can hold"))
    }
}

pub(super) fn decimal(field: &Field, value: &Value, purpose: Purpose) -> Result<Typed, Mismatch> {
    let mismatch = || Mismatch::type_of("a decimal number");
    let text = number_text(value).ok_or_else(mismatch)?;
    let mut digits = Digits::parse(&text).ok_or_else(mismatch)?;
    let column = field.column.as_ref();
    let precision = column.and_then(|column| column.numeric_precision).map(i64::from);
    let scale = column.and_then(|column| column.numeric_scale).map(i64::from);
    if digits.whole_digits() > MOST_DIGITS {
        return Err(Mismatch::range("a smaller number"));
    }
    if purpose == Purpose::Comparison {
        digits.round(MOST_DIGITS);
        return Ok(Typed::Decimal(digits.plain(0)));
    }
    digits.round(scale.unwrap_or(MOST_DIGITS));
    if let (Some(precision), Some(scale)) = (precision, scale) {
        let whole = (precision - scale).max(0);
        if digits.whole_digits() > whole {
            return Err(Mismatch::range(format!("a number with at most {whole} digits before the point")));
        }
    }
    Ok(Typed::Decimal(digits.plain(0)))
}
