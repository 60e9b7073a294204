//! The verbs on one collection, as `/items` and the system families serve them: shapes of bodies,
//! keys, and what is read back after a write. All work is done by the engine's items.

use serde_json::{Map, Value};
use waymark_core::{
    Code, Ctx, Error, Result,
    access::Action,
    error::Problem,
    ident::Key,
    items,
    query::{
        Query,
        ast::{Limit, MetaRequest},
    },
    schema::Collection,
};

use crate::{
    extract::{Call, query},
    respond::{self, Answer},
};

/// How a family differs from `/items`.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// SEARCH honours `keys`.
    pub search_keys: bool,
    /// Lists without `limit` are whole.
    pub unlimited: bool,
}

impl Manner {
    /// As `/items` does.
    pub const ITEMS: Self = Self { search_keys: true, unlimited: false };
}

/// The collection, if it exists.
///
/// # Errors
/// `FORBIDDEN` when there is none.
pub fn collection<'a>(ctx: &'a Ctx<'_>, name: &str) -> Result<&'a Collection> {
    ctx.schema.collection(name).map(|collection| &**collection).ok_or_else(Error::forbidden)
}

/// A key from a path.
///
/// # Errors
/// `FORBIDDEN` when no item can have it.
pub fn path_key(collection: &Collection, text: &str) -> Result<Key> {
    Key::parse_text(collection.primary_field(), text).ok_or_else(Error::forbidden)
}

/// GET of the list, or of a singleton's object.
///
/// # Errors
/// As the engine's `read`.
pub async fn list(call: Call, name: &str, manner: Manner) -> Answer {
    let mut query = call.query.clone();
    if manner.unlimited && query.limit.is_none() {
        query.limit = Some(Limit::Unlimited);
    }
    if let Some(format) = query.export {
        return respond::export::list(call, format, name, query, None).await;
    }
    let ctx = call.ctx().await?;
    Ok(respond::page(&items::read(&ctx, name, &query, None).await?))
}

/// SEARCH: the query and optional keys stand in the body; the URL's query counts for nothing.
///
/// # Errors
/// `FAILED_VALIDATION` for a body of another shape, else as [`list`].
pub async fn search(mut call: Call, name: &str, manner: Manner) -> Answer {
    let body = match call.body.take() {
        None => Map::new(),
        Some(Value::Object(body)) => body,
        Some(_) => return Err(shape().into()),
    };
    let keys = batch_keys(&body)?;
    let query = batch_query(&body)?;
    if let Some(unknown) = body.keys().find(|key| !matches!(key.as_str(), "keys" | "query")) {
        return Err(Error::from(Problem::failed_validation(unknown, None, "This member is not allowed.")).into());
    }
    let limits = &call.state.engine.settings.limits;
    let mut query = match query {
        Some(query) => query::from_body(query, limits)?,
        None => Query::default(),
    };
    let ctx = call.ctx().await?;
    let keys = match keys.filter(|_| manner.search_keys) {
        Some(keys) => Some(parse_keys(collection(&ctx, name)?, keys)?),
        None => None,
    };
    if query.limit.is_none() {
        query.limit = match &keys {
            Some(keys) => Some(Limit::Rows(keys.len() as u64)),
            None => manner.unlimited.then_some(Limit::Unlimited),
        };
    }
    if let Some(format) = query.export {
        drop(ctx);
        return respond::export::list(call, format, name, query, keys).await;
    }
    Ok(respond::page(&items::read(&ctx, name, &query, keys.as_deref()).await?))
}

/// GET of one item.
///
/// # Errors
/// `FORBIDDEN` when there is none.
pub async fn one(call: Call, name: &str, key: &str) -> Answer {
    let ctx = call.ctx().await?;
    let key = path_key(collection(&ctx, name)?, key)?;
    Ok(respond::data(&items::read_one(&ctx, name, &key, &call.query).await?))
}

/// POST of one item or of several.
///
/// # Errors
/// As the engine's `create`.
pub async fn create(mut call: Call, name: &str) -> Answer {
    let body = call.body.take();
    let ctx = call.ctx().await?;
    items::read::check(&ctx, name, &call.query).await?;
    match body {
        Some(Value::Array(elements)) => {
            let keys = items::create(&ctx, name, objects(elements)?).await?;
            read_back(&ctx, name, keys, &call.query).await
        }
        Some(Value::Object(object)) => created(&ctx, name, object, &call.query).await,
        _ => created(&ctx, name, Map::new(), &call.query).await,
    }
}

async fn created(ctx: &Ctx<'_>, name: &str, object: Map<String, Value>, query: &Query) -> Answer {
    let keys = items::create(ctx, name, vec![object]).await?;
    let key = keys.into_iter().next().ok_or_else(|| Error::internal("no key of a created item"))?;
    read_back_one(ctx, name, &key, query).await
}

