//! `waymark demo`: a small blog on SQLite under `./data`.

use super::Failed;

pub async fn run() -> Result<(), Failed> {
    Err("not built yet".into())
}
