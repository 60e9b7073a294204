//! Numbers, dates and times as JSON text, without detours over strings.

/// Days from 1970-01-01 to a proleptic Gregorian date and back (Howard Hinnant, "chrono-compatible
/// low-level date algorithms").
fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_shifted + 2) / 5 + 1;
    let month = if month_shifted < 10 { month_shifted + 3 } else { month_shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    // Both are within a calendar's bounds by construction.
    (year, u32::try_from(month).unwrap_or(1), u32::try_from(day).unwrap_or(1))
}

fn digits(out: &mut Vec<u8>, number: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(number);
    out.extend(std::iter::repeat_n(b'0', width.saturating_sub(text.len())));
    out.extend_from_slice(text.as_bytes());
}

/// `YYYY-MM-DD`, without quotes.
pub(super) fn date(out: &mut Vec<u8>, days: i64) {
    let (year, month, day) = civil_from_days(days);
    if year < 0 {
        out.push(b'-');
    }
    digits(out, year.unsigned_abs(), 4);
    out.push(b'-');
    digits(out, u64::from(month), 2);
    out.push(b'-');
    digits(out, u64::from(day), 2);
}

/// `HH:MM:SS`, without quotes.
pub(super) fn time(out: &mut Vec<u8>, seconds: u64) {
    digits(out, seconds / 3600, 2);
    out.push(b':');
    digits(out, seconds / 60 % 60, 2);
    out.push(b':');
    digits(out, seconds % 60, 2);
}

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// `YYYY-MM-DDTHH:MM:SS` (wall clock: no zone, no fraction), quoted.
pub(super) fn date_time(out: &mut Vec<u8>, micros: i64) {
    out.push(b'"');
    moment(out, micros);
    out.push(b'"');
}

/// `YYYY-MM-DDTHH:MM:SS.mmmZ`, quoted.
pub(super) fn timestamp(out: &mut Vec<u8>, micros: i64) {
    out.push(b'"');
    moment(out, micros);
    out.push(b'.');
    digits(out, micros.rem_euclid(1_000_000).unsigned_abs() / 1000, 3);
    out.extend_from_slice(b"Z\"");
}

fn moment(out: &mut Vec<u8>, micros: i64) {
    date(out, micros.div_euclid(MICROS_PER_DAY));
    out.push(b'T');
    time(out, micros.rem_euclid(MICROS_PER_DAY).unsigned_abs() / 1_000_000);
}

pub(super) fn integer(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// A JSON number in its shortest form, whole numbers without a point; null for what JSON has not.
pub(super) fn double(out: &mut Vec<u8>, number: f64) {
    if !number.is_finite() {
        out.extend_from_slice(b"null");
    } else if number.fract() == 0.0 && number.abs() < 1e15 {
        // Exact: whole and within 53 bits.
        #[allow(clippy::cast_possible_truncation)]
        integer(out, number as i64);
    } else if (1e-7..1e21).contains(&number.abs()) {
        out.extend_from_slice(number.to_string().as_bytes());
    } else {
        out.extend_from_slice(format!("{number:e}").as_bytes());
    }
}

/// As [`double`], for single precision.
pub(super) fn single(out: &mut Vec<u8>, number: f32) {
    if !number.is_finite() {
        out.extend_from_slice(b"null");
    } else if (1e-7..1e21).contains(&number.abs()) || number == 0.0 {
        out.extend_from_slice(number.to_string().as_bytes());
    } else {
        out.extend_from_slice(format!("{number:e}").as_bytes());
    }
}

/// A JSON string.
pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    // Writing to a Vec can't fail.
    let _ = serde_json::to_writer(&mut *out, text);
}

/// Rounds decimal digits (`-12.345`) half away from zero to a scale, padding with zeros.
pub(super) fn at_scale(digits: &str, scale: u32) -> String {
    let scale = scale as usize;
    let (sign, unsigned) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if fraction.len() <= scale {
        let mut out = format!("{sign}{whole}");
        if scale > 0 {
            out.push('.');
            out.push_str(fraction);
            out.extend(std::iter::repeat_n('0', scale - fraction.len()));
        }
        return out;
    }
    let kept = fraction.get(..scale).unwrap_or("");
    let up = fraction.as_bytes().get(scale).is_some_and(|digit| *digit >= b'5');
    let mut all: Vec<u8> = whole.bytes().chain(kept.bytes()).collect();
    if up {
        let mut carry = true;
        for digit in all.iter_mut().rev() {
            if *digit == b'9' {
                *digit = b'0';
            } else {
                *digit += 1;
                carry = false;
                break;
            }
        }
        if carry {
            all.insert(0, b'1');
        }
    }
    let point = all.len() - scale;
    let text: String = all.into_iter().map(char::from).collect();
    let (whole, fraction) = text.split_at(point);
    let zero = text.bytes().all(|digit| digit == b'0');
    let sign = if zero { "" } else { sign };
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// Drops zeros behind the point, and the point with them.
pub(super) fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

/// A float's digits without exponent.
pub(super) fn plain_digits(number: f64) -> String {
    // Display never uses an exponent.
    number.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn dates_and_times() {
        assert_eq!(written(|out| date(out, 0)), "1970-01-01");
        assert_eq!(written(|out| date(out, 19_782)), "2024-02-29");
        assert_eq!(written(|out| date(out, -1)), "1969-12-31");
        assert_eq!(written(|out| timestamp(out, -1_000)), "\"1969-12-31T23:59:59.999Z\"");
        assert_eq!(written(|out| date_time(out, 86_400_000_000)), "\"1970-01-02T00:00:00\"");
    }

    #[test]
    fn numbers() {
        assert_eq!(written(|out| double(out, 1e10)), "10000000000");
        assert_eq!(written(|out| double(out, 0.1)), "0.1");
        assert_eq!(written(|out| double(out, 1e300)), "1e300");
        assert_eq!(written(|out| double(out, f64::NAN)), "null");
        assert_eq!(written(|out| single(out, 100.001)), "100.001");
        assert_eq!(written(|out| single(out, 0.0)), "0");
    }

    #[test]
    fn decimals_round_half_away_from_zero() {
        for (digits, scale, expected) in [
            ("1.005", 2, "1.01"),
            ("-1.005", 2, "-1.01"),
            ("9.999", 2, "10.00"),
            ("1", 3, "1.000"),
            ("0.4", 0, "0"),
            ("-0.001", 2, "0.00"),
            ("10.25", 3, "10.250"),
            ("99.5", 0, "100"),
        ] {
            assert_eq!(at_scale(digits, scale), expected, "{digits}");
        }
        assert_eq!(trimmed("9.500"), "9.5");
        assert_eq!(trimmed("100"), "100");
    }
}
