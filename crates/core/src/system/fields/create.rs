//! Making fields.

use serde_json::Value;

use super::input::FieldInput;
use crate::{
    context::Ctx,
    error::{Error, Result},
    schema::{
        Collection,
        alter::{self, Change},
    },
    store::Executor,
    system::metadata::{self, FIELDS},
};

/// Adds a field to a collection; gives it as [`super::one`] does.
///
/// # Errors
/// `FORBIDDEN` for all but admins and for unknown collections; `INVALID_PAYLOAD` when the body
/// describes no field or the field is there already.
pub async fn create(ctx: &Ctx<'_>, collection: &str, body: &Value) -> Result<Value> {
    metadata::require_admin(ctx)?;
    let collection = ctx.schema.collection(collection).ok_or_else(Error::forbidden)?;
    let input = FieldInput::read(ctx.conn.dialect(), body)?;
    let mut change = Change::begin(&ctx.engine.db).await?;
    let outcome = make(&mut change, collection, &input).await;
    change.finish(outcome).await?;
    let fresh = metadata::refreshed(ctx).await?;
    super::one(&fresh, &collection.name, &input.name).await
}

async fn make(change: &mut Change, collection: &Collection, input: &FieldInput) -> Result<()> {
    let name = &input.name;
    // Engines differ in whether `Name` is `name`: such twins are refused on all.
    // A list that so far only a relation names is not taken: this gives it its metadata.
    let mut described = collection.fields.values().filter(|field| field.column.is_some() || field.meta.is_some());
    let taken = described.any(|field| field.name.eq_ignore_ascii_case(name));
    let keys = [("collection", &*collection.name), ("field", name.as_str())];
    if taken || metadata::exists(change.ddl(), FIELDS.name, &keys).await? {
        return Err(Error::invalid_payload(format!("There is a field \"{name}\" already.")));
    }
    if let Some(column) = &input.column {
        alter::add_column(change, &collection.name, column).await?;
    }
    write_meta(change.rows(), &collection.name, input).await
}

/// Writes the row of a new field; an alias always has one, a column without `meta` has none.
///
/// # Errors
/// When `meta` doesn't fit its columns.
pub async fn write_meta(rows: Executor<'_>, collection: &str, input: &FieldInput) -> Result<()> {
    let empty = serde_json::Map::new();
    let meta = match (&input.meta, &input.column) {
        (Some(meta), _) => meta,
        (None, None) => &empty,
        (None, Some(_)) => return Ok(()),
    };
    if let Some(rule) = meta.get("validation") {
        crate::payload::validate::check_rule(rule)?;
    }
    let mut assignments = FIELDS.assignments(rows.dialect(), meta)?;
    if input.column.is_none() && meta.get("special").is_none_or(serde_json::Value::is_null) {
        assignments.retain(|(column, _)| *column != "special");
        // Otherwise nothing would say that this is a field without a column.
        assignments.push(("special", sea_query::Expr::val("alias")));
    }
    let keys = [("collection", collection), ("field", input.name.as_str())];
    metadata::upsert(rows, &FIELDS, &keys, assignments).await
}
