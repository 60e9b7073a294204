//! The guard that keeps at least one active admin, whatever the path: status, role, deletion of
//! users or roles, flags, nested writes.

use sea_query::{Expr, ExprTrait, JoinType, LockType, Query};
use uuid::Uuid;

use crate::{
    auth::rows,
    context::Ctx,
    error::{Code, Error, Result},
    store::Dialect,
};

/// An active user whose role has admin access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Admin {
    pub user: Uuid,
    pub role: Uuid,
}

/// The active admins. Their rows stay locked until the transaction ends, so that two transactions
/// can't each take away what the other leaves.
pub(super) async fn lock_active(ctx: &Ctx<'_>) -> Result<Vec<Admin>> {
    let dialect = ctx.conn.dialect();
    let mut select = Query::select();
    select
        .column(("user", "id"))
        .column(("user", "role"))
        .from_as("directus_users", "user")
        .join_as(JoinType::InnerJoin, "directus_roles", "role", Expr::col(("role", "id")).equals(("user", "role")))
        .and_where(Expr::col(("user", "status")).eq("active"))
        .and_where(Expr::col(("role", "admin_access")).eq(true));
    // SQLite has one writer at a time, and no such locks.
    if dialect != Dialect::Sqlite {
        select.lock(LockType::Update);
    }
    let mut admins = Vec::new();
    for row in ctx.conn.query(ctx.conn.build(&select)).await? {
        let (user, role) = (rows::read_uuid(dialect, &row, "id")?, rows::read_uuid(dialect, &row, "role")?);
        admins.extend(user.zip(role).map(|(user, role)| Admin { user, role }));
    }
    Ok(admins)
}

/// Refuses what has been written when it left no active admin.
pub(super) async fn ensure_one_left(ctx: &Ctx<'_>) -> Result<()> {
    if lock_active(ctx).await?.is_empty() { Err(last_admin()) } else { Ok(()) }
}

/// Refuses what would leave none of the active admins.
pub(super) async fn ensure_one_stays(ctx: &Ctx<'_>, goes: impl Fn(Admin) -> bool) -> Result<()> {
    let admins = lock_active(ctx).await?;
    if !admins.is_empty() && admins.iter().all(|admin| goes(*admin)) { Err(last_admin()) } else { Ok(()) }
}

#[track_caller]
fn last_admin() -> Error {
    Error::with_message(Code::UnprocessableEntity, "At least one active admin has to remain.")
}
