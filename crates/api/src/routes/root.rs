//! `/` and `/robots.txt`: outside of authentication.

use actix_web::{HttpRequest, HttpResponse, http::header, web::ServiceConfig};
use waymark_core::{Code, Error};

use super::{get, resource};
use crate::{extract::state, respond::Answer};

pub fn configure(config: &mut ServiceConfig) {
    config.service(resource("/").route(get().to(redirect)));
    config.service(resource("/robots.txt").route(get().to(robots)));
}

async fn redirect(request: HttpRequest) -> Answer {
    let state = state(&request)?;
    match &state.settings.general.root_redirect {
        Some(target) => Ok(HttpResponse::Found().insert_header((header::LOCATION, target.as_str())).finish()),
        None => Err(Error::new(Code::RouteNotFound).into()),
    }
}

async fn robots(request: HttpRequest) -> Answer {
    let text = state(&request)?.settings.general.robots_txt.clone();
    Ok(HttpResponse::Ok().content_type("text/plain; charset=utf-8").body(text))
}
