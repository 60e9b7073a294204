//! Deleting items.

use crate::{
    context::Ctx,
    error::{Error, Result},
    ident::Key,
};

/// Deletes items in one transaction.
///
/// # Errors
/// `FORBIDDEN` when any key is not permitted (for admins missing keys are no error),
/// `RECORD_STILL_REFERENCED`; nothing is deleted then.
pub async fn delete(_ctx: &Ctx<'_>, _collection: &str, _keys: &[Key]) -> Result<()> {
    Err(Error::internal("not built yet"))
}
