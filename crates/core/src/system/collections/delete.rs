//! Dropping collections and folders.

use std::sync::Arc;

use crate::{
    context::Ctx,
    error::{Error, Result},
    schema::{
        Relation,
        alter::{self, Change},
    },
    system::{
        fields,
        metadata::{self, COLLECTIONS},
    },
};

/// Drops a collection: its table, what points to it (relations with their columns and aliases),
/// and everything stored of it. Of a folder only the row goes; what stood in it stands free then.
///
/// # Errors
/// `FORBIDDEN` for all but admins, for what isn't there and for the server's own collections.
pub async fn delete(ctx: &Ctx<'_>, name: &str) -> Result<()> {
    metadata::require_admin(ctx)?;
    let found = ctx.schema.collection(name);
    if found.map_or_else(|| name.to_lowercase().starts_with("directus_"), |collection| collection.system) {
        return Err(Error::forbidden());
    }
    if found.is_none() && !metadata::exists(ctx.conn, COLLECTIONS.name, &[("collection", name)]).await? {
        return Err(Error::forbidden());
    }
    let mut change = Change::begin(&ctx.engine.db).await?;
    let outcome = remove(&mut change, ctx, name).await;
    change.finish(outcome).await?;
    metadata::refreshed(ctx).await.map(|_| ())
}

async fn remove(change: &mut Change, ctx: &Ctx<'_>, name: &str) -> Result<()> {
    let pointing: Vec<&Arc<Relation>> = ctx
        .schema
        .relations
        .iter()
        .filter(|relation| relation.one_collection.as_deref() == Some(name) && &*relation.many_collection != name)
        .collect();
    for relation in &pointing {
        let Some(other) = ctx.schema.collection(&relation.many_collection) else { continue };
        if other.primary == relation.many_field {
            alter::drop_foreign_key(change, &other.name, &relation.many_field).await?;
        } else {
            fields::drop_from(change, other, &relation.many_field).await?;
        }
    }
    let excluded = ctx.engine.settings.exclude_tables.iter().any(|table| table == name);
    // A table without primary key isn't served, but goes with its collection all the same.
    if !excluded && alter::table_exists(change.ddl(), name).await? {
        alter::drop_table(change, name).await?;
    }

    let rows = change.rows();
    for relation in pointing {
        let other = ctx.schema.collection(&relation.many_collection);
        if other.is_none_or(|other| other.primary != relation.many_field) {
            metadata::forget_field(rows, &relation.many_collection, &relation.many_field).await?;
        }
    }
    let own = ctx.schema.relations.iter().filter(|relation| &*relation.many_collection == name);
    for relation in own {
        if let (Some(one), Some(alias)) = (&relation.one_collection, &relation.one_field)
            && &**one != name
        {
            metadata::forget_field(rows, one, alias).await?;
        }
    }
    metadata::forget_collection(rows, name).await
}
