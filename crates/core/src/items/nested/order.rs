//! Numbers of new rows in sorted relations: behind the last row of their parent.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::linked::{of_parents, step};
use crate::{
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    items::read,
    query::{
        Query,
        ast::{Aggregate, AggregateFunction, Filter, Limit, Operand, Operator},
    },
    schema::{Collection, FieldType, Relation},
};

/// Whether a new row gets a number.
fn lacks(row: &Map<String, Value>, field: &str) -> bool {
    row.get(field).is_none_or(Value::is_null)
}

/// Numbers the new rows of each parent where the relation is sorted.
///
/// # Errors
/// When the last numbers can't be read.
pub(super) async fn number(
    ctx: &Ctx<'_>,
    relation: &Relation,
    parents: &Collection,
    children: &Collection,
    mut lists: Vec<(&Key, &mut Vec<Map<String, Value>>)>,
) -> Result<()> {
    let Some(field) = relation.sort_field.as_deref() else { return Ok(()) };
    let sorted = children.field(field).is_some_and(|field| {
        matches!(field.kind, FieldType::Integer | FieldType::BigInteger | FieldType::Float | FieldType::Decimal)
    });
    lists.retain(|(_, rows)| rows.iter().any(|row| lacks(row, field)));
    if !sorted || lists.is_empty() {
        return Ok(());
    }
    let keys: Vec<&Key> = lists.iter().map(|(parent, _)| *parent).collect();
    let last = last(ctx, relation, parents, children, field, &keys).await?;
    for (parent, rows) in lists {
        let mut last = last.get(parent).copied().unwrap_or_default();
        for row in rows.iter_mut().filter(|row| lacks(row, field)) {
            last = last.saturating_add(1);
            row.insert(field.to_owned(), last.into());
        }
    }
    Ok(())
}

/// The highest number among each parent's children.
async fn last(
    ctx: &Ctx<'_>,
    relation: &Relation,
    parents: &Collection,
    children: &Collection,
    field: &str,
    keys: &[&Key],
) -> Result<HashMap<Key, i64>> {
    let primary = parents.primary_field();
    let mut last = HashMap::with_capacity(keys.len());
    for keys in keys.chunks(10_000) {
        let numbered = Filter::Field { step: step(field), inner: Box::new(Filter::Is(Operator::Nnull, true.into())) };
        let query = Query {
            filter: Some(Filter::All(vec![of_parents(relation, parents, keys), numbered])),
            aggregate: vec![Aggregate { function: AggregateFunction::Max, fields: vec![field.to_owned()] }],
            group: vec![Operand { name: relation.many_field.to_string(), function: None }],
            limit: Some(Limit::Unlimited),
            ..Query::default()
        };
        let page = read::read(&ctx.elevated(), &children.name, &query, None).await?;
        let Value::Array(groups) = serde_json::from_str(page.data.get()).map_err(Error::internal)? else { continue };
        for group in groups {
            let parent = group.get(&*relation.many_field).and_then(|key| Key::parse(primary, key));
            if let Some(parent) = parent {
                last.insert(parent, group.get("max").and_then(|max| max.get(field)).map_or(0, whole));
            }
        }
    }
    Ok(last)
}

#[expect(clippy::cast_possible_truncation, reason = "the next whole number is enough")]
fn whole(value: &Value) -> i64 {
    let number = match value {
        Value::String(text) => return text.parse().or_else(|_| text.parse::<f64>().map(|n| n as i64)).unwrap_or(0),
        value => value,
    };
    number.as_i64().or_else(|| number.as_f64().map(|number| number as i64)).unwrap_or(0)
}
