//! The collections `posts`, `authors`, `comments` and `tags`: 50 authors, 20 posts each, 8 comments and 3
//! tags a post. Every fifth author belongs to the tenant.

use std::fmt::Write;

/// Rows of `posts`, with the keys 1 to this.
pub const POSTS: usize = 1000;
const AUTHORS: usize = 50;
const TAGS: usize = 30;
const COMMENTS_EACH: usize = 8;
const TAGS_EACH: usize = 3;

/// The tables and their indexes, in the words of SQLite or PostgreSQL.
#[must_use]
pub fn tables(postgres: bool) -> Vec<String> {
    let (timestamp, uuid) = if postgres { ("timestamptz", "uuid") } else { ("timestamp", "char(36)") };
    vec![
        format!("CREATE TABLE authors (id integer PRIMARY KEY, name varchar(100) NOT NULL, owner {uuid})"),
        format!(
            "CREATE TABLE posts (id integer PRIMARY KEY, title varchar(255) NOT NULL, slug varchar(255) NOT NULL, \
             status varchar(20) NOT NULL, body text, views integer NOT NULL, published {timestamp}, \
             author integer REFERENCES authors (id))"
        ),
        format!(
            "CREATE TABLE comments (id integer PRIMARY KEY, text varchar(255) NOT NULL, approved boolean NOT NULL, \
             written {timestamp}, post integer REFERENCES posts (id))"
        ),
        "CREATE TABLE tags (id integer PRIMARY KEY, name varchar(50) NOT NULL)".to_owned(),
        "CREATE TABLE posts_tags (id integer PRIMARY KEY, posts_id integer REFERENCES posts (id), \
         tags_id integer REFERENCES tags (id))"
            .to_owned(),
        "CREATE INDEX posts_by_time ON posts (published DESC, id)".to_owned(),
        "CREATE INDEX posts_by_author ON posts (author)".to_owned(),
        "CREATE INDEX comments_by_post ON comments (post)".to_owned(),
        "CREATE INDEX posts_tags_by_post ON posts_tags (posts_id)".to_owned(),
    ]
}

/// The rows of all tables.
#[must_use]
pub fn rows() -> Vec<String> {
    vec![
        insert("authors (id, name)", AUTHORS, |sql, id| write!(sql, "({id}, 'Author number {id}')")),
        insert("posts (id, title, slug, status, body, views, published, author)", POSTS, |sql, id| {
            let status = if id % 7 == 0 { "draft" } else { "published" };
            let (month, day, hour, minute) = (id % 12 + 1, id % 28 + 1, id % 24, id % 60);
            write!(
                sql,
                "({id}, 'A \"post\" about café number {id}', 'post-about-cafe-number-{id}', '{status}', \
                 'It rained for {minute} days. Then the water rose over the fields.', {}, \
                 '2026-{month:02}-{day:02} {hour:02}:{minute:02}:00', {})",
                id * 37,
                id % AUTHORS + 1,
            )
        }),
        insert("comments (id, text, approved, written, post)", POSTS * COMMENTS_EACH, |sql, id| {
            let (day, hour, minute) = (id % 28 + 1, id % 24, id % 60);
            write!(
                sql,
                "({id}, 'Comment {id}: I was there \"by the river\" and saw it rise.', {}, \
                 '2026-11-{day:02} {hour:02}:{minute:02}:00', {})",
                id % 3 != 0,
                id % POSTS + 1,
            )
        }),
        insert("tags (id, name)", TAGS, |sql, id| write!(sql, "({id}, 'tag number {id}')")),
        insert("posts_tags (id, posts_id, tags_id)", POSTS * TAGS_EACH, |sql, id| {
            write!(sql, "({id}, {}, {})", id % POSTS + 1, id * 7 % TAGS + 1)
        }),
    ]
}

/// Gives every fifth author to a user.
#[must_use]
pub fn own(user: &str) -> String {
    format!("UPDATE authors SET owner = '{user}' WHERE id % 5 = 0")
}

fn insert(into: &str, rows: usize, row: impl Fn(&mut String, usize) -> std::fmt::Result) -> String {
    let mut sql = format!("INSERT INTO {into} VALUES ");
    for id in 1..=rows {
        if id > 1 {
            sql.push_str(", ");
        }
        // Writing to a String can't fail.
        let _ = row(&mut sql, id);
    }
    sql
}
