//! Special fields on writes: generated ids, hashes, who and when. They act on every field of the
//! collection, also on those the payload does not name.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::MASK;
use crate::{
    context::Ctx,
    error::Result,
    schema::{Collection, Field, FieldType, Special},
};

/// Takes out the masks that a client got for concealed values and sent back.
pub fn drop_masks(collection: &Collection, row: &mut Map<String, Value>) {
    row.retain(|name, value| {
        value.as_str() != Some(MASK) || !collection.field(name).is_some_and(|field| field.special.has(Special::Conceal))
    });
}

/// Completes rows that are about to be created. All of them get the same moment.
///
/// # Errors
/// When a password can't be hashed.
pub async fn on_create<'r>(
    ctx: &Ctx<'_>,
    collection: &Collection,
    rows: impl IntoIterator<Item = &'r mut Map<String, Value>, IntoIter: Send>,
) -> Result<()> {
    let now = Utc::now();
    for row in rows {
        for field in columns(collection) {
            if field.special.has(Special::Uuid) && row.get(&*field.name).is_none_or(is_falsy) {
                row.insert(field.name.to_string(), Uuid::new_v4().to_string().into());
            }
            stamp(ctx, field, row, now, [Special::UserCreated, Special::RoleCreated, Special::DateCreated]);
        }
        hash(ctx, collection, row).await?;
    }
    Ok(())
}

/// Completes changes that are about to be written. All of them get the same moment.
///
/// # Errors
/// As [`on_create`].
pub async fn on_update<'r>(
    ctx: &Ctx<'_>,
    collection: &Collection,
    rows: impl IntoIterator<Item = &'r mut Map<String, Value>, IntoIter: Send>,
) -> Result<()> {
    let now = Utc::now();
    for row in rows {
        for field in columns(collection) {
            stamp(ctx, field, row, now, [Special::UserUpdated, Special::RoleUpdated, Special::DateUpdated]);
        }
        hash(ctx, collection, row).await?;
    }
    Ok(())
}

fn columns(collection: &Collection) -> impl Iterator<Item = &Field> {
    collection.fields.values().filter(|field| field.column.as_ref().is_some_and(|column| !column.generated))
}

/// Sets user, role and moment, whatever the payload says.
fn stamp(
    ctx: &Ctx<'_>,
    field: &Field,
    row: &mut Map<String, Value>,
    now: DateTime<Utc>,
    [user, role, date]: [Special; 3],
) {
    let id = |id: Option<Uuid>| id.map_or(Value::Null, |id| id.to_string().into());
    let value = if field.special.has(user) {
        id(ctx.actor.user_id())
    } else if field.special.has(role) {
        id(ctx.actor.role_id())
    } else if field.special.has(date) {
        moment(field.kind, now)
    } else {
        return;
    };
    row.insert(field.name.to_string(), value);
}

/// The moment as the field's type takes it.
fn moment(kind: FieldType, now: DateTime<Utc>) -> Value {
    match kind {
        FieldType::Date => now.format("%Y-%m-%d").to_string().into(),
        FieldType::Time => now.format("%H:%M:%S").to_string().into(),
        FieldType::DateTime => now.format("%Y-%m-%dT%H:%M:%S").to_string().into(),
        _ => now.to_rfc3339_opts(SecondsFormat::Millis, true).into(),
    }
}

/// Hashes every given value, also one that looks like a hash: what a client sends is a secret.
async fn hash(ctx: &Ctx<'_>, collection: &Collection, row: &mut Map<String, Value>) -> Result<()> {
    for field in columns(collection).filter(|field| field.special.has(Special::Hash)) {
        let Some(value) = row.get(&*field.name).filter(|value| !is_falsy(value)) else { continue };
        let secret = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let hash = ctx.engine.identities.passwords.hash(&secret).await?;
        row.insert(field.name.to_string(), hash.into());
    }
    Ok(())
}

/// Null, `""`, `false` and `0`.
#[must_use]
pub fn is_falsy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        _ => false,
    }
}
