//! Showing relations: `{collection, field, related_collection, schema, meta}`.

use serde_json::{Value, json};

use crate::{
    access::{Action, Grant},
    context::Ctx,
    error::{Error, Result},
    schema::{Deselect, Relation},
};

/// Every relation the caller may know of.
///
/// # Errors
/// `FORBIDDEN` without a read permission on `directus_relations`.
pub async fn list(ctx: &Ctx<'_>) -> Result<Vec<Value>> {
    allowed(ctx)?;
    Ok(ctx
        .schema
        .relations
        .iter()
        .filter(|relation| may_read(ctx, relation))
        .map(|relation| object(relation))
        .collect())
}

/// The relations of one collection's own fields.
///
/// # Errors
/// `FORBIDDEN` without such permission, and for unknown or unreadable collections.
pub async fn list_of(ctx: &Ctx<'_>, collection: &str) -> Result<Vec<Value>> {
    allowed(ctx)?;
    let known = ctx.schema.collection(collection).ok_or_else(Error::forbidden)?;
    if matches!(ctx.policy.grant(&known.name, Action::Read), Grant::Denied) {
        return Err(Error::forbidden());
    }
    let own = ctx.schema.relations.iter().filter(|relation| &*relation.many_collection == collection);
    Ok(own.filter(|relation| may_read(ctx, relation)).map(|relation| object(relation)).collect())
}

/// One relation by the field that holds the key.
///
/// # Errors
/// `FORBIDDEN` when there is none the caller may know of.
pub async fn one(ctx: &Ctx<'_>, collection: &str, field: &str) -> Result<Value> {
    allowed(ctx)?;
    let found = find(ctx, collection, field).filter(|relation| may_read(ctx, relation));
    found.map(object).ok_or_else(Error::forbidden)
}

pub(super) fn find<'a>(ctx: &'a Ctx<'_>, collection: &str, field: &str) -> Option<&'a Relation> {
    let mut relations = ctx.schema.relations.iter();
    relations
        .find(|relation| &*relation.many_collection == collection && &*relation.many_field == field)
        .map(|relation| &**relation)
}

fn allowed(ctx: &Ctx<'_>) -> Result<()> {
    match ctx.policy.grant("directus_relations", Action::Read) {
        Grant::Denied => Err(Error::forbidden()),
        _ => Ok(()),
    }
}

/// Both sides, all collections of a many-to-any, and both fields have to be readable.
fn may_read(ctx: &Ctx<'_>, relation: &Relation) -> bool {
    let readable = |collection: &str, field: Option<&str>| match ctx.policy.grant(collection, Action::Read) {
        Grant::Unrestricted => true,
        Grant::Ruled(rule) => field.is_none_or(|field| rule.fields.contains(field)),
        Grant::Denied => false,
    };
    readable(&relation.many_collection, Some(&relation.many_field))
        && relation.one_collection.as_ref().is_none_or(|one| readable(one, relation.one_field.as_deref()))
        && relation.one_allowed_collections.iter().all(|one| readable(one, None))
}

fn object(relation: &Relation) -> Value {
    let meta = match &relation.meta {
        Some(meta) => Value::Object(meta.0.clone()),
        None if relation.system => system_meta(relation),
        None => Value::Null,
    };
    let schema = relation.foreign_key.as_ref().map_or(Value::Null, |key| {
        json!({
            "table": &*relation.many_collection,
            "column": &*relation.many_field,
            "foreign_key_table": key.table,
            "foreign_key_column": key.column,
            "constraint_name": key.constraint,
            "on_update": key.on_update,
            "on_delete": key.on_delete,
        })
    });
    json!({
        "collection": &*relation.many_collection,
        "field": &*relation.many_field,
        "related_collection": relation.one_collection.as_deref(),
        "schema": schema,
        "meta": meta,
    })
}

fn system_meta(relation: &Relation) -> Value {
    json!({
        "many_collection": &*relation.many_collection,
        "many_field": &*relation.many_field,
        "one_collection": relation.one_collection.as_deref(),
        "one_field": relation.one_field.as_deref(),
        "one_collection_field": relation.one_collection_field.as_deref(),
        "one_allowed_collections": null,
        "junction_field": relation.junction_field.as_deref(),
        "sort_field": relation.sort_field.as_deref(),
        "one_deselect_action": if relation.deselect == Deselect::Delete { "delete" } else { "nullify" },
        "system": true,
    })
}
