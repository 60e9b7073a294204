//! A point read and flat lists.

use actix_web::{
    HttpResponse,
    web::{Data, Path, Query},
};
use serde::Serialize;
use sqlx::{PgPool, Row, postgres::PgRow};

use super::{Bounds, answered, moment};

const ONE: &str = "SELECT id, title, slug, status, summary, body, author, views, featured, published \
    FROM articles WHERE id = $1";
const LIST: &str = "SELECT id, title, slug, status, summary, body, author, views, featured, published \
    FROM articles ORDER BY id LIMIT $1";

#[derive(Serialize)]
struct Article<'r> {
    id: i32,
    title: &'r str,
    slug: &'r str,
    status: &'r str,
    summary: Option<&'r str>,
    body: Option<&'r str>,
    author: Option<&'r str>,
    views: i32,
    featured: bool,
    published: Option<String>,
}

impl<'r> Article<'r> {
    fn read(row: &'r PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            id: row.try_get(0)?,
            title: row.try_get(1)?,
            slug: row.try_get(2)?,
            status: row.try_get(3)?,
            summary: row.try_get(4)?,
            body: row.try_get(5)?,
            author: row.try_get(6)?,
            views: row.try_get(7)?,
            featured: row.try_get(8)?,
            published: moment(row, 9)?,
        })
    }
}

pub async fn one(pool: Data<PgPool>, id: Path<i32>) -> HttpResponse {
    match sqlx::query(ONE).bind(*id).fetch_optional(pool.get_ref()).await {
        Ok(Some(row)) => answered(Article::read(&row)),
        Ok(None) => HttpResponse::NotFound().finish(),
        Err(_) => HttpResponse::InternalServerError().finish(),
    }
}

pub async fn list(pool: Data<PgPool>, bounds: Query<Bounds>) -> HttpResponse {
    let rows = sqlx::query(LIST).bind(bounds.limit).fetch_all(pool.get_ref()).await;
    let Ok(rows) = rows else { return HttpResponse::InternalServerError().finish() };
    let articles: sqlx::Result<Vec<Article<'_>>> = rows.iter().map(Article::read).collect();
    answered(articles)
}
