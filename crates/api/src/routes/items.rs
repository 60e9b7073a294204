//! `/items/:collection`: the operator's own collections.

use actix_web::web::{self, Path, ServiceConfig};
use serde_json::Value;
use waymark_core::{Code, Error, Result, items};

use super::{
    get,
    list::{self, Manner},
    resource, search,
};
use crate::{
    extract::Call,
    respond::{self, Answer},
};

pub fn configure(config: &mut ServiceConfig) {
    config.service(
        resource("/items/{collection}")
            .route(get().to(read))
            .route(search().to(search_items))
            .route(web::post().to(create))
            .route(web::patch().to(update_many))
            .route(web::delete().to(delete_many)),
    );
    config.service(
        resource("/items/{collection}/{key}")
            .route(get().to(read_one))
            .route(web::patch().to(update_one))
            .route(web::delete().to(delete_one)),
    );
}

/// System collections have routes of their own.
fn own(collection: &str) -> Result<()> {
    if collection.starts_with("directus_") { Err(Error::forbidden()) } else { Ok(()) }
}

fn is_singleton(call: &Call, collection: &str) -> bool {
    call.state.engine.registry.current().collection(collection).is_some_and(|collection| collection.singleton)
}

async fn read(call: Call, path: Path<String>) -> Answer {
    own(&path)?;
    list::list(call, &path, Manner::ITEMS).await
}

async fn search_items(call: Call, path: Path<String>) -> Answer {
    own(&path)?;
    list::search(call, &path, Manner::ITEMS).await
}

async fn create(call: Call, path: Path<String>) -> Answer {
    own(&path)?;
    if is_singleton(&call, &path) {
        return Err(Error::new(Code::RouteNotFound).into());
    }
    list::create(call, &path).await
}

async fn update_many(call: Call, path: Path<String>) -> Answer {
    own(&path)?;
    if is_singleton(&call, &path) {
        return update_singleton(call, &path).await;
    }
    list::update_many(call, &path).await
}

/// Writes a singleton's only item, whether it exists or not.
async fn update_singleton(mut call: Call, collection: &str) -> Answer {
    let payload = match call.body.take() {
        Some(Value::Array(_)) => return Err(Error::invalid_payload("A singleton takes one object.").into()),
        Some(Value::Object(payload)) => payload,
        _ => serde_json::Map::new(),
    };
    let ctx = call.ctx().await?;
    items::read::check(&ctx, collection, &call.query).await?;
    items::upsert_singleton(&ctx, collection, payload).await?;
    match items::read(&ctx, collection, &call.query, None).await {
        Ok(page) => Ok(respond::data(&page.data)),
        Err(error) => list::hidden(error),
    }
}

async fn delete_many(call: Call, path: Path<String>) -> Answer {
    own(&path)?;
    list::delete_many(call, &path).await
}

async fn read_one(call: Call, path: Path<(String, String)>) -> Answer {
    let (collection, key) = &*path;
    own(collection)?;
    list::one(call, collection, key).await
}

async fn update_one(call: Call, path: Path<(String, String)>) -> Answer {
    let (collection, key) = &*path;
    own(collection)?;
    if is_singleton(&call, collection) {
        return Err(Error::new(Code::RouteNotFound).into());
    }
    list::update_one(call, collection, key).await
}

async fn delete_one(call: Call, path: Path<(String, String)>) -> Answer {
    let (collection, key) = &*path;
    own(collection)?;
    list::delete_one(call, collection, key).await
}
