//! Making collections and folders.

use serde_json::{Map, Value, json};

use crate::{
    context::Ctx,
    error::{Code, Error, Result},
    schema::{
        FieldType,
        alter::{self, Change, ColumnSpec},
    },
    store::{Dialect, Executor},
    system::{
        fields::{
            self,
            input::{FieldInput, object, text},
        },
        metadata::{self, COLLECTIONS},
    },
};

/// A collection to be made.
struct Input {
    name: String,
    /// `None` for folders.
    fields: Option<Vec<FieldInput>>,
    meta: Option<Map<String, Value>>,
}

/// Makes one collection (an object) or several at once (an array), all or none; gives them as
/// [`super::one`] does.
///
/// # Errors
/// `FORBIDDEN` for all but admins; `INVALID_PAYLOAD` when a description makes no collection or its
/// name is taken.
pub async fn create(ctx: &Ctx<'_>, body: &Value) -> Result<Value> {
    metadata::require_admin(ctx)?;
    let dialect = ctx.conn.dialect();
    let inputs = match body {
        Value::Array(bodies) => bodies.iter().map(|body| Input::read(dialect, body)).collect::<Result<Vec<_>>>()?,
        body => vec![Input::read(dialect, body)?],
    };
    for (index, input) in inputs.iter().enumerate() {
        if inputs.iter().take(index).any(|other| other.name.eq_ignore_ascii_case(&input.name)) {
            return Err(taken(&input.name));
        }
    }
    let mut change = Change::begin(&ctx.engine.db).await?;
    let outcome = make(&mut change, ctx, &inputs).await;
    change.finish(outcome).await?;
    let fresh = metadata::refreshed(ctx).await?;
    let mut made = Vec::new();
    for input in &inputs {
        made.push(show(&fresh, input).await?);
    }
    Ok(match body {
        Value::Array(_) => Value::Array(made),
        _ => made.pop().unwrap_or_default(),
    })
}

/// A table without primary key or metadata can't be found again: it is shown as it was asked for.
async fn show(ctx: &Ctx<'_>, input: &Input) -> Result<Value> {
    match super::one(ctx, &input.name).await {
        Err(error) if error.code() == Code::Forbidden => {
            Ok(json!({ "collection": input.name, "meta": null, "schema": { "name": input.name } }))
        }
        shown => shown,
    }
}

async fn make(change: &mut Change, ctx: &Ctx<'_>, inputs: &[Input]) -> Result<()> {
    for input in inputs {
        let known = ctx.schema.collection(&input.name).is_some()
            || alter::table_exists(change.ddl(), &input.name).await?
            || metadata::exists(change.ddl(), COLLECTIONS.name, &[("collection", &input.name)]).await?;
        if known {
            return Err(taken(&input.name));
        }
        if let Some(fields) = &input.fields {
            let columns: Vec<ColumnSpec> = fields.iter().filter_map(|field| field.column.clone()).collect();
            alter::create_table(change, &input.name, &columns).await?;
        }
    }
    for input in inputs {
        write_rows(change.rows(), input).await?;
    }
    Ok(())
}

async fn write_rows(rows: Executor<'_>, input: &Input) -> Result<()> {
    if let Some(meta) = &input.meta {
        check_group(rows, &input.name, meta).await?;
        let assignments = COLLECTIONS.assignments(rows.dialect(), meta)?;
        metadata::upsert(rows, &COLLECTIONS, &[("collection", &input.name)], assignments).await?;
    }
    for field in input.fields.iter().flatten() {
        fields::write_meta(rows, &input.name, field).await?;
    }
    Ok(())
}

/// The group a collection is put into has to be there, and not be the collection itself.
///
/// # Errors
/// `INVALID_FOREIGN_KEY`, `INVALID_PAYLOAD`.
pub(super) async fn check_group(rows: Executor<'_>, name: &str, meta: &Map<String, Value>) -> Result<()> {
    let Some(group) = text(meta, "group")? else { return Ok(()) };
    if group == name {
        return Err(Error::invalid_payload("A collection can't be its own group."));
    }
    if metadata::exists(rows, COLLECTIONS.name, &[("collection", group)]).await? {
        return Ok(());
    }
    Err(Error::new(Code::InvalidForeignKey).with("collection", COLLECTIONS.name).with("field", "group"))
}

impl Input {
    fn read(dialect: Dialect, body: &Value) -> Result<Self> {
        let body = body.as_object().ok_or_else(|| Error::invalid_payload("A collection has to be an object."))?;
        let name = text(body, "collection")?.ok_or_else(|| Error::invalid_payload("\"collection\" is required."))?;
        alter::check_collection_name(dialect, name)?;
        let mut meta = object(body, "meta")?.cloned();
        if object(body, "schema")?.is_none() {
            // A folder is nothing but its row.
            meta.get_or_insert_default();
            return Ok(Self { name: name.to_owned(), fields: None, meta });
        }
        let fields = match body.get("fields") {
            None | Some(Value::Null) => vec![standard_key()],
            Some(Value::Array(fields)) => {
                fields.iter().map(|field| FieldInput::read(dialect, field)).collect::<Result<Vec<_>>>()?
            }
            Some(_) => return Err(Error::invalid_payload("\"fields\" has to be a list.")),
        };
        for (index, field) in fields.iter().enumerate() {
            if fields.iter().take(index).any(|other| other.name.eq_ignore_ascii_case(&field.name)) {
                return Err(Error::invalid_payload(format!("The field \"{}\" is there twice.", field.name)));
            }
        }
        Ok(Self { name: name.to_owned(), fields: Some(fields), meta })
    }
}

/// The key of a collection that is made without fields.
fn standard_key() -> FieldInput {
    let column = ColumnSpec {
        primary_key: true,
        auto_increment: true,
        nullable: false,
        ..ColumnSpec::new("id", FieldType::Integer)
    };
    let meta = [("hidden", true.into()), ("readonly", true.into()), ("interface", "numeric".into())];
    let meta = meta.into_iter().map(|(name, value): (&str, Value)| (name.to_owned(), value)).collect();
    FieldInput { name: "id".to_owned(), column: Some(column), meta: Some(meta) }
}

#[track_caller]
fn taken(name: &str) -> Error {
    Error::invalid_payload(format!("There is a collection or table \"{name}\" already."))
}
