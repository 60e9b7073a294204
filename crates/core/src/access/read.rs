//! From a query to an [`AuthorizedQuery`]: the only way to read.

use std::{cell::Cell, sync::Arc};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{
    Action, Grant, Variables,
    resolved::{AuthorizedQuery, Comparison, Condition, FieldRef, Level, Scalar, Shape, Test},
    resolver::{MOST_HOPS, Resolver},
};
use crate::{
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    payload::typed::Typed,
    query::{
        Query,
        ast::{Deep, FieldPath, Limit, PathStep},
        filter::MOST_OPERANDS,
    },
    schema::{Collection, Field, FieldType},
};

/// Keys one read may name: what all engines take as statement parameters.
const MOST_KEYS: usize = 30_000;

/// Checks a read of a collection; `keys` restricts to these rows.
///
/// # Errors
/// `FORBIDDEN` without the right to read the collection or a named field, `INVALID_QUERY`.
pub async fn authorise(
    ctx: &Ctx<'_>,
    collection: &Arc<Collection>,
    query: &Query,
    keys: Option<&[Key]>,
) -> Result<AuthorizedQuery> {
    let variables = variables(ctx).await?;
    let resolver = resolver(ctx, variables, None);
    let mut root = if query.aggregate.is_empty() && query.group.is_empty() {
        let star = [PathStep { name: "*".to_owned(), scope: None, function: None }];
        let paths: Vec<&[PathStep]> = match &query.fields {
            Some(paths) => paths.iter().map(Vec::as_slice).collect(),
            None => vec![&star],
        };
        let shape = resolver.selection(collection, &paths, query, &mut Resolver::output_budget())?;
        resolver.level(collection, shape, query, Vec::new())?
    } else {
        resolver.groups(collection, query)?
    };
    if let Some(keys) = keys {
        let compared = MOST_OPERANDS.saturating_sub(resolver.operands.get());
        if keys.len() + compared > MOST_KEYS {
            return Err(Error::invalid_query(format!("More than {MOST_KEYS} keys and values.")));
        }
        root.wanted = root.wanted.and(key_condition(collection, keys)?);
        if query.limit.is_none() {
            root.limit = Limit::Unlimited;
        }
    }
    Ok(AuthorizedQuery { root, meta: query.meta })
}

/// Checks the selection of keys that a by-query write begins with: named fields must be readable.
/// Without any right to read, only the primary key may be named.
///
/// # Errors
/// `FORBIDDEN` without the right to do `action`, else as [`authorise`].
pub async fn authorise_selection(
    ctx: &Ctx<'_>,
    collection: &Arc<Collection>,
    action: Action,
    query: &Query,
) -> Result<AuthorizedQuery> {
    if matches!(ctx.policy.grant(&collection.name, action), Grant::Denied) {
        return Err(Error::forbidden());
    }
    let variables = variables(ctx).await?;
    let resolver = resolver(ctx, variables, Some((Arc::clone(&collection.name), action)));
    let mut root = resolver.level(collection, Shape::Keys, query, Vec::new())?;
    if query.limit.is_none() {
        root.limit = Limit::Unlimited;
        root.offset = query.offset.unwrap_or(0);
    }
    Ok(AuthorizedQuery { root, meta: query.meta })
}

/// Checks which of these keys an action's rule covers.
///
/// # Errors
/// `FORBIDDEN` without the right to do `action`.
pub async fn authorise_keys(
    ctx: &Ctx<'_>,
    collection: &Arc<Collection>,
    action: Action,
    keys: &[Key],
) -> Result<AuthorizedQuery> {
    let visible = match ctx.policy.grant(&collection.name, action) {
        Grant::Denied => return Err(Error::forbidden()),
        Grant::Unrestricted => Condition::Always,
        Grant::Ruled(rule) => {
            let variables = variables(ctx).await?;
            resolver(ctx, variables, None).rule_rows(collection, &rule)
        }
    };
    Ok(AuthorizedQuery {
        root: Level {
            collection: Arc::clone(collection),
            visible,
            wanted: key_condition(collection, keys)?,
            sort: Vec::new(),
            limit: Limit::Unlimited,
            offset: 0,
            shape: Shape::Keys,
        },
        meta: query_meta_none(),
    })
}

/// The rows of a query in its order, as keys.
pub(crate) fn keys_only(query: &AuthorizedQuery) -> AuthorizedQuery {
    let root = &query.root;
    AuthorizedQuery {
        root: Level {
            collection: Arc::clone(&root.collection),
            visible: root.visible.clone(),
            wanted: root.wanted.clone(),
            sort: root.sort.clone(),
            limit: root.limit,
            offset: root.offset,
            shape: Shape::Keys,
        },
        meta: query_meta_none(),
    }
}