/// PATCH of one item.
///
/// # Errors
/// As the engine's `update`.
pub async fn update_one(mut call: Call, name: &str, key: &str) -> Answer {
    let payload = call.object()?;
    let ctx = call.ctx().await?;
    let key = path_key(collection(&ctx, name)?, key)?;
    items::read::check(&ctx, name, &call.query).await?;
    items::update(&ctx, name, std::slice::from_ref(&key), payload).await?;
    read_back_one(&ctx, name, &key, &call.query).await
}

/// PATCH of several items: `[{pk, …}, …]`, `{keys, data}` or `{query, data}`.
///
/// # Errors
/// `FAILED_VALIDATION` for a body of another shape, else as the engine's `update`.
pub async fn update_many(mut call: Call, name: &str) -> Answer {
    let body = call.body.take();
    let ctx = call.ctx().await?;
    items::read::check(&ctx, name, &call.query).await?;
    let keys = match body {
        Some(Value::Array(elements)) => items::update_each(&ctx, name, objects(elements)?).await?,
        Some(Value::Object(mut body)) => {
            let (selection, data) = update_shape(&mut body)?;
            update_selected(&call, &ctx, name, selection, data).await?
        }
        _ => return Err(required("data").into()),
    };
    read_back(&ctx, name, keys, &call.query).await
}

async fn update_selected(
    call: &Call,
    ctx: &Ctx<'_>,
    name: &str,
    selection: Selection,
    data: Map<String, Value>,
) -> Result<Vec<Key>> {
    let work = ctx.begin().await?;
    let inner = work.ctx(ctx);
    let keys = selected(call, &inner, name, Action::Update, selection).await?;
    let keys = items::update(&inner, name, &keys, data).await?;
    drop(inner);
    work.commit(ctx.engine).await?;
    Ok(keys)
}

/// DELETE of one item.
///
/// # Errors
/// As the engine's `delete`.
pub async fn delete_one(call: Call, name: &str, key: &str) -> Answer {
    let ctx = call.ctx().await?;
    let key = path_key(collection(&ctx, name)?, key)?;
    items::delete(&ctx, name, &[key]).await?;
    Ok(respond::empty())
}

/// DELETE of several items: `[pk, …]`, `{keys}` or `{query}`.
///
/// # Errors
/// `FAILED_VALIDATION` for a body of another shape, else as the engine's `delete`.
pub async fn delete_many(mut call: Call, name: &str) -> Answer {
    let selection = match call.body.take() {
        Some(Value::Array(keys)) => {
            if !keys.iter().all(|key| key.is_string() || key.is_number()) {
                return Err(Error::invalid_payload("Every key has to be a text or a number.").into());
            }
            Selection::Keys(keys)
        }
        Some(Value::Object(mut body)) => delete_shape(&mut body)?,
        _ => return Err(shape().into()),
    };
    let ctx = call.ctx().await?;
    let work = ctx.begin().await?;
    let inner = work.ctx(&ctx);
    let keys = selected(&call, &inner, name, Action::Delete, selection).await?;
    items::delete(&inner, name, &keys).await?;
    drop(inner);
    work.commit(ctx.engine).await?;
    Ok(respond::empty())
}

/// Which items a batch is about.
enum Selection {
    Keys(Vec<Value>),
    Query(Value),
}

/// The keys of a batch. Those of a query are the rows that the caller can see: whether they may be
/// written is then asked key by key, and one forbidden row refuses the whole.
async fn selected(call: &Call, ctx: &Ctx<'_>, name: &str, action: Action, selection: Selection) -> Result<Vec<Key>> {
    match selection {
        Selection::Keys(keys) => parse_keys(collection(ctx, name)?, &keys),
        Selection::Query(query) => {
            choosing(&query)?;
            let query = query::from_body(&query, &call.state.engine.settings.limits)?;
            items::read_keys(ctx, name, action, &query).await
        }
    }
}

/// A query that chooses what is written takes no member that could be meant to choose and does not: a
/// slip of the pen must not reach every row.
///
/// # Errors
/// `INVALID_QUERY`.
fn choosing(query: &Value) -> Result<()> {
    const KNOWN: &[&str] = &["filter", "search", "sort", "limit", "offset", "page", "alias", "fields"];
    let strange = query.as_object().and_then(|query| query.keys().find(|name| !KNOWN.contains(&name.as_str())));
    match strange {
        Some(_) => Err(Error::invalid_query(format!("The query takes {} only.", KNOWN.join(", ")))),
        None => Ok(()),
    }
}

fn update_shape(body: &mut Map<String, Value>) -> Result<(Selection, Map<String, Value>)> {
    batch_keys(body)?;
    batch_query(body)?;
    let data = match body.remove("data") {
        None => return Err(required("data")),
        Some(Value::Object(data)) => data,
        Some(_) => return Err(Problem::failed_validation("data", None, "\"data\" has to be an object.").into()),
    };
    Ok((delete_shape(body)?, data))
}

