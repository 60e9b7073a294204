//! Making, changing and dropping relations.

use sea_query::Expr;
use serde_json::{Map, Value};

use super::read::{find, one};
use crate::{
    context::Ctx,
    error::{Error, Result},
    schema::{
        Relation,
        alter::{self, Change, OnDelete, Reference},
    },
    system::{
        fields::input::{object, text},
        metadata::{self, Assignment, RELATIONS},
    },
};

/// Makes a relation; gives it as [`one`] does. A foreign key is made whenever `related_collection`
/// is given.
///
/// # Errors
/// `FORBIDDEN` for all but admins; `INVALID_PAYLOAD` when a part isn't there or is taken;
/// `INVALID_FOREIGN_KEY` when rows point nowhere.
pub async fn create(ctx: &Ctx<'_>, body: &Map<String, Value>) -> Result<Value> {
    metadata::require_admin(ctx)?;
    check_members(body)?;
    let (collection, field) = (required(body, "collection")?, required(body, "field")?);
    let related = text(body, "related_collection")?;
    let known = ctx.schema.collection(collection).ok_or_else(|| unknown("collection"))?;
    let column = known.field(field).filter(|field| field.column.is_some()).ok_or_else(|| unknown("field"))?;
    if known.primary == column.name {
        return Err(Error::invalid_payload("The primary key of a collection can't point elsewhere."));
    }
    if find(ctx, collection, field).is_some() {
        return Err(Error::invalid_payload("This field has a relation already."));
    }
    let empty = Map::new();
    let meta = object(body, "meta")?.unwrap_or(&empty);
    let reference = related.map(|related| reference(ctx, collection, field, related, body)).transpose()?;
    if reference.is_none() && text(meta, "one_collection_field")?.is_none() {
        return Err(Error::invalid_payload("\"related_collection\" or \"meta.one_collection_field\" is required."));
    }
    let mut assignments = meta_assignments(ctx, meta)?;
    if let Some(related) = related {
        assignments.push(("one_collection", Expr::val(related)));
    }
    let mut change = Change::begin(&ctx.engine.db).await?;
    let outcome = apply(&mut change, collection, field, reference.as_ref(), Some(assignments)).await;
    change.finish(outcome).await?;
    one(&metadata::refreshed(ctx).await?, collection, field).await
}

/// Changes a relation: `meta`, and with `schema` the foreign key, made anew from what the body says.
///
/// # Errors
/// As [`create`].
pub async fn update(ctx: &Ctx<'_>, collection: &str, field: &str, body: &Map<String, Value>) -> Result<Value> {
    metadata::require_admin(ctx)?;
    check_members(body)?;
    let relation = existing(ctx, collection, field)?;
    let reference = match (&relation.one_collection, object(body, "schema")?) {
        (Some(related), Some(_)) => Some(reference(ctx, collection, field, related, body)?),
        _ => None,
    };
    let meta = object(body, "meta")?;
    let mut assignments = meta.map(|meta| meta_assignments(ctx, meta)).transpose()?;
    if let (Some(assignments), Some(related)) = (&mut assignments, &relation.one_collection) {
        assignments.push(("one_collection", Expr::val(&**related)));
    }
    if reference.is_some() || assignments.is_some() {
        let mut change = Change::begin(&ctx.engine.db).await?;
        let outcome = replace(&mut change, relation, reference.as_ref(), assignments).await;
        change.finish(outcome).await?;
    }
    one(&metadata::refreshed(ctx).await?, collection, field).await
}

/// Drops a relation: foreign key and metadata. The column stays.
///
/// # Errors
/// `FORBIDDEN` for all but admins and for relations of the server's own tables; `INVALID_PAYLOAD`
/// when there is none.
pub async fn delete(ctx: &Ctx<'_>, collection: &str, field: &str) -> Result<()> {
    metadata::require_admin(ctx)?;
    let relation = existing(ctx, collection, field)?;
    let mut change = Change::begin(&ctx.engine.db).await?;
    let outcome = remove(&mut change, relation).await;
    change.finish(outcome).await?;
    metadata::refreshed(ctx).await.map(|_| ())
}

