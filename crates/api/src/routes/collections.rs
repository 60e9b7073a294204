//! `/collections`: tables and folders.

use actix_web::web::{self, Path, ServiceConfig};
use serde_json::Value;
use waymark_core::{Error, Result, system::collections};

use super::{get, resource, search};
use crate::{
    extract::Call,
    respond::{self, Answer},
};

pub fn configure(config: &mut ServiceConfig) {
    config.service(
        resource("/collections")
            .route(get().to(list))
            .route(search().to(some))
            .route(web::post().to(create))
            .route(web::patch().to(update_many)),
    );
    config.service(
        resource("/collections/{collection}")
            .route(get().to(one))
            .route(web::patch().to(update))
            .route(web::delete().to(delete)),
    );
}

async fn list(call: Call) -> Answer {
    let ctx = call.ctx().await?;
    respond::value(&collections::list(&ctx).await?.into())
}

async fn some(mut call: Call) -> Answer {
    let keys = match call.object()?.remove("keys") {
        None | Some(Value::Null) => None,
        Some(Value::Array(keys)) => Some(names(keys)?),
        Some(_) => return Err(Error::invalid_payload("\"keys\" has to be a list of names.").into()),
    };
    let ctx = call.ctx().await?;
    let found = match keys {
        Some(keys) => collections::some(&ctx, &keys).await?,
        None => collections::list(&ctx).await?,
    };
    respond::value(&found.into())
}

fn names(keys: Vec<Value>) -> Result<Vec<String>> {
    let names = keys.into_iter().map(|key| match key {
        Value::String(name) => Ok(name),
        _ => Err(Error::invalid_payload("\"keys\" has to be a list of names.")),
    });
    names.collect()
}

async fn one(call: Call, path: Path<String>) -> Answer {
    let ctx = call.ctx().await?;
    respond::value(&collections::one(&ctx, &path).await?)
}

async fn create(mut call: Call) -> Answer {
    let body = call.body.take().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let ctx = call.ctx().await?;
    respond::value(&collections::create(&ctx, &body).await?)
}

async fn update(mut call: Call, path: Path<String>) -> Answer {
    let body = call.object()?;
    let ctx = call.ctx().await?;
    respond::value(&collections::update(&ctx, &path, &body).await?)
}

async fn update_many(mut call: Call) -> Answer {
    let Some(Value::Array(bodies)) = call.body.take() else {
        return Err(Error::invalid_payload("The request body has to be a list of collections.").into());
    };
    let ctx = call.ctx().await?;
    respond::value(&collections::update_many(&ctx, &bodies).await?.into())
}

async fn delete(call: Call, path: Path<String>) -> Answer {
    let ctx = call.ctx().await?;
    collections::delete(&ctx, &path).await?;
    Ok(respond::empty())
}
