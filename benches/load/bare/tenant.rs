//! The posts of a tenant: those of its authors. Who asks is simply believed. One statement.

use actix_web::{
    HttpResponse,
    web::{Data, Path, Query},
};
use serde::Serialize;
use sqlx::{PgPool, Row, postgres::PgRow, types::Uuid};

use super::{Bounds, Named, answered, moment};

const LIST: &str = "SELECT p.id, p.title, p.slug, p.views, p.published, a.name \
    FROM posts AS p JOIN authors AS a ON a.id = p.author \
    WHERE a.owner = $1 AND p.views > 100 ORDER BY p.published DESC, p.id LIMIT $2";

#[derive(Serialize)]
struct Post<'r> {
    id: i32,
    title: &'r str,
    slug: &'r str,
    views: i32,
    published: Option<String>,
    author: Named<'r>,
}

impl<'r> Post<'r> {
    fn read(row: &'r PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            id: row.try_get(0)?,
            title: row.try_get(1)?,
            slug: row.try_get(2)?,
            views: row.try_get(3)?,
            published: moment(row, 4)?,
            author: Named { name: row.try_get(5)? },
        })
    }
}

pub async fn list(pool: Data<PgPool>, tenant: Path<Uuid>, bounds: Query<Bounds>) -> HttpResponse {
    let rows = sqlx::query(LIST).bind(*tenant).bind(bounds.limit).fetch_all(pool.get_ref()).await;
    let Ok(rows) = rows else { return HttpResponse::InternalServerError().finish() };
    let posts: sqlx::Result<Vec<Post<'_>>> = rows.iter().map(Post::read).collect();
    answered(posts)
}
