//! Showing fields: `{collection, field, type, schema, meta}`.

use serde_json::{Map, Value, json};

use crate::{
    access::{Action, Grant},
    context::Ctx,
    error::{Error, Result},
    schema::{Collection, Field, TableInfo},
    store::Dialect,
};

/// Every field the caller may know of.
///
/// # Errors
/// `FORBIDDEN` without a read permission on `directus_fields`.
pub async fn list(ctx: &Ctx<'_>) -> Result<Vec<Value>> {
    allowed(ctx)?;
    Ok(ctx.schema.collections.values().flat_map(|collection| readable(ctx, collection)).collect())
}

/// The fields of one collection the caller may know of.
///
/// # Errors
/// `FORBIDDEN` without such permission, and for unknown or unreadable collections.
pub async fn list_of(ctx: &Ctx<'_>, collection: &str) -> Result<Vec<Value>> {
    allowed(ctx)?;
    let collection = ctx.schema.collection(collection).ok_or_else(Error::forbidden)?;
    if matches!(ctx.policy.grant(&collection.name, Action::Read), Grant::Denied) {
        return Err(Error::forbidden());
    }
    Ok(readable(ctx, collection).collect())
}

/// One field.
///
/// # Errors
/// As [`list_of`], and for unknown or unreadable fields.
pub async fn one(ctx: &Ctx<'_>, collection: &str, field: &str) -> Result<Value> {
    allowed(ctx)?;
    let collection = ctx.schema.collection(collection).ok_or_else(Error::forbidden)?;
    let field = collection.field(field).ok_or_else(Error::forbidden)?;
    if !may_read(ctx, collection, field) || (field.column.is_none() && field.meta.is_none()) {
        return Err(Error::forbidden());
    }
    Ok(object(ctx, collection, field))
}

fn allowed(ctx: &Ctx<'_>) -> Result<()> {
    match ctx.policy.grant("directus_fields", Action::Read) {
        Grant::Denied => Err(Error::forbidden()),
        _ => Ok(()),
    }
}

fn may_read(ctx: &Ctx<'_>, collection: &Collection, field: &Field) -> bool {
    match ctx.policy.grant(&collection.name, Action::Read) {
        Grant::Unrestricted => true,
        Grant::Ruled(rule) => rule.fields.contains(&field.name),
        Grant::Denied => false,
    }
}

fn readable<'a>(ctx: &'a Ctx<'_>, collection: &'a Collection) -> impl Iterator<Item = Value> + 'a {
    // A list that only a relation names has neither column nor metadata to show.
    let shown = |field: &&Field| field.column.is_some() || field.meta.is_some();
    let fields = collection.fields.values().filter(shown).filter(move |field| may_read(ctx, collection, field));
    fields.map(move |field| object(ctx, collection, field))
}

fn object(ctx: &Ctx<'_>, collection: &Collection, field: &Field) -> Value {
    let meta = match &field.meta {
        Some(meta) => Value::Object(meta.0.clone()),
        None if collection.system => system_meta(collection, field),
        None => Value::Null,
    };
    json!({
        "collection": &*collection.name,
        "field": &*field.name,
        "type": field.kind.name(),
        "schema": schema_object(ctx, collection, field),
        "meta": meta,
    })
}

/// What a field of the server's own collections shows when nothing is stored of it.
fn system_meta(collection: &Collection, field: &Field) -> Value {
    json!({
        "collection": &*collection.name, "field": &*field.name, "special": null, "interface": null, "options": null,
        "display": null, "display_options": null, "readonly": false, "hidden": false, "sort": null, "width": "full",
        "translations": null, "note": null, "conditions": null, "required": false, "group": null, "validation": null,
        "validation_message": null, "system": true,
    })
}

fn schema_object(ctx: &Ctx<'_>, collection: &Collection, field: &Field) -> Value {
    let dialect = ctx.conn.dialect();
    let Some(column) = &field.column else { return Value::Null };
    let default = match (&column.default, &column.default_expression) {
        (Some(value), _) => value.clone(),
        (None, Some(expression)) => expression.clone().into(),
        (None, None) => Value::Null,
    };
    // A collection that the caller may not read is not named.
    let known = |table: &str| !matches!(ctx.policy.grant(table, Action::Read), Grant::Denied);
    let key = column.foreign_key.as_ref().filter(|key| known(&key.table));
    let mut schema = Map::new();
    let mut put = |name: &str, value: Value| schema.insert(name.to_owned(), value);
    put("name", (&*field.name).into());
    put("table", (&*collection.name).into());
    put("data_type", column.data_type.clone().into());
    put("default_value", default);
    put("max_length", column.max_length.into());
    put("numeric_precision", column.numeric_precision.into());
    put("numeric_scale", column.numeric_scale.into());
    put("is_nullable", column.nullable.into());
    put("is_unique", column.unique.into());
    put("is_primary_key", column.primary_key.into());
    put("is_generated", column.generated.into());
    put("generation_expression", column.generation_expression.clone().into());
    put("has_auto_increment", column.auto_increment.into());
    put("foreign_key_table", key.map(|key| key.table.clone()).into());
    put("foreign_key_column", key.map(|key| key.column.clone()).into());
    if dialect != Dialect::Sqlite {
        put("comment", column.comment.clone().into());
    }
    if dialect == Dialect::Postgres {
        let TableInfo { schema: namespace, .. } = &collection.table;
        put("schema", namespace.clone().into());
        put("foreign_key_schema", key.and(namespace.clone()).into());
    }
    Value::Object(schema)
}
