//! The app-access minimum as rows of `directus_permissions` (http-permissions §4): clients of the app
//! learn from them what their user may do. They have no id, are marked `system`, and only `filter`
//! and `fields` of the query hold for them.

use serde_json::{Map, Value};

use crate::{
    access::{StoredRule, minimum, read::variables},
    context::Ctx,
    error::Result,
    payload::validate,
    query::{Query, ast::Filter},
};

/// The rows that the caller's list of permissions gets beside the stored ones.
///
/// # Errors
/// When the caller's variables can't be read.
pub(super) async fn rows(ctx: &Ctx<'_>, query: &Query) -> Result<Vec<Value>> {
    let Some(role) = ctx.actor.role_id().filter(|_| ctx.actor.has_app_access() && !ctx.actor.is_admin()) else {
        return Ok(Vec::new());
    };
    let rule = match &query.filter {
        Some(filter) => match rule(filter) {
            Some(rule) => Some(variables(ctx).await?.substitute(&rule)),
            None => return Ok(Vec::new()),
        },
        None => None,
    };
    let rows = minimum().into_iter().map(|stored| row(stored, &role.to_string()));
    let rows = rows.filter(|row| rule.as_ref().is_none_or(|rule| validate::holds(rule, row)));
    Ok(rows.map(|row| Value::Object(shown(row, query))).collect())
}

fn row(stored: StoredRule, role: &str) -> Map<String, Value> {
    Map::from_iter([
        ("id".to_owned(), Value::Null),
        ("role".to_owned(), role.into()),
        ("collection".to_owned(), stored.collection.into()),
        ("action".to_owned(), stored.action.name().into()),
        ("permissions".to_owned(), stored.permissions.unwrap_or_else(|| Value::Object(Map::new()))),
        ("validation".to_owned(), stored.validation.unwrap_or_default()),
        ("presets".to_owned(), stored.presets.unwrap_or_default()),
        ("fields".to_owned(), stored.fields.into()),
        ("system".to_owned(), true.into()),
    ])
}

fn shown(mut row: Map<String, Value>, query: &Query) -> Map<String, Value> {
    let Some(paths) = &query.fields else {
        row.shift_remove("id");
        return row;
    };
    let all = paths.iter().any(|path| path.first().is_some_and(|step| step.name == "*"));
    if all {
        row.shift_remove("id");
    } else {
        row.retain(|name, _| paths.iter().any(|path| path.first().is_some_and(|step| step.name == *name)));
    }
    row
}

/// The filter as a rule on one row; `None` when it looks at more than the row.
fn rule(filter: &Filter) -> Option<Value> {
    let member = |name: &str, value: Value| Value::Object(Map::from_iter([(name.to_owned(), value)]));
    let all = |branches: &[Filter]| branches.iter().map(rule).collect::<Option<Vec<_>>>();
    match filter {
        Filter::All(branches) => Some(member("_and", all(branches)?.into())),
        Filter::Any(branches) if branches.is_empty() => Some(Value::Object(Map::new())),
        Filter::Any(branches) => Some(member("_or", all(branches)?.into())),
        Filter::Field { step, inner } if step.function.is_none() && step.scope.is_none() && is_plain(inner) => {
            Some(member(&step.name, rule(inner)?))
        }
        Filter::Is(operator, operand) => Some(member(operator.name(), operand.clone())),
        Filter::Field { .. } | Filter::Some(_) | Filter::None(_) | Filter::UnknownOperator(_) | Filter::Nothing => None,
    }
}

fn is_plain(filter: &Filter) -> bool {
    match filter {
        Filter::All(branches) | Filter::Any(branches) => branches.iter().all(is_plain),
        filter => matches!(filter, Filter::Is(..)),
    }
}
