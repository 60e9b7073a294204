//! Dropping fields.

use crate::{
    context::Ctx,
    error::{Error, Result},
    schema::{
        Collection, Schema, Side,
        alter::{self, Change},
    },
    system::metadata,
};

/// Drops a field with its column, its relation, and everything stored that names it.
///
/// # Errors
/// `FORBIDDEN` for all but admins, for what isn't there and for fields of the server's own tables;
/// `INVALID_PAYLOAD` for the primary key.
pub async fn delete(ctx: &Ctx<'_>, collection: &str, field: &str) -> Result<()> {
    metadata::require_admin(ctx)?;
    let collection = ctx.schema.collection(collection).ok_or_else(Error::forbidden)?;
    let found = collection.field(field).ok_or_else(Error::forbidden)?;
    if collection.primary == found.name {
        return Err(Error::invalid_payload("The primary key of a collection can't be dropped."));
    }
    if super::update::is_built_in(collection, found) {
        return Err(Error::forbidden());
    }
    let mut change = Change::begin(&ctx.engine.db).await?;
    let outcome = async {
        drop_from(&mut change, collection, field).await?;
        forget(&change, &ctx.schema, &collection.name, field).await
    }
    .await;
    change.finish(outcome).await?;
    metadata::refreshed(ctx).await.map(|_| ())
}

/// Drops the column of a field with its foreign key; nothing for alias fields.
///
/// # Errors
/// When the database refuses.
pub async fn drop_from(change: &mut Change, collection: &Collection, field: &str) -> Result<()> {
    if collection.field(field).is_none_or(|field| field.column.is_none()) {
        return Ok(());
    }
    if change.flavor().dialect != crate::store::Dialect::Sqlite {
        alter::drop_foreign_key(change, &collection.name, field).await?;
    }
    alter::drop_column(change, &collection.name, field).await
}

/// The rows of a field that is gone; with a many-to-one goes the alias of the other side.
async fn forget(change: &Change, schema: &Schema, collection: &str, field: &str) -> Result<()> {
    let rows = change.rows();
    let link = schema.collection(collection).and_then(|collection| collection.link(field));
    if let Some(link) = link.filter(|link| link.side == Side::ManyToOne)
        && let (Some(one), Some(alias)) = (&link.relation.one_collection, &link.relation.one_field)
    {
        metadata::forget_field(rows, one, alias).await?;
    }
    metadata::forget_field(rows, collection, field).await
}
