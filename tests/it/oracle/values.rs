//! Single values: small ranges, so that they meet, and the extremes that break things.

use serde_json::{Value, json};

use super::{
    random::Random,
    world::{Cell, Type},
};

pub const WORDS: &[&str] = &["amber", "birch", "cedar", "delta", "ember", "fjord", "grove"];

const STRINGS: &[&str] = &[
    "",
    "Amber",
    "amber",
    "AMBER",
    "a_b",
    "axb",
    "a%b",
    "100%",
    "50% off",
    "back\\slash",
    "\\",
    "%",
    "_",
    "Ünïcode",
    "ünïcode",
    "ÜNÏCODE",
    "née",
    "日本語",
    "it's",
    "say \"hi\"",
    "!bang",
    "a!_b",
    "12",
    "-5",
    "1.5",
    "emoji 😀",
    "semi;colon",
    "x--y",
    "$5",
    "two words",
    "{\"a\":1}",
];

const DAYS: &[&str] = &[
    "1999-12-31",
    "2000-01-01",
    "2016-02-29",
    "2018-12-31",
    "2020-12-31",
    "2021-01-01",
    "2021-01-03",
    "2021-01-04",
    "2023-07-09",
    "2024-02-29",
    "2024-12-29",
    "2024-12-30",
    "2035-06-15",
];

const TIMES: &[&str] = &["00:00:00", "00:00:01", "08:30:00", "12:00:00", "12:34:56", "23:59:59"];

const UUIDS: &[&str] = &[
    "00000000-0000-4000-8000-000000000001",
    "aaaaaaaa-0000-4000-8000-000000000001",
    "aaaaaaaa-0000-4000-8000-000000000002",
    "ffffffff-ffff-4fff-bfff-ffffffffffff",
];

/// A day that the clock will not reach, for what is compared with `$NOW`.
pub const NOW: &str = "2030-01-01";

/// Dates between those that data has, so that comparisons aren't all equal.
fn day(random: &mut Random) -> String {
    (*random.pick(DAYS)).to_owned()
}

/// A value of a type; now and then null.
pub fn value(kind: Type, random: &mut Random) -> Cell {
    if random.chance(18) { Cell::Null } else { present(kind, random) }
}

/// A value of a type that is not null.
pub fn present(kind: Type, random: &mut Random) -> Cell {
    match kind {
        Type::Integer if random.chance(4) => Cell::Whole(*random.pick(&[i128::from(i32::MAX), i128::from(i32::MIN)])),
        Type::Integer => Cell::Whole(random.between(-3, 12).into()),
        Type::BigInteger if random.chance(15) => {
            Cell::Whole(*random.pick(&[9_007_199_254_740_993, -9_007_199_254_740_993, 9_007_199_254_740_992, 1 << 40]))
        }
        Type::BigInteger if random.chance(5) => Cell::Whole(*random.pick(&[i64::MAX.into(), i64::MIN.into()])),
        Type::BigInteger => Cell::Whole(random.between(-3, 12).into()),
        Type::Decimal if random.chance(4) => Cell::Decimal(*random.pick(&[999_999_999_999, -999_999_999_999])),
        Type::Decimal => Cell::Decimal(i128::from(random.between(-40, 60)) * 125 + i128::from(random.below(2) as u32)),
        Type::Float if random.chance(4) => Cell::Float(*random.pick(&[1_048_576.0, -65_536.5])),
        Type::Float => Cell::Float(random.between(-20, 40) as f64 / 4.0),
        Type::Word => Cell::Text((*random.pick(WORDS)).to_owned()),
        Type::String => Cell::Text((*random.pick(STRINGS)).to_owned()),
        Type::Text if random.chance(20) => Cell::Text(format!("{}\n{}", random.pick(STRINGS), random.pick(WORDS))),
        Type::Text => Cell::Text((*random.pick(STRINGS)).to_owned()),
        Type::Boolean => Cell::Bool(random.chance(50)),
        Type::Uuid => Cell::Text((*random.pick(UUIDS)).to_owned()),
        Type::Date => Cell::Text(day(random)),
        Type::DateTime => Cell::Text(format!("{}T{}", day(random), random.pick(TIMES))),
        Type::Timestamp => Cell::Text(format!("{}T{}.000Z", day(random), random.pick(TIMES))),
        Type::Time => Cell::Text((*random.pick(TIMES)).to_owned()),
        Type::Json => Cell::Json(
            random
                .pick(&[
                    json!({ "a": 1 }),
                    json!([1, "x"]),
                    json!({ "deep": [{ "é": null }] }),
                    json!(7),
                    json!("text"),
                    json!(true),
                ])
                .clone(),
        ),
        Type::List => Cell::Json(
            random.pick(&[json!([]), json!([1]), json!(["a", "b"]), json!([[1, 2], { "a": [] }, null])]).clone(),
        ),
        Type::Csv => Cell::Csv(
            (0..random.below(4)).map(|_| (*random.pick(&["red", "Blue", "grün", "a_b", "100%"])).to_owned()).collect(),
        ),
    }
}

/// The key of a row; unlike those of its neighbours.
pub fn key(kind: Type, position: usize, random: &mut Random) -> Cell {
    match kind {
        Type::Uuid => {
            let head = random.next() as u32;
            Cell::Text(format!("{head:08x}-0000-4000-8000-{position:012x}"))
        }
        Type::Word => {
            let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
            Cell::Text(format!("{}{}{}", letter(random.below(26)), letter(position / 26), letter(position)))
        }
        _ => Cell::Whole(position as i128 * 3 + 1),
    }
}

/// A word of its own for a row: letters only, never part of another.
pub fn mark(collection: usize, position: usize) -> String {
    let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
    format!("zq{}{}{}qz", letter(collection), letter(position / 26), letter(position))
}

/// A value as text without quotes, as a many-to-any key holds it.
pub fn plain_text(cell: &Cell) -> String {
    match cell {
        Cell::Whole(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
        other => panic!("no key: {other:?}"),
    }
}

/// Thousandths as digits.
pub fn decimal(thousandths: i128) -> String {
    let sign = if thousandths < 0 { "-" } else { "" };
    format!("{sign}{}.{:03}", thousandths.abs() / 1000, thousandths.abs() % 1000)
}

/// A value as the server renders it.
pub fn rendered(kind: Type, cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Whole(number) if kind == Type::BigInteger => json!(number.to_string()),
        Cell::Whole(number) => json!(i64::try_from(*number).expect("64 bits")),
        Cell::Decimal(thousandths) => json!(decimal(*thousandths)),
        Cell::Float(number) => json!(number),
        Cell::Bool(flag) => json!(flag),
        Cell::Text(text) => json!(text),
        Cell::Json(value) => value.clone(),
        Cell::Csv(items) => json!(items),
    }
}

/// A value as a client may write it.
pub fn written(cell: &Cell) -> Value {
    match cell {
        Cell::Whole(number) if number.abs() > 1 << 53 => json!(number.to_string()),
        Cell::Whole(number) => json!(i64::try_from(*number).expect("64 bits")),
        Cell::Decimal(thousandths) => json!(decimal(*thousandths)),
        other => rendered(Type::Text, other),
    }
}
