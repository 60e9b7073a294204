//! How many rows one request may write, nested ones included, and how deep they may nest.

use serde_json::{Map, Value};

use crate::{
    context::Ctx,
    error::{Error, Result},
    schema::{Collection, Schema, Side},
};

/// Levels of nested rows below the first.
const MOST_LEVELS: usize = 16;
/// Rows of one request, whatever the settings say: a list that is written to many rows is held once for
/// each of them.
const MOST_ROWS: u64 = 250_000;

/// Refuses a request that writes too many rows or nests them too deep.
///
/// # Errors
/// `INVALID_PAYLOAD`.
pub(in crate::items) fn bound<'a>(
    ctx: &Ctx<'_>,
    collection: &Collection,
    payloads: impl Iterator<Item = (usize, &'a Map<String, Value>)>,
) -> Result<()> {
    let mut rows = 0_usize;
    for (count, payload) in payloads {
        rows = rows.saturating_add(count);
        for (name, value) in payload {
            // Each row gets the whole list, but all of them link to the same object.
            let lists = collection.link(name).is_some_and(|link| link.side == Side::OneToMany);
            let times = if lists { count } else { count.min(1) };
            rows = rows.saturating_add(below(&ctx.schema, collection, name, value, 1)?.saturating_mul(times));
        }
    }
    bound_rows(ctx, rows)
}

/// As [`bound`] for rows without payload.
///
/// # Errors
/// `INVALID_PAYLOAD`.
pub(in crate::items) fn bound_rows(ctx: &Ctx<'_>, rows: usize) -> Result<()> {
    let most = most_rows(ctx);
    if u64::try_from(rows).unwrap_or(u64::MAX) > most { Err(too_many(most)) } else { Ok(()) }
}

/// Counts rows that are about to be written against the bound of the request: those too that no payload
/// names, as rows taken out of a list.
///
/// # Errors
/// `INVALID_PAYLOAD`.
pub(in crate::items) fn charge(ctx: &Ctx<'_>, rows: usize) -> Result<()> {
    let Some(most) = ctx.engine.settings.limits.batch_mutation.filter(|_| !ctx.actor.is_system()) else {
        return Ok(());
    };
    if ctx.count_written(rows) > most { Err(too_many(most)) } else { Ok(()) }
}

fn most_rows(ctx: &Ctx<'_>) -> u64 {
    match ctx.engine.settings.limits.batch_mutation {
        _ if ctx.actor.is_system() => u64::MAX,
        Some(most) => most.min(MOST_ROWS),
        None => MOST_ROWS,
    }
}

fn too_many(most: u64) -> Error {
    Error::invalid_payload(format!("A request may write at most {most} items."))
}

/// Rows that one value of a relational field brings along.
fn below(schema: &Schema, collection: &Collection, name: &str, value: &Value, level: usize) -> Result<usize> {
    let Some(link) = collection.link(name).filter(|_| value.is_object() || value.is_array()) else { return Ok(0) };
    if level > MOST_LEVELS {
        return Err(Error::invalid_payload("The items are nested too deep."));
    }
    let far = match link.side {
        Side::OneToMany => Some(&link.relation.many_collection),
        // Rows of any of the allowed collections: counted by the first, which is close enough for a bound.
        Side::ManyToOne | Side::ManyToAny => {
            link.relation.one_collection.as_ref().or(link.relation.one_allowed_collections.first())
        }
    };
    let Some(far) = far.and_then(|far| schema.collection(far)) else { return Ok(1) };
    let one = |item: &Value| match item {
        Value::Object(row) => {
            row.iter().try_fold(1, |rows, (name, value)| Ok(rows + below(schema, far, name, value, level + 1)?))
        }
        _ => Ok(1),
    };
    let many = |items: &[Value]| items.iter().try_fold(0, |rows, item| Ok::<_, Error>(rows + one(item)?));
    match (link.side, value) {
        (Side::OneToMany, Value::Object(parts)) => {
            parts.values().try_fold(0, |rows, part| Ok(rows + part.as_array().map_or(Ok(0), |items| many(items))?))
        }
        (_, Value::Array(items)) => many(items),
        (_, value) => one(value),
    }
}
