//! A purchase with its lines, written by one statement and read back by another.

use actix_web::{
    HttpResponse,
    web::{Data, Json},
};
use serde::{Deserialize, Serialize};
use sqlx::{PgPool, Row};

use super::{Named, answered};

const CREATE: &str = "WITH purchase AS ( \
        INSERT INTO purchases (reference, note, placed, buyer) VALUES ($1, $2, $3::timestamptz, $4) RETURNING id), \
    lines AS ( \
        INSERT INTO purchase_lines (product, quantity, purchase) \
        SELECT line.product, line.quantity, purchase.id \
        FROM purchase CROSS JOIN unnest($5::text[], $6::int[]) AS line (product, quantity)) \
    SELECT id FROM purchase";
const READ: &str = "SELECT p.reference, p.note, a.name, l.product, l.quantity \
    FROM purchases AS p LEFT JOIN authors AS a ON a.id = p.buyer LEFT JOIN purchase_lines AS l ON l.purchase = p.id \
    WHERE p.id = $1 ORDER BY l.id";

#[derive(Deserialize)]
pub struct NewPurchase {
    reference: String,
    note: Option<String>,
    placed: Option<String>,
    buyer: Option<i32>,
    lines: Vec<NewLine>,
}

#[derive(Deserialize)]
struct NewLine {
    product: String,
    quantity: i32,
}

#[derive(Serialize)]
struct Purchase<'r> {
    reference: &'r str,
    note: Option<&'r str>,
    buyer: Option<Named<'r>>,
    lines: Vec<Line<'r>>,
}

#[derive(Serialize)]
struct Line<'r> {
    product: &'r str,
    quantity: i32,
}

pub async fn create(pool: Data<PgPool>, new: Json<NewPurchase>) -> HttpResponse {
    match write(&pool, &new).await {
        Ok(response) => response,
        Err(_) => HttpResponse::InternalServerError().finish(),
    }
}

async fn write(pool: &PgPool, new: &NewPurchase) -> sqlx::Result<HttpResponse> {
    let products: Vec<&str> = new.lines.iter().map(|line| line.product.as_str()).collect();
    let quantities: Vec<i32> = new.lines.iter().map(|line| line.quantity).collect();
    let created = sqlx::query(CREATE)
        .bind(&new.reference)
        .bind(&new.note)
        .bind(&new.placed)
        .bind(new.buyer)
        .bind(products)
        .bind(quantities)
        .fetch_one(pool)
        .await?;
    let id: i32 = created.try_get(0)?;
    let rows = sqlx::query(READ).bind(id).fetch_all(pool).await?;
    let first = rows.first().ok_or(sqlx::Error::RowNotFound)?;
    let name: Option<&str> = first.try_get(2)?;
    let lines: sqlx::Result<Vec<Line<'_>>> =
        rows.iter().map(|row| Ok(Line { product: row.try_get(3)?, quantity: row.try_get(4)? })).collect();
    Ok(answered(lines.and_then(|lines| {
        Ok(Purchase {
            reference: first.try_get(0)?,
            note: first.try_get(1)?,
            buyer: name.map(|name| Named { name }),
            lines,
        })
    })))
}