async fn apply(
    change: &mut Change,
    collection: &str,
    field: &str,
    reference: Option<&Reference>,
    assignments: Option<Vec<Assignment>>,
) -> Result<()> {
    if let Some(reference) = reference {
        alter::add_foreign_key(change, reference).await?;
    }
    if let Some(assignments) = assignments {
        let keys = [("many_collection", collection), ("many_field", field)];
        metadata::upsert(change.rows(), &RELATIONS, &keys, assignments).await?;
    }
    Ok(())
}

async fn replace(
    change: &mut Change,
    relation: &Relation,
    reference: Option<&Reference>,
    assignments: Option<Vec<Assignment>>,
) -> Result<()> {
    if reference.is_some() {
        alter::drop_foreign_key(change, &relation.many_collection, &relation.many_field).await?;
    }
    apply(change, &relation.many_collection, &relation.many_field, reference, assignments).await
}

async fn remove(change: &mut Change, relation: &Relation) -> Result<()> {
    alter::drop_foreign_key(change, &relation.many_collection, &relation.many_field).await?;
    let keys = [("many_collection", &*relation.many_collection), ("many_field", &*relation.many_field)];
    metadata::delete(change.rows(), RELATIONS.name, metadata::equal(&keys)).await
}

/// The relation of a field that isn't one of the server's own.
fn existing<'a>(ctx: &'a Ctx<'_>, collection: &str, field: &str) -> Result<&'a Relation> {
    let relation = find(ctx, collection, field).ok_or_else(|| unknown("relation"))?;
    if relation.system { Err(Error::forbidden()) } else { Ok(relation) }
}

fn reference(
    ctx: &Ctx<'_>,
    collection: &str,
    field: &str,
    related: &str,
    body: &Map<String, Value>,
) -> Result<Reference> {
    let target = ctx.schema.collection(related).ok_or_else(|| unknown("related collection"))?;
    let on_delete = match object(body, "schema")? {
        Some(schema) => text(schema, "on_delete")?.map(OnDelete::parse).transpose()?.unwrap_or_default(),
        None => OnDelete::default(),
    };
    // The database deletes by itself: no rule of the collection (the last admin, sessions, files) is asked.
    if on_delete == OnDelete::Cascade && ctx.schema.collection(collection).is_some_and(|collection| collection.system) {
        return Err(Error::invalid_payload("Rows of system collections can't be deleted by \"CASCADE\"."));
    }
    let own = ctx.schema.collection(collection).and_then(|collection| collection.field(field));
    let nullable = own.and_then(|field| field.column.as_ref()).is_none_or(|column| column.nullable);
    if on_delete == OnDelete::SetNull && !nullable {
        return Err(Error::invalid_payload("A field that must not be empty can't be emptied by \"SET NULL\"."));
    }
    Ok(Reference {
        table: collection.to_owned(),
        column: field.to_owned(),
        target: related.to_owned(),
        target_column: target.primary.to_string(),
        on_delete,
    })
}

fn meta_assignments(ctx: &Ctx<'_>, meta: &Map<String, Value>) -> Result<Vec<Assignment>> {
    if let Some(action) = text(meta, "one_deselect_action")?
        && !matches!(action, "nullify" | "delete")
    {
        return Err(Error::invalid_payload("\"meta.one_deselect_action\" is \"nullify\" or \"delete\"."));
    }
    let mut assignments = RELATIONS.assignments(ctx.conn.dialect(), meta)?;
    // What the relation joins is said by the body itself.
    assignments.retain(|(column, _)| *column != "one_collection");
    Ok(assignments)
}

fn check_members(body: &Map<String, Value>) -> Result<()> {
    const KNOWN: [&str; 5] = ["collection", "field", "related_collection", "schema", "meta"];
    match body.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        Some(unknown) => Err(Error::invalid_payload(format!("\"{unknown}\" is no part of a relation."))),
        None => Ok(()),
    }
}

fn required<'a>(body: &'a Map<String, Value>, name: &str) -> Result<&'a str> {
    text(body, name)?
        .filter(|text| !text.is_empty())
        .ok_or_else(|| Error::invalid_payload(format!("\"{name}\" is required.")))
}

#[track_caller]
fn unknown(what: &str) -> Error {
    Error::invalid_payload(format!("There is no such {what}."))
}
