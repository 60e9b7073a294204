//! A list with the names of tags: posts, and their tags through the junction. One statement; a post's
//! rows follow each other.

use actix_web::{
    HttpResponse,
    web::{Data, Query},
};
use serde::Serialize;
use sqlx::{PgPool, Row, postgres::PgRow};

use super::{Bounds, Named, answered};

const LIST: &str = "SELECT p.id, p.title, j.id, j.name \
    FROM (SELECT id, title FROM posts ORDER BY id LIMIT $1) AS p \
    LEFT JOIN LATERAL (SELECT posts_tags.id, name FROM posts_tags LEFT JOIN tags ON tags.id = posts_tags.tags_id \
          WHERE posts_id = p.id ORDER BY posts_tags.id) AS j ON true \
    ORDER BY p.id, j.id";

#[derive(Serialize)]
struct Post<'r> {
    id: i32,
    title: &'r str,
    tags: Vec<Tag<'r>>,
}

#[derive(Serialize)]
struct Tag<'r> {
    tags_id: Option<Named<'r>>,
}

fn posts(rows: &[PgRow]) -> sqlx::Result<Vec<Post<'_>>> {
    let mut posts: Vec<Post<'_>> = Vec::with_capacity(25);
    for row in rows {
        let id: i32 = row.try_get(0)?;
        if posts.last().is_none_or(|post| post.id != id) {
            posts.push(Post { id, title: row.try_get(1)?, tags: Vec::new() });
        }
        let link: Option<i32> = row.try_get(2)?;
        let name: Option<&str> = row.try_get(3)?;
        if let (Some(post), Some(_)) = (posts.last_mut(), link) {
            post.tags.push(Tag { tags_id: name.map(|name| Named { name }) });
        }
    }
    Ok(posts)
}

pub async fn list(pool: Data<PgPool>, bounds: Query<Bounds>) -> HttpResponse {
    let rows = sqlx::query(LIST).bind(bounds.limit).fetch_all(pool.get_ref()).await;
    let Ok(rows) = rows else { return HttpResponse::InternalServerError().finish() };
    answered(posts(&rows))
}
