//! The baseline: what somebody would write by hand for just these answers. No log-in, no rights, no
//! conditional reads; the same bytes in the body.

use std::net::TcpListener;

use actix_web::{
    App, HttpResponse, HttpServer,
    web::{self, Data, Path, Query},
};
use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use sqlx::{
    ConnectOptions, PgPool, Row,
    postgres::{PgConnectOptions, PgPoolOptions, PgRow},
};
use waymark_benches::scene;

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

#[derive(Serialize)]
struct Envelope<T> {
    data: T,
}

#[derive(Deserialize)]
struct Bounds {
    limit: i64,
}

impl<'r> Article<'r> {
    fn read(row: &'r PgRow) -> sqlx::Result<Self> {
        let published: Option<DateTime<Utc>> = row.try_get(9)?;
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
            published: published.map(|time| time.to_rfc3339_opts(SecondsFormat::Millis, true)),
        })
    }
}

fn answer<T: Serialize>(data: T) -> HttpResponse {
    match serde_json::to_vec(&Envelope { data }) {
        Ok(bytes) => HttpResponse::Ok().content_type("application/json; charset=utf-8").body(bytes),
        Err(_) => HttpResponse::InternalServerError().finish(),
    }
}

async fn one(pool: Data<PgPool>, id: Path<i32>) -> HttpResponse {
    match sqlx::query(ONE).bind(*id).fetch_optional(pool.get_ref()).await {
        Ok(Some(row)) => Article::read(&row).map_or_else(|_| HttpResponse::InternalServerError().finish(), answer),
        Ok(None) => HttpResponse::NotFound().finish(),
        Err(_) => HttpResponse::InternalServerError().finish(),
    }
}

async fn list(pool: Data<PgPool>, bounds: Query<Bounds>) -> HttpResponse {
    let rows = sqlx::query(LIST).bind(bounds.limit).fetch_all(pool.get_ref()).await;
    let Ok(rows) = rows else { return HttpResponse::InternalServerError().finish() };
    let articles: sqlx::Result<Vec<Article<'_>>> = rows.iter().map(Article::read).collect();
    articles.map_or_else(|_| HttpResponse::InternalServerError().finish(), answer)
}

/// Serves until the process is killed.
pub async fn serve(url: &str, listener: TcpListener) {
    let connection: PgConnectOptions = url.parse().expect("a URL");
    let pool = PgPoolOptions::new()
        .max_connections(scene::CONNECTIONS)
        .test_before_acquire(false)
        .connect_with(connection.disable_statement_logging())
        .await
        .expect("PostgreSQL answers");
    let pool = Data::new(pool);
    let application = move || {
        App::new()
            .app_data(pool.clone())
            .route("/items/articles", web::get().to(list))
            .route("/items/articles/{id}", web::get().to(one))
    };
    let server = HttpServer::new(application).disable_signals().workers(scene::WORKERS);
    server.listen(listener).expect("a listener").run().await.expect("the server runs");
}