fn delete_shape(body: &mut Map<String, Value>) -> Result<Selection> {
    batch_keys(body)?;
    batch_query(body)?;
    let (keys, query) = (body.remove("keys"), body.remove("query"));
    if let Some(unknown) = body.keys().next() {
        return Err(match (&keys, &query) {
            // which member is wrong can't be told when the ones that count are missing
            (None, None) => shape(),
            _ => Problem::failed_validation(unknown, None, "This member is not allowed.").into(),
        });
    }
    match (keys, query) {
        (Some(Value::Array(keys)), None) => Ok(Selection::Keys(keys)),
        (None, Some(query)) => Ok(Selection::Query(query)),
        _ => Err(shape()),
    }
}

fn batch_keys(body: &Map<String, Value>) -> Result<Option<&[Value]>> {
    match body.get("keys") {
        None => Ok(None),
        Some(Value::Array(keys)) if keys.iter().all(|key| key.is_string() || key.is_number()) => Ok(Some(keys)),
        Some(_) => Err(Problem::failed_validation("keys", None, "\"keys\" has to be a list of keys.").into()),
    }
}

fn batch_query(body: &Map<String, Value>) -> Result<Option<&Value>> {
    match body.get("query") {
        None => Ok(None),
        Some(query @ Value::Object(_)) => Ok(Some(query)),
        Some(_) => Err(Problem::failed_validation("query", None, "\"query\" has to be an object.").into()),
    }
}

/// Exactly one of keys and query is needed.
fn shape() -> Error {
    Error::with_message(Code::FailedValidation, "The body has to hold either \"keys\" or \"query\".")
}

fn required(field: &str) -> Error {
    Problem::failed_validation(field, Some("required"), format!("\"{field}\" is required.")).into()
}

fn objects(elements: Vec<Value>) -> Result<Vec<Map<String, Value>>> {
    let object = |element| match element {
        Value::Object(object) => Ok(object),
        _ => Err(Error::invalid_payload("Every element has to be an object.")),
    };
    elements.into_iter().map(object).collect()
}

fn parse_keys(collection: &Collection, keys: &[Value]) -> Result<Vec<Key>> {
    keys.iter().map(|key| Key::parse(collection.primary_field(), key).ok_or_else(Error::forbidden)).collect()
}

/// Reads written items back with the URL's query. What the caller may not read is not shown: 204.
async fn read_back(ctx: &Ctx<'_>, name: &str, keys: Vec<Key>, query: &Query) -> Answer {
    let query = Query { meta: MetaRequest::default(), ..query.clone() };
    match items::read_written(ctx, name, &query, &keys).await {
        Ok(data) => Ok(respond::data(&data)),
        Err(error) => hidden(error),
    }
}

async fn read_back_one(ctx: &Ctx<'_>, name: &str, key: &Key, query: &Query) -> Answer {
    match items::read_one(ctx, name, key, query).await {
        Ok(item) => Ok(respond::data(&item)),
        Err(error) => hidden(error),
    }
}

/// The answer to a write whose result the caller may not read.
///
/// # Errors
/// Everything but `FORBIDDEN`.
pub fn hidden(error: Error) -> Answer {
    if error.code() == Code::Forbidden { Ok(respond::empty()) } else { Err(error.into()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem(body: Value) -> (String, Option<String>, Option<String>) {
        let Value::Object(mut body) = body else { panic!("an object") };
        let error = update_shape(&mut body).err().expect("refused");
        let extension = |name: &str| {
            let problem = error.problems().next().expect("one");
            problem.extensions.get(name).and_then(|value| value.as_str().map(str::to_owned))
        };
        (error.code().name().to_owned(), extension("field"), extension("type"))
    }

    #[test]
    fn batch_bodies_are_checked_in_order() {
        let failed = "FAILED_VALIDATION".to_owned();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(problem(json!({"keys": [11]})), (failed.clone(), text("data"), text("required")));
        assert_eq!(problem(json!({"pages": 1})), (failed.clone(), text("data"), text("required")));
        assert_eq!(problem(json!({"data": {}})), (failed.clone(), None, None));
        assert_eq!(problem(json!({"data": {}, "keys": [1], "query": {}})), (failed.clone(), None, None));
        assert_eq!(problem(json!({"data": [], "keys": [1]})), (failed.clone(), text("data"), None));
        assert_eq!(problem(json!({"data": {}, "keys": 5})), (failed.clone(), text("keys"), None));
        assert_eq!(problem(json!({"data": {}, "keys": [null]})), (failed.clone(), text("keys"), None));
        assert_eq!(problem(json!({"data": {}, "keys": [1], "x": 1})), (failed, text("x"), None));
    }
}
