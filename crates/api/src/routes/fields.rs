//! `/fields`: columns and alias fields.

use actix_web::web::{self, Path, ServiceConfig};
use serde_json::Value;
use waymark_core::{Error, system::fields};

use super::{get, resource};
use crate::{
    extract::Call,
    respond::{self, Answer},
};

pub fn configure(config: &mut ServiceConfig) {
    config.service(resource("/fields").route(get().to(list)));
    config.service(
        resource("/fields/{collection}")
            .route(get().to(list_of))
            .route(web::post().to(create))
            .route(web::patch().to(update_many)),
    );
    config.service(
        resource("/fields/{collection}/{field}")
            .route(get().to(one))
            .route(web::patch().to(update))
            .route(web::delete().to(delete)),
    );
}

async fn list(call: Call) -> Answer {
    let ctx = call.ctx().await?;
    respond::value(&fields::list(&ctx).await?.into())
}

async fn list_of(call: Call, path: Path<String>) -> Answer {
    let ctx = call.ctx().await?;
    respond::value(&fields::list_of(&ctx, &path).await?.into())
}

async fn one(call: Call, path: Path<(String, String)>) -> Answer {
    let ctx = call.ctx().await?;
    respond::value(&fields::one(&ctx, &path.0, &path.1).await?)
}

async fn create(mut call: Call, path: Path<String>) -> Answer {
    let body = Value::Object(call.object()?);
    let ctx = call.ctx().await?;
    respond::value(&fields::create(&ctx, &path, &body).await?)
}

async fn update(mut call: Call, path: Path<(String, String)>) -> Answer {
    let body = call.object()?;
    let ctx = call.ctx().await?;
    respond::value(&fields::update(&ctx, &path.0, &path.1, &body).await?)
}

async fn update_many(mut call: Call, path: Path<String>) -> Answer {
    let Some(Value::Array(bodies)) = call.body.take() else {
        return Err(Error::invalid_payload("The request body has to be a list of fields.").into());
    };
    let ctx = call.ctx().await?;
    respond::value(&fields::update_many(&ctx, &path, &bodies).await?.into())
}

async fn delete(call: Call, path: Path<(String, String)>) -> Answer {
    let ctx = call.ctx().await?;
    fields::delete(&ctx, &path.0, &path.1).await?;
    Ok(respond::empty())
}
