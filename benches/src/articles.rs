//! The collection `articles`: 10 columns, about 400 bytes of JSON a row.

use std::fmt::Write;

/// Rows of the collection, with the keys 1 to this.
pub const ROWS: usize = 1000;

/// The columns, in the order of the table and of the answers.
pub const COLUMNS: &str = "id, title, slug, status, summary, body, author, views, featured, published";

/// `CREATE TABLE`, in the words of SQLite or PostgreSQL.
#[must_use]
pub fn table(postgres: bool) -> String {
    let timestamp = if postgres { "timestamptz" } else { "timestamp" };
    format!(
        "CREATE TABLE articles (id integer PRIMARY KEY, title varchar(255) NOT NULL, slug varchar(255) NOT NULL, \
         status varchar(20) NOT NULL, summary varchar(255), body text, author varchar(100), \
         views integer NOT NULL, featured boolean NOT NULL, published {timestamp})"
    )
}

/// One `INSERT` of all rows.
#[must_use]
pub fn rows() -> String {
    let mut sql = format!("INSERT INTO articles ({COLUMNS}) VALUES ");
    for id in 1..=ROWS {
        let separator = if id == 1 { "" } else { ", " };
        let (status, featured) = if id % 7 == 0 { ("draft", "true") } else { ("published", "false") };
        let (day, hour, minute) = (id % 28 + 1, id % 24, id % 60);
        // Writing to a String can't fail.
        let _ = write!(
            sql,
            "{separator}({id}, 'How the river found its way, part {id}', 'how-the-river-found-its-way-{id}', '{status}', \
             'A \"short\" account of café number {id}', 'It rained for {minute} days. Then the water rose over the fields, \
             the paths and the lower gardens, and nobody could say where the river ended.', 'Author {}', {}, {featured}, \
             '2026-01-{day:02} {hour:02}:{minute:02}:00')",
            id % 50,
            id * 37,
        );
    }
    sql
}
