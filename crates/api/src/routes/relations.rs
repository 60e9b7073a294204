//! `/relations`: what makes fields relational.

use actix_web::web::{self, Path, ServiceConfig};
use waymark_core::system::relations;

use super::{get, resource};
use crate::{
    extract::Call,
    respond::{self, Answer},
};

pub fn configure(config: &mut ServiceConfig) {
    config.service(resource("/relations").route(get().to(list)).route(web::post().to(create)));
    config.service(resource("/relations/{collection}").route(get().to(list_of)));
    config.service(
        resource("/relations/{collection}/{field}")
            .route(get().to(one))
            .route(web::patch().to(update))
            .route(web::delete().to(delete)),
    );
}

async fn list(call: Call) -> Answer {
    let ctx = call.ctx().await?;
    respond::value(&relations::list(&ctx).await?.into())
}

async fn list_of(call: Call, path: Path<String>) -> Answer {
    let ctx = call.ctx().await?;
    respond::value(&relations::list_of(&ctx, &path).await?.into())
}

async fn one(call: Call, path: Path<(String, String)>) -> Answer {
    let ctx = call.ctx().await?;
    respond::value(&relations::one(&ctx, &path.0, &path.1).await?)
}

async fn create(mut call: Call) -> Answer {
    let body = call.object()?;
    let ctx = call.ctx().await?;
    respond::value(&relations::create(&ctx, &body).await?)
}

async fn update(mut call: Call, path: Path<(String, String)>) -> Answer {
    let body = call.object()?;
    let ctx = call.ctx().await?;
    respond::value(&relations::update(&ctx, &path.0, &path.1, &body).await?)
}

async fn delete(call: Call, path: Path<(String, String)>) -> Answer {
    let ctx = call.ctx().await?;
    relations::delete(&ctx, &path.0, &path.1).await?;
    Ok(respond::empty())
}
