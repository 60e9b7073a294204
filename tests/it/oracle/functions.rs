//! Parts of dates and lengths of lists.

use chrono::{Datelike, NaiveDate};

use super::world::Cell;

/// A function of a stored value.
pub fn part(function: &str, cell: &Cell) -> Cell {
    let text = match cell {
        Cell::Null => return Cell::Null,
        Cell::Json(serde_json::Value::Array(items)) if function == "count" => return Cell::Whole(items.len() as i128),
        Cell::Text(text) => text,
        other => panic!("{function} of {other:?}"),
    };
    let (day, time) = match text.split_once('T') {
        Some((day, time)) => (day, time),
        None if text.contains(':') => ("2000-01-01", text.as_str()),
        None => (text.as_str(), "00:00:00"),
    };
    let day = day.parse::<NaiveDate>().expect("a date");
    let digits = |range: std::ops::Range<usize>| time[range].parse::<i128>().expect("digits");
    Cell::Whole(match function {
        "year" => day.year().into(),
        "month" => day.month().into(),
        "week" => day.iso_week().week().into(),
        "day" => day.day().into(),
        "weekday" => day.weekday().num_days_from_sunday().into(),
        "hour" => digits(0..2),
        "minute" => digits(3..5),
        "second" => digits(6..8),
        _ => panic!("{function}?"),
    })
}
