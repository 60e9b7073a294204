//! The demo's blog: its collections, relations, items and what the public may read. Everything goes
//! through the same services as the API.

use serde_json::{Map, Value, json};
use waymark_core::{
    Engine, Result,
    access::Action,
    items,
    query::{Query, ast::Limit},
    system::{collections, fields, relations},
};

use super::{Failed, told};

/// Makes what is missing.
pub async fn load(engine: &Engine) -> std::result::Result<(), Failed> {
    model(engine).await.map_err(told)?;
    fill(engine).await.map_err(told)?;
    open_to_public(engine).await.map_err(told)
}

fn id() -> Value {
    json!({
        "field": "id", "type": "integer", "meta": { "hidden": true, "readonly": true },
        "schema": { "is_primary_key": true, "has_auto_increment": true },
    })
}

fn field(name: &str, kind: &str) -> Value {
    json!({ "field": name, "type": kind, "meta": {}, "schema": {} })
}

async fn model(engine: &Engine) -> Result<()> {
    let status = json!({ "field": "status", "type": "string", "meta": {}, "schema": { "default_value": "draft", "is_nullable": false } });
    let created =
        json!({ "field": "created_on", "type": "timestamp", "meta": { "special": ["date-created"] }, "schema": {} });
    let tables = [
        ("authors", vec![id(), field("name", "string"), field("bio", "text")]),
        ("tags", vec![id(), field("name", "string")]),
        (
            "articles",
            vec![
                id(),
                status,
                field("title", "string"),
                field("body", "text"),
                field("published_on", "date"),
                field("author", "integer"),
            ],
        ),
        ("comments", vec![id(), field("article", "integer"), field("name", "string"), field("text", "text"), created]),
        ("articles_tags", vec![id(), field("articles_id", "integer"), field("tags_id", "integer")]),
    ];
    for (name, fields) in tables {
        let ctx = engine.system_context();
        if ctx.schema.collection(name).is_none() {
            let hidden = name == "articles_tags";
            collections::create(
                &ctx,
                &json!({ "collection": name, "meta": { "hidden": hidden }, "schema": {}, "fields": fields }),
            )
            .await?;
        }
    }
    for (collection, name, special) in [
        ("authors", "articles", "o2m"),
        ("articles", "comments", "o2m"),
        ("articles", "tags", "m2m"),
        ("tags", "articles", "m2m"),
    ] {
        let ctx = engine.system_context();
        let known = ctx.schema.collection(collection).is_some_and(|collection| collection.field(name).is_some());
        if !known {
            let alias = json!({ "field": name, "type": "alias", "schema": null, "meta": { "special": [special] } });
            fields::create(&ctx, collection, &alias).await?;
        }
    }
    relate(engine, ("articles", "author"), "authors", "articles", None, "SET NULL").await?;
    relate(engine, ("comments", "article"), "articles", "comments", None, "CASCADE").await?;
    relate(engine, ("articles_tags", "articles_id"), "articles", "tags", Some("tags_id"), "CASCADE").await?;
    relate(engine, ("articles_tags", "tags_id"), "tags", "articles", Some("articles_id"), "CASCADE").await
}

async fn relate(
    engine: &Engine,
    (collection, field): (&str, &str),
    related: &str,
    one_field: &str,
    junction: Option<&str>,
    on_delete: &str,
) -> Result<()> {
    let ctx = engine.system_context();
    if ctx.schema.collection(collection).is_some_and(|collection| collection.link(field).is_some()) {
        return Ok(());
    }
    let relation = json!({
        "collection": collection, "field": field, "related_collection": related,
        "meta": { "one_field": one_field, "junction_field": junction },
        "schema": { "on_delete": on_delete },
    });
    let Value::Object(relation) = relation else { return Ok(()) };
    relations::create(&ctx, &relation).await.map(drop)
}

async fn is_empty(engine: &Engine, collection: &str) -> Result<bool> {
    let query = Query { limit: Some(Limit::Rows(1)), ..Query::default() };
    Ok(items::read_keys(&engine.system_context(), collection, Action::Read, &query).await?.is_empty())
}

fn objects(values: Value) -> Vec<Map<String, Value>> {
    let Value::Array(values) = values else { return Vec::new() };
    values.into_iter().filter_map(|value| if let Value::Object(object) = value { Some(object) } else { None }).collect()
}

async fn fill(engine: &Engine) -> Result<()> {
    if !is_empty(engine, "authors").await? {
        return Ok(());
    }
    let outer = engine.system_context();
    let work = outer.begin().await?;
    let ctx = work.ctx(&outer);
    let authors = json!([
        { "id": 1, "name": "Ada Birch", "bio": "Writes about rivers." },
        { "id": 2, "name": "Milan Cole", "bio": "Writes about kitchens." },
    ]);
    items::create(&ctx, "authors", objects(authors)).await?;
    let tags = json!([{ "id": 1, "name": "travel" }, { "id": 2, "name": "food" }, { "id": 3, "name": "slow" }]);
    items::create(&ctx, "tags", objects(tags)).await?;
    let articles = json!([
        { "id": 1, "title": "Down the river", "body": "Three days in a small boat.", "status": "published",
          "published_on": "2026-03-14", "author": 1 },
        { "id": 2, "title": "Bread without haste", "body": "Flour, water, salt and a day.", "status": "published",
          "published_on": "2026-05-02", "author": 2 },
        { "id": 3, "title": "Soup on the water", "body": "Cooking where the floor moves.", "status": "published",
          "published_on": "2026-08-21", "author": 1 },
        { "id": 4, "title": "Notes for the autumn", "body": "Not ready yet.", "status": "draft", "author": 2 },
    ]);
    items::create(&ctx, "articles", objects(articles)).await?;
    let links = json!([
        { "articles_id": 1, "tags_id": 1 }, { "articles_id": 1, "tags_id": 3 }, { "articles_id": 2, "tags_id": 2 },
        { "articles_id": 2, "tags_id": 3 }, { "articles_id": 3, "tags_id": 1 }, { "articles_id": 3, "tags_id": 2 },
    ]);
    items::create(&ctx, "articles_tags", objects(links)).await?;
    let comments = json!([
        { "article": 1, "name": "Jo", "text": "Which river was it?" },
        { "article": 1, "name": "Ada", "text": "A small one." },
        { "article": 2, "name": "Kim", "text": "Worth the wait." },
    ]);
    items::create(&ctx, "comments", objects(comments)).await?;
    drop(ctx);
    work.commit(engine).await
}

/// The public may read published articles, their authors and tags; not the comments.
async fn open_to_public(engine: &Engine) -> Result<()> {
    let published = json!({ "status": { "_eq": "published" } });
    let rules = [
        ("articles", published.clone()),
        ("authors", json!({ "articles": published.clone() })),
        ("tags", json!({})),
        ("articles_tags", json!({ "articles_id": published })),
    ];
    let ctx = engine.system_context();
    for (collection, rows) in rules {
        let wanted = json!({
            "filter": { "_and": [{ "collection": { "_eq": collection } }, { "action": { "_eq": "read" } },
                { "role": { "_eq": waymark_core::actor::PUBLIC_ROLE.to_string() } }] },
            "limit": 1,
        });
        let query = waymark_core::query::parse::from_json(&wanted, &engine.settings.limits)?;
        if items::read_keys(&ctx, "directus_permissions", Action::Read, &query).await?.is_empty() {
            let rule = json!([{ "role": null, "collection": collection, "action": "read", "permissions": rows, "fields": ["*"] }]);
            items::create(&ctx, "directus_permissions", objects(rule)).await?;
        }
    }
    Ok(())
}
