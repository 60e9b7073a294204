//! Showing collections: `{collection, meta, schema}`. Folders are metadata without a table.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::{
    access::{Action, Grant},
    context::Ctx,
    error::{Error, Result},
    schema::{Accountability, Collection},
    store::Dialect,
    system::metadata::{self, COLLECTIONS},
};

/// Every collection the caller may know of, folders included.
///
/// # Errors
/// `FORBIDDEN` without a read permission on `directus_collections`.
pub async fn list(ctx: &Ctx<'_>) -> Result<Vec<Value>> {
    allowed(ctx)?;
    let folders = folders(ctx).await?;
    let visible = visible(ctx, &folders);
    let tables = ctx.schema.collections.values().filter(|collection| visible.contains(&*collection.name));
    let mut objects: Vec<Value> = tables.map(|collection| object(ctx, collection)).collect();
    objects.extend(folders.iter().filter(|folder| visible.contains(name_of(folder))).map(folder_object));
    Ok(objects)
}

/// The named collections, in the order of [`list`].
///
/// # Errors
/// `FORBIDDEN` when the caller may not know of one of them.
pub async fn some(ctx: &Ctx<'_>, names: &[String]) -> Result<Vec<Value>> {
    let mut objects = list(ctx).await?;
    let known = |object: &Value| object.get("collection").and_then(Value::as_str).map(str::to_owned);
    let present: HashSet<String> = objects.iter().filter_map(known).collect();
    if !names.iter().all(|name| present.contains(name)) {
        return Err(Error::forbidden());
    }
    objects.retain(|object| known(object).is_some_and(|name| names.contains(&name)));
    Ok(objects)
}

/// One collection; the caller needs a read permission on it.
///
/// # Errors
/// `FORBIDDEN` otherwise.
pub async fn one(ctx: &Ctx<'_>, name: &str) -> Result<Value> {
    allowed(ctx)?;
    if matches!(ctx.policy.grant(name, Action::Read), Grant::Denied) {
        return Err(Error::forbidden());
    }
    if let Some(collection) = ctx.schema.collection(name) {
        return Ok(object(ctx, collection));
    }
    let folder = folders(ctx).await?.into_iter().find(|folder| name_of(folder) == name);
    folder.as_ref().map(folder_object).ok_or_else(Error::forbidden)
}

fn allowed(ctx: &Ctx<'_>) -> Result<()> {
    match ctx.policy.grant("directus_collections", Action::Read) {
        Grant::Denied => Err(Error::forbidden()),
        _ => Ok(()),
    }
}

/// Metadata rows without a served table.
async fn folders(ctx: &Ctx<'_>) -> Result<Vec<Map<String, Value>>> {
    let mut rows = metadata::rows(ctx.conn, &COLLECTIONS).await?;
    rows.retain(|row| ctx.schema.collection(name_of(row)).is_none());
    Ok(rows)
}

fn name_of(row: &Map<String, Value>) -> &str {
    row.get("collection").and_then(Value::as_str).unwrap_or_default()
}

/// All for admins, else what the caller may read, and the groups around that.
fn visible<'a>(ctx: &'a Ctx<'_>, folders: &'a [Map<String, Value>]) -> HashSet<&'a str> {
    let tables = ctx.schema.collections.values();
    let names = tables.clone().map(|collection| &*collection.name).chain(folders.iter().map(name_of));
    if ctx.policy.is_unrestricted() {
        return names.collect();
    }
    let group_of = |name: &str| {
        let stored = ctx.schema.collection(name).and_then(|collection| collection.meta.as_ref()).map(|meta| &meta.0);
        let row = stored.or_else(|| folders.iter().find(|folder| name_of(folder) == name));
        row.and_then(|row| row.get("group")).and_then(Value::as_str)
    };
    let mut visible = HashSet::new();
    let readable = names.filter(|name| !matches!(ctx.policy.grant(name, Action::Read), Grant::Denied));
    for name in readable {
        let mut next = Some(name);
        // Ends at a group that is known already, so circles end too.
        while let Some(name) = next.filter(|name| visible.insert(*name)) {
            next = group_of(name);
        }
    }
    visible
}

fn folder_object(row: &Map<String, Value>) -> Value {
    json!({ "collection": name_of(row), "meta": row, "schema": null })
}

fn object(ctx: &Ctx<'_>, collection: &Collection) -> Value {
    let meta = match &collection.meta {
        Some(meta) => Value::Object(meta.0.clone()),
        None if collection.system => system_meta(collection),
        None => Value::Null,
    };
    json!({ "collection": &*collection.name, "meta": meta, "schema": schema_object(ctx, collection) })
}

fn schema_object(ctx: &Ctx<'_>, collection: &Collection) -> Value {
    let table = &collection.table;
    let name = &*collection.name;
    match ctx.conn.dialect() {
        // The definition names every column and other tables: that is for those who may know them all.
        Dialect::Sqlite => {
            let sql = table.sql.as_ref().filter(|_| ctx.policy.is_unrestricted());
            json!({ "name": name, "sql": sql })
        }
        Dialect::Postgres => json!({ "name": name, "comment": table.comment, "schema": table.schema }),
        Dialect::Mysql => json!({
            "name": name, "comment": table.comment, "schema": table.schema,
            "collation": table.collation, "engine": table.engine,
        }),
    }
}

/// What one of the server's own collections shows when nothing is stored of it.
fn system_meta(collection: &Collection) -> Value {
    let accountability = match collection.accountability {
        Accountability::All => Some("all"),
        Accountability::Activity => Some("activity"),
        Accountability::None => None,
    };
    json!({
        "collection": &*collection.name, "icon": null, "note": null, "display_template": null, "hidden": false,
        "singleton": collection.singleton, "translations": null, "archive_field": null, "archive_app_filter": true,
        "archive_value": null, "unarchive_value": null, "sort_field": collection.sort_field.as_deref(),
        "accountability": accountability, "color": null, "item_duplication_fields": null, "sort": null,
        "group": null, "collapse": "open", "system": true,
    })
}
