//! Groups of posts by status and month, with their number and the sum of their views. One statement.

use actix_web::{HttpResponse, web::Data};
use serde::Serialize;
use sqlx::{PgPool, Row, postgres::PgRow};

use super::answered;

const LIST: &str = "SELECT status, EXTRACT(MONTH FROM published AT TIME ZONE 'UTC')::int, COUNT(*), SUM(views) \
    FROM posts GROUP BY 1, 2 ORDER BY 1, 2";

#[derive(Serialize)]
struct Group<'r> {
    status: &'r str,
    published_month: Option<i32>,
    count: i64,
    sum: Sum,
}

#[derive(Serialize)]
struct Sum {
    views: Option<i64>,
}

impl<'r> Group<'r> {
    fn read(row: &'r PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            status: row.try_get(0)?,
            published_month: row.try_get(1)?,
            count: row.try_get(2)?,
            sum: Sum { views: row.try_get(3)? },
        })
    }
}

pub async fn list(pool: Data<PgPool>) -> HttpResponse {
    let rows = sqlx::query(LIST).fetch_all(pool.get_ref()).await;
    let Ok(rows) = rows else { return HttpResponse::InternalServerError().finish() };
    let groups: sqlx::Result<Vec<Group<'_>>> = rows.iter().map(Group::read).collect();
    answered(groups)
}
