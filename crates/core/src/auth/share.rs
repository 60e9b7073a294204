//! Callers with the link of a share: what the share's row says now counts, whatever the token says.
//! Not here: what they may read (`access::share`).

use chrono::Utc;
use sea_query::{Expr, ExprTrait, JoinType, Query};
use uuid::Uuid;

use super::{identity::parse_addresses, rows};
use crate::{
    actor::{Actor, Origin, ShareActor},
    context::Engine,
    error::{Code, Error, Result},
};

/// The caller that a share's token stands for.
///
/// # Errors
/// `INVALID_CREDENTIALS` when the share is gone or outside of its dates, `INVALID_IP`.
pub(super) async fn actor(engine: &Engine, id: Uuid, origin: Origin) -> Result<Actor> {
    let conn = engine.db.executor();
    let dialect = conn.dialect();
    let select = Query::select()
        .columns(["collection", "item", "role", "date_start", "date_end"].map(|column| ("share", column)))
        .column(("role", "ip_access"))
        .from_as("directus_shares", "share")
        .join_as(JoinType::LeftJoin, "directus_roles", "role", Expr::col(("role", "id")).equals(("share", "role")))
        .and_where(Expr::col(("share", "id")).eq(rows::uuid(dialect, id)))
        .to_owned();
    let gone = || Error::new(Code::InvalidCredentials);
    let row = conn.query_one(conn.build(&select)).await?.ok_or_else(gone)?;
    let now = Utc::now();
    let begins = rows::read_moment(dialect, &row, "date_start")?;
    let ends = rows::read_moment(dialect, &row, "date_end")?;
    if begins.is_some_and(|begins| now < begins) || ends.is_some_and(|ends| ends < now) {
        return Err(gone());
    }
    let (Some(collection), Some(item)) = (rows::read_text(&row, "collection")?, rows::read_text(&row, "item")?) else {
        return Err(gone());
    };
    let (addresses, restricted) = parse_addresses(rows::read_text(&row, "ip_access")?.as_deref().unwrap_or_default());
    if restricted && !origin.ip.is_some_and(|address| addresses.contains(&address.to_canonical())) {
        return Err(Error::new(Code::InvalidIp));
    }
    let role = rows::read_uuid(dialect, &row, "role")?;
    Ok(Actor::share(ShareActor { id, role, collection: collection.into(), item: item.into() }, origin))
}