/// Narrows a query to some of the keys it selects; its row filter stays.
///
/// # Errors
/// Never for collections with a primary key.
pub(crate) fn restrict_to(query: &mut AuthorizedQuery, keys: &[Key]) -> Result<()> {
    query.root.wanted = key_condition(&query.root.collection, keys)?;
    query.root.limit = Limit::Unlimited;
    query.root.offset = 0;
    Ok(())
}

fn query_meta_none() -> crate::query::ast::MetaRequest {
    crate::query::ast::MetaRequest::default()
}

fn resolver<'a>(ctx: &'a Ctx<'_>, variables: &'a Variables, keys_of: Option<(Arc<str>, Action)>) -> Resolver<'a> {
    Resolver {
        schema: &ctx.schema,
        policy: &ctx.policy,
        variables,
        limits: &ctx.engine.settings.limits,
        keys_of,
        hops: Cell::new(MOST_HOPS),
        operands: Cell::new(MOST_OPERANDS),
    }
}

fn key_condition(collection: &Arc<Collection>, keys: &[Key]) -> Result<Condition> {
    let primary = FieldRef::new(collection, &collection.primary).ok_or_else(Error::forbidden)?;
    let values: Vec<Typed> = keys.iter().map(|key| typed_key(primary.field(), key)).collect();
    let test = match values.as_slice() {
        [one] => Test::Compare(Comparison::Equal, one.clone()),
        _ => Test::In { values, negated: false },
    };
    Ok(Condition::Test(Scalar::Column(primary), test))
}

/// A key as a value of its field.
#[must_use]
pub fn typed_key(field: &Field, key: &Key) -> Typed {
    match key {
        Key::Int(number) => Typed::Int(*number),
        Key::Uuid(id) => Typed::Uuid(*id),
        Key::Text(text) if field.kind == FieldType::Decimal => Typed::Decimal(text.clone()),
        Key::Text(text) => Typed::Text(text.clone()),
    }
}

/// The variables of this request, resolved when they are first needed; rows of user and role are
/// fetched only when a rule names a path.
///
/// # Errors
/// When they can't be read.
pub async fn variables<'c>(ctx: &'c Ctx<'_>) -> Result<&'c Variables> {
    ctx.variables.get_or_try_init(|| resolve_variables(ctx)).await
}

async fn resolve_variables(ctx: &Ctx<'_>) -> Result<Variables> {
    let actor = &ctx.actor;
    let mut variables = Variables {
        now: chrono::Utc::now(),
        user: actor.user_id().map(|id| id.to_string()),
        role: actor.role_id().map(|id| id.to_string()),
        ..Variables::default()
    };
    if let Some(id) = actor.user_id()
        && !ctx.policy.user_paths.is_empty()
    {
        variables.user_row = fetch(ctx, "directus_users", Key::Uuid(id), &ctx.policy.user_paths).await?;
    }
    if let Some(id) = actor.role_id()
        && !ctx.policy.role_paths.is_empty()
    {
        variables.role_row = fetch(ctx, "directus_roles", Key::Uuid(id), &ctx.policy.role_paths).await?;
    }
    Ok(variables)
}

/// A rule that names a list means all of it, however many rows clients get at a time.
fn whole_lists(paths: &[&[PathStep]]) -> IndexMap<String, Deep> {
    let mut below: IndexMap<String, Vec<&[PathStep]>> = IndexMap::new();
    for path in paths {
        if let Some((step, rest)) = path.split_first().filter(|(_, rest)| !rest.is_empty()) {
            let scoped = step.scope.as_ref().map(|scope| format!("{}:{scope}", step.name));
            below.entry(scoped.unwrap_or_else(|| step.name.clone())).or_default().push(rest);
        }
    }
    let level =
        |paths: &[&[PathStep]]| Query { limit: Some(Limit::Unlimited), deep: whole_lists(paths), ..Query::default() };
    below.into_iter().map(|(name, paths)| (name, Box::new(level(&paths)))).collect()
}

async fn fetch(ctx: &Ctx<'_>, collection: &str, key: Key, paths: &[String]) -> Result<Map<String, Value>> {
    let limits = &ctx.engine.settings.limits;
    let fields = paths.iter().filter_map(|path| crate::query::fields::path(path, limits).ok()).collect();
    let fields: Vec<FieldPath> = fields;
    let deep = whole_lists(&fields.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let query = Query { fields: Some(fields), limit: Some(Limit::Unlimited), deep, ..Query::default() };
    let elevated = ctx.elevated();
    // The rows are read by the road itself, with the system's rights; boxed because it leads here again.
    let row = Box::pin(crate::items::read_one(&elevated, collection, &key, &query)).await;
    match row {
        Ok(row) => Ok(serde_json::from_str(row.get()).unwrap_or_default()),
        Err(error) if error.code() == crate::error::Code::Forbidden => Ok(Map::new()),
        Err(error) => Err(error),
    }
}
