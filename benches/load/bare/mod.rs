//! The baseline: what somebody would write by hand for just these answers. No log-in, no rights, no
//! conditional reads; the same bytes in the body. One file per collection that is read or written.

mod articles;
mod posts;
mod purchases;
mod tags;
mod tenant;
mod totals;

use std::net::TcpListener;

use actix_web::{
    App, HttpResponse, HttpServer,
    web::{self, Data},
};
use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use sqlx::{
    ConnectOptions, PgPool, Row,
    postgres::{PgConnectOptions, PgPoolOptions, PgRow},
};
use waymark_benches::scene;

#[derive(Serialize)]
struct Envelope<T> {
    data: T,
}

#[derive(Deserialize)]
struct Bounds {
    limit: i64,
}

/// Somebody's name.
#[derive(Serialize)]
struct Named<'r> {
    name: &'r str,
}

fn answer<T: Serialize>(data: T) -> HttpResponse {
    match serde_json::to_vec(&Envelope { data }) {
        Ok(bytes) => HttpResponse::Ok().content_type("application/json; charset=utf-8").body(bytes),
        Err(_) => HttpResponse::InternalServerError().finish(),
    }
}

/// The answer, or 500.
fn answered<T: Serialize>(data: sqlx::Result<T>) -> HttpResponse {
    data.map_or_else(|_| HttpResponse::InternalServerError().finish(), answer)
}

/// A moment as the interface writes it.
fn moment(row: &PgRow, index: usize) -> sqlx::Result<Option<String>> {
    let time: Option<DateTime<Utc>> = row.try_get(index)?;
    Ok(time.map(|time| time.to_rfc3339_opts(SecondsFormat::Millis, true)))
}

/// Serves until the process is killed.
pub async fn serve(url: &str, listener: TcpListener) {
    let connection: PgConnectOptions = url.parse().expect("a URL");
    let pool: PgPool = PgPoolOptions::new()
        .max_connections(scene::CONNECTIONS)
        .test_before_acquire(false)
        .connect_with(connection.disable_statement_logging())
        .await
        .expect("PostgreSQL answers");
    let pool = Data::new(pool);
    let application = move || {
        App::new()
            .app_data(pool.clone())
            .route("/items/articles", web::get().to(articles::list))
            .route("/items/articles/{id}", web::get().to(articles::one))
            .route("/posts/nested", web::get().to(posts::list))
            .route("/posts/tags", web::get().to(tags::list))
            .route("/posts/totals", web::get().to(totals::list))
            .route("/posts/of/{tenant}", web::get().to(tenant::list))
            .route("/purchases", web::post().to(purchases::create))
    };
    let server = HttpServer::new(application).disable_signals().workers(scene::WORKERS);
    server.listen(listener).expect("a listener").run().await.expect("the server runs");
}
