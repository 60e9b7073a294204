//! `/server/*`: ping, info, health.

use std::time::Instant;

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
    web::ServiceConfig,
};
use serde_json::{Map, Value, json};
use waymark_core::{
    items,
    query::{
        Query,
        ast::{Limit, PathStep},
    },
};

use super::{get, resource};
use crate::{
    extract::Call,
    respond::{self, Answer},
    state::State,
};

pub fn configure(config: &mut ServiceConfig) {
    config.service(resource("/server/ping").route(get().to(ping)));
    config.service(resource("/server/info").route(get().to(info)));
    config.service(resource("/server/health").route(get().to(health)));
}

/// Needs no caller: a bad token is not looked at.
async fn ping() -> HttpResponse {
    HttpResponse::Ok().content_type("text/html; charset=utf-8").body("pong")
}

const PROJECT: &[&str] = &[
    "project_name",
    "project_descriptor",
    "project_logo",
    "project_color",
    "default_language",
    "public_foreground",
    "public_background",
    "public_note",
    "custom_css",
];

async fn info(call: Call) -> Answer {
    let state = &call.state;
    let mut info = Map::new();
    info.insert("project".to_owned(), Value::Object(project(state).await));
    if call.actor.user_id().is_some() || call.actor.as_share().is_some() {
        info.insert("rateLimit".to_owned(), false.into());
        info.insert("rateLimitGlobal".to_owned(), false.into());
        let limits = &state.engine.settings.limits;
        let default = match limits.default_limit {
            Limit::Rows(rows) => json!(rows),
            Limit::Unlimited => json!(-1),
        };
        let max = limits.max_limit.map_or(json!(-1), |max| json!(max));
        info.insert("queryLimit".to_owned(), json!({ "default": default, "max": max }));
    }
    if call.actor.is_admin() {
        info.insert("waymark".to_owned(), json!({ "version": env!("CARGO_PKG_VERSION") }));
    }
    respond::value(&Value::Object(info))
}

/// What everybody may know of the project. Read with the server's own rights; fields that the
/// settings table lacks, and a table without a row, are null.
async fn project(state: &State) -> Map<String, Value> {
    let ctx = state.engine.system_context();
    let known = ctx.schema.collection("directus_settings");
    let names = PROJECT.iter().filter(|name| known.is_some_and(|settings| settings.field(name).is_some()));
    let step = |name: &&str| vec![PathStep { name: (**name).to_owned(), scope: None, function: None }];
    let query = Query { fields: Some(names.map(step).collect()), ..Query::default() };
    let mut stored = match items::read(&ctx, "directus_settings", &query, None).await {
        Ok(page) => serde_json::from_str::<Map<String, Value>>(page.data.get()).unwrap_or_default(),
        Err(_) => Map::new(),
    };
    let mut project: Map<String, Value> =
        PROJECT.iter().map(|name| ((*name).to_owned(), stored.remove(*name).unwrap_or(Value::Null))).collect();
    if let Some(name) = project.get_mut("project_name").filter(|name| name.is_null()) {
        *name = state.settings.general.project_name.as_deref().unwrap_or("Waymark").into();
    }
    project
}

async fn health(call: Call) -> Answer {
    let state = &call.state;
    let database = database_check(state).await;
    let mut status = database.get("status").cloned().unwrap_or_default();
    if status == "ok" && state.replicas.warns(&state.settings) {
        status = "warn".into();
    }
    if state.drain.is_ending() {
        status = "error".into();
    }
    let mut health = Map::new();
    health.insert("status".to_owned(), status.clone());
    if call.actor.is_admin() {
        let name = format!("{}:responseTime", state.settings.database.client.name());
        health.insert("releaseId".to_owned(), env!("CARGO_PKG_VERSION").into());
        health.insert("serviceId".to_owned(), state.settings.security.key.reveal().into());
        let mut checks = Map::from_iter([(name, json!([database]))]);
        checks.extend(state.replicas.checks(&state.settings));
        health.insert("checks".to_owned(), checks.into());
    }
    let code = if status == "error" { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    Ok(HttpResponse::build(code)
        .insert_header((header::CONTENT_TYPE, "application/health+json; charset=utf-8"))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .body(Value::Object(health).to_string()))
}

/// The response time of the database, in milliseconds.
async fn database_check(state: &State) -> Value {
    let threshold = state.settings.database.healthcheck_threshold;
    let started = Instant::now();
    let answer = tokio::time::timeout(std::time::Duration::from_secs(5), state.engine.db.pool().ping()).await;
    let elapsed = (started.elapsed().as_secs_f64() * 1e6).round() / 1e3;
    let status = match answer {
        Ok(Ok(())) if elapsed > threshold as f64 => "warn",
        Ok(Ok(())) => "ok",
        Ok(Err(error)) => {
            tracing::error!(%error, "the database does not answer");
            "error"
        }
        Err(_) => {
            tracing::error!("the database does not answer in time");
            "error"
        }
    };
    json!({
        "componentType": "datastore",
        "status": status,
        "observedValue": elapsed,
        "observedUnit": "ms",
        "threshold": threshold,
    })
}
