//! `/users/me`: the caller's own user. Everything else under `/users` is served by the family.

use actix_web::web::{self, ServiceConfig};
use serde_json::{Value, json};
use uuid::Uuid;
use waymark_core::{Code, Error, Result, ident::Key, items, system};

use super::{get, list, resource};
use crate::{
    extract::Call,
    respond::{self, Answer},
};

const COLLECTION: &str = "directus_users";

pub fn configure(config: &mut ServiceConfig) {
    config.service(resource("/users/me").route(get().to(read)).route(web::patch().to(update)));
    config.service(resource("/users/me/track/page").route(web::patch().to(track_page)));
}

fn own_id(call: &Call) -> Result<Uuid> {
    call.actor.user_id().ok_or_else(|| Error::new(Code::InvalidCredentials))
}

/// Who may not read users at all learns the own id.
async fn read(call: Call) -> Answer {
    if let Some(share) = call.actor.as_share() {
        let role = json!({ "id": share.role, "admin_access": false, "app_access": false });
        return respond::value(&json!({ "share": share.id, "role": role }));
    }
    let id = own_id(&call)?;
    let ctx = call.ctx().await?;
    match items::read_one(&ctx, COLLECTION, &Key::Uuid(id), &call.query).await {
        Ok(user) => Ok(respond::data(&user)),
        Err(error) if error.code() == Code::Forbidden => respond::value(&json!({ "id": id })),
        Err(error) => Err(error.into()),
    }
}

async fn update(call: Call) -> Answer {
    let id = own_id(&call)?;
    list::update_one(call, COLLECTION, &id.to_string()).await
}

async fn track_page(mut call: Call) -> Answer {
    let id = own_id(&call)?;
    let body = call.object()?;
    let Some(page) = body.get("last_page").and_then(Value::as_str).filter(|page| !page.is_empty()) else {
        return Err(Error::invalid_payload("\"last_page\" is required.").into());
    };
    let ctx = call.ctx().await?;
    system::track_page(&ctx, id, page).await?;
    Ok(respond::empty())
}
