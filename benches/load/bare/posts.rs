//! A nested list: posts with their author, and of each the latest approved comments. One statement: the
//! posts first, and for each the few comments that count; a post's rows follow each other.

use actix_web::{
    HttpResponse,
    web::{Data, Query},
};
use serde::Serialize;
use sqlx::{PgPool, Row, postgres::PgRow};

use super::{Bounds, Named, answered, moment};

const LIST: &str = "SELECT p.id, p.title, p.slug, p.published, p.name, c.text, c.written \
    FROM (SELECT posts.id, title, slug, published, name FROM posts LEFT JOIN authors ON authors.id = posts.author \
          WHERE status = 'published' ORDER BY published DESC, posts.id LIMIT $1) AS p \
    LEFT JOIN LATERAL (SELECT id, text, written FROM comments WHERE post = p.id AND approved \
          ORDER BY written DESC, id LIMIT 3) AS c ON true \
    ORDER BY p.published DESC, p.id, c.written DESC, c.id";

#[derive(Serialize)]
struct Post<'r> {
    id: i32,
    title: &'r str,
    slug: &'r str,
    published: Option<String>,
    author: Option<Named<'r>>,
    comments: Vec<Comment<'r>>,
}

#[derive(Serialize)]
struct Comment<'r> {
    text: &'r str,
    written: Option<String>,
}

fn posts(rows: &[PgRow]) -> sqlx::Result<Vec<Post<'_>>> {
    let mut posts: Vec<Post<'_>> = Vec::with_capacity(25);
    for row in rows {
        let id: i32 = row.try_get(0)?;
        if posts.last().is_none_or(|post| post.id != id) {
            let name: Option<&str> = row.try_get(4)?;
            posts.push(Post {
                id,
                title: row.try_get(1)?,
                slug: row.try_get(2)?,
                published: moment(row, 3)?,
                author: name.map(|name| Named { name }),
                comments: Vec::with_capacity(3),
            });
        }
        let text: Option<&str> = row.try_get(5)?;
        if let (Some(post), Some(text)) = (posts.last_mut(), text) {
            post.comments.push(Comment { text, written: moment(row, 6)? });
        }
    }
    Ok(posts)
}

pub async fn list(pool: Data<PgPool>, bounds: Query<Bounds>) -> HttpResponse {
    let rows = sqlx::query(LIST).bind(bounds.limit).fetch_all(pool.get_ref()).await;
    let Ok(rows) = rows else { return HttpResponse::InternalServerError().finish() };
    answered(posts(&rows))
}
