//! The collections `purchases` and `purchase_lines`: what is written. They begin empty and nothing is
//! recorded about their changes.

/// The tables, in the words of SQLite or PostgreSQL.
#[must_use]
pub fn tables(postgres: bool) -> Vec<String> {
    let (key, timestamp) = if postgres {
        ("serial PRIMARY KEY", "timestamptz")
    } else {
        ("integer PRIMARY KEY AUTOINCREMENT", "timestamp")
    };
    vec![
        format!(
            "CREATE TABLE purchases (id {key}, reference varchar(50) NOT NULL, note varchar(255), placed {timestamp}, \
             buyer integer REFERENCES authors (id))"
        ),
        format!(
            "CREATE TABLE purchase_lines (id {key}, product varchar(100) NOT NULL, quantity integer NOT NULL, \
             purchase integer REFERENCES purchases (id))"
        ),
        "CREATE INDEX purchase_lines_by_purchase ON purchase_lines (purchase)".to_owned(),
    ]
}
