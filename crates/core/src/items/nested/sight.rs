//! Which rows exist for the caller of a nested write. A row that the caller can neither read nor
//! change acts as missing, by status, message and effect. A plain key in a many-to-one field is a
//! value like any other and not looked at here: the foreign key answers for it.

use std::collections::HashSet;

use crate::{
    access::{Action, Grant, write::distinct},
    context::Ctx,
    error::Result,
    ident::Key,
    items::read,
    schema::Collection,
};

/// Of these keys those whose rows the caller may treat by any of these actions.
///
/// # Errors
/// When the rows can't be read.
pub(super) async fn visible(
    ctx: &Ctx<'_>,
    collection: &Collection,
    keys: &[Key],
    actions: &[Action],
) -> Result<HashSet<Key>> {
    let mut open = distinct(keys.to_vec());
    let mut seen = HashSet::with_capacity(open.len());
    for action in actions {
        if open.is_empty() {
            break;
        }
        let grant = ctx.policy.grant(&collection.name, *action);
        if matches!(grant, Grant::Denied) {
            continue;
        }
        seen.extend(read::permitted_keys(ctx, &collection.name, *action, &open).await?);
        if matches!(grant, Grant::Unrestricted) {
            break;
        }
        open.retain(|key| !seen.contains(key));
    }
    Ok(seen)
}
