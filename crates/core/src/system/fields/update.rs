//! Changing fields: metadata, and of the column what doesn't need new values (length, precision,
//! nullability, default, unique).

use serde_json::{Map, Value};

use super::input::{SchemaInput, object, read_type, text};
use crate::{
    context::Ctx,
    error::{Error, Result},
    schema::{
        Collection, Column, Field, FieldType,
        alter::{self, Change, ColumnDefault, ColumnSpec, Flavor},
    },
    system::metadata::{self, Assignment, FIELDS},
};

/// What a checked body changes.
struct Planned {
    column: Option<(ColumnSpec, ColumnSpec)>,
    meta: Option<Vec<Assignment>>,
}

/// Changes one field; gives it as [`super::one`] does.
///
/// # Errors
/// `FORBIDDEN` for all but admins and for what isn't there; `INVALID_PAYLOAD`; see
/// [`alter::change_column`].
pub async fn update(ctx: &Ctx<'_>, collection: &str, field: &str, body: &Map<String, Value>) -> Result<Value> {
    metadata::require_admin(ctx)?;
    let collection = ctx.schema.collection(collection).ok_or_else(Error::forbidden)?;
    let field = collection.field(field).ok_or_else(Error::forbidden)?;
    let planned = plan(ctx, collection, field, body)?;
    if planned.column.is_none() && planned.meta.is_none() {
        return super::one(ctx, &collection.name, &field.name).await;
    }
    let mut change = Change::begin(&ctx.engine.db).await?;
    let outcome = apply(&mut change, &collection.name, &field.name, planned).await;
    change.finish(outcome).await?;
    let fresh = metadata::refreshed(ctx).await?;
    super::one(&fresh, &collection.name, &field.name).await
}

/// Changes several fields of a collection one after the other; each names itself in `field`.
///
/// # Errors
/// As [`update`]; the fields before the failing one are changed then.
pub async fn update_many(ctx: &Ctx<'_>, collection: &str, bodies: &[Value]) -> Result<Vec<Value>> {
    metadata::require_admin(ctx)?;
    let mut named = Vec::new();
    for body in bodies {
        let body = body.as_object().ok_or_else(|| Error::invalid_payload("A field has to be an object."))?;
        named.push((text(body, "field")?.ok_or_else(|| Error::invalid_payload("\"field\" is required."))?, body));
    }
    let mut done = Vec::new();
    let mut ctx = ctx.clone();
    for (field, body) in named {
        done.push(update(&ctx, collection, field, body).await?);
        ctx.schema = ctx.engine.registry.current();
    }
    Ok(done)
}

async fn apply(change: &mut Change, collection: &str, field: &str, planned: Planned) -> Result<()> {
    if let Some((before, after)) = &planned.column {
        alter::change_column(change, collection, before, after).await?;
    }
    if let Some(assignments) = planned.meta {
        metadata::upsert(change.rows(), &FIELDS, &[("collection", collection), ("field", field)], assignments).await?;
    }
    Ok(())
}

fn plan(ctx: &Ctx<'_>, collection: &Collection, field: &Field, body: &Map<String, Value>) -> Result<Planned> {
    let kind = read_type(body)?;
    let schema = object(body, "schema")?;
    let meta = object(body, "meta")?;
    if let Some(kind) = kind
        && (kind.kind == FieldType::Alias) != field.column.is_none()
    {
        return Err(Error::invalid_payload("A field can't change between having a column and having none."));
    }
    let column = match (schema, &field.column) {
        (_, None) => None,
        (None, Some(column)) => {
            // A type alone changes nothing, so it must not ask for a change either.
            if let Some(kind) = kind.filter(|kind| kind.kind != field.kind) {
                same_type(Flavor::of(&ctx.engine.db), &present(field, column)?, column, kind.kind)?;
            }
            None
        }
        (Some(schema), Some(column)) => {
            let kind = kind.ok_or_else(|| Error::invalid_payload("\"type\" is required to change the column."))?;
            let flavor = Flavor::of(&ctx.engine.db);
            let before = present(field, column)?;
            same_type(flavor, &before, column, kind.kind)?;
            let after = changed(&before, column, &SchemaInput::read(schema)?)?;
            let differs = flavor.column_type(&before) != flavor.column_type(&after)
                || (before.nullable, before.unique) != (after.nullable, after.unique)
                || before.default != after.default;
            if differs && is_built_in(collection, field) {
                return Err(Error::forbidden());
            }
            differs.then_some((before, after))
        }
    };
    let meta = meta.map(|meta| FIELDS.assignments(ctx.conn.dialect(), meta)).transpose()?;
    Ok(Planned { column, meta })
}

/// Columns of the server's own tables are not the operator's to change or drop; columns added to
/// them are.
pub(super) fn is_built_in(collection: &Collection, field: &Field) -> bool {
    let marked =
        |meta: &crate::schema::FieldMeta| meta.0.get("system").is_some_and(|system| system == &Value::Bool(true));
    collection.system && field.meta.as_ref().is_none_or(marked)
}

/// The column as it is now.
fn present(field: &Field, column: &Column) -> Result<ColumnSpec> {
    let mut spec = ColumnSpec {
        max_length: column.max_length,
        numeric_precision: column.numeric_precision,
        numeric_scale: column.numeric_scale,
        nullable: column.nullable,
        unique: column.unique,
        primary_key: column.primary_key,
        auto_increment: column.auto_increment,
        ..ColumnSpec::new(&field.name, field.kind)
    };
    let default = column.default.clone().or_else(|| column.default_expression.clone().map(Value::String));
    // A default we can't write ourselves stays as it is as long as nobody asks for another.
    spec.default = default.and_then(|value| ColumnDefault::read(&spec, &value).ok()).unwrap_or(ColumnDefault::None);
    Ok(spec)
}

/// Values are not converted yet: the type has to be the present one, or another name of it.
fn same_type(flavor: Flavor, before: &ColumnSpec, column: &Column, kind: FieldType) -> Result<()> {
    let made = flavor.column_type(&ColumnSpec { kind, ..before.clone() });
    let made = made.split(['(', ' ']).next().unwrap_or_default();
    let now = column.data_type.split(['(', ' ']).next().unwrap_or_default();
    if kind == before.kind || made == now {
        return Ok(());
    }
    Err(Error::invalid_payload("The type of a column with values can't be changed."))
}

fn changed(before: &ColumnSpec, column: &Column, input: &SchemaInput) -> Result<ColumnSpec> {
    let mut after = before.clone();
    input.size(&mut after)?;
    if before.primary_key {
        return Ok(after);
    }
    after.nullable = input.nullable.unwrap_or(before.nullable);
    after.unique = input.unique.unwrap_or(before.unique);
    match &input.default {
        None => {}
        // What was read is sent back.
        Some(Value::String(text)) if column.default_expression.as_ref() == Some(text) => {}
        Some(value) => after.default = ColumnDefault::read(&after, value)?,
    }
    Ok(after)
}
