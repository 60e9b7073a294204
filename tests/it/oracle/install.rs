//! Puts a world on a server, as an admin does it.

use serde_json::{Value, json};
use waymark_tests::Client;

use super::{
    policy::Rule,
    values,
    world::{Collection, Field, Kind, Type, World},
};

/// A user with a role that has no rights yet.
pub struct Member {
    pub user: String,
    pub role: String,
    pub place: String,
    pub token: String,
}

/// Makes a user with a role; both have the same ids in every run.
pub async fn member(admin: &Client, seed: u64, number: usize, place: &str) -> Member {
    let name = format!("world{seed}role{number}");
    let id = |kind: &str| format!("{kind}000000-0000-4000-8000-{:06}{number:06}", seed % 1_000_000);
    let (role, user, token) = (id("4e"), id("3f"), format!("token-{name}"));
    admin.must_post("/roles", json!({ "id": role, "name": name, "admin_access": false, "app_access": false })).await;
    let body = json!({
        "id": user, "email": format!("{name}@example.com"), "password": "correct horse",
        "role": role, "token": token, "location": place, "status": "active",
    });
    let made = admin.must_post("/users", body).await;
    assert_eq!(made["id"], json!(user), "the id that was asked for");
    Member { user, role, place: place.to_owned(), token }
}

/// Makes the collections and their relations.
pub async fn schema(admin: &Client, world: &World) {
    for collection in &world.collections {
        let fields: Vec<Value> =
            collection.fields.iter().filter_map(|field| column(world, collection, field)).collect();
        let body = json!({ "collection": collection.name, "schema": {}, "meta": {}, "fields": fields });
        admin.must_post("/collections", body).await;
    }
    for collection in &world.collections {
        for field in &collection.fields {
            match &field.kind {
                Kind::Many { child, key, sort } => {
                    let alias =
                        json!({ "field": field.name, "type": "alias", "schema": null, "meta": { "special": ["o2m"] } });
                    admin.must_post(&format!("/fields/{}", collection.name), alias).await;
                    let relation = json!({
                        "collection": world.collections[*child].name, "field": key, "related_collection": collection.name,
                        "meta": { "one_field": field.name, "sort_field": sort }, "schema": { "on_delete": "SET NULL" },
                    });
                    admin.must_post("/relations", relation).await;
                }
                Kind::Any { targets, discriminator } => {
                    let allowed: Vec<&str> =
                        targets.iter().map(|target| world.collections[*target].name.as_str()).collect();
                    let relation = json!({
                        "collection": collection.name, "field": field.name, "related_collection": null, "schema": null,
                        "meta": { "one_field": null, "one_collection_field": discriminator, "one_allowed_collections": allowed },
                    });
                    admin.must_post("/relations", relation).await;
                }
                Kind::Plain(_) | Kind::One { .. } => {}
            }
        }
    }
}

fn column(world: &World, collection: &Collection, field: &Field) -> Option<Value> {
    let kind = world.column(field)?;
    if field.name == super::world::KEY {
        return Some(match kind {
            Type::Integer => {
                json!({ "field": "id", "type": "integer", "schema": { "is_primary_key": true, "has_auto_increment": true }, "meta": {} })
            }
            Type::Uuid => {
                json!({ "field": "id", "type": "uuid", "schema": { "is_primary_key": true, "length": 36 }, "meta": { "special": ["uuid"] } })
            }
            _ => json!({ "field": "id", "type": "string", "schema": { "is_primary_key": true }, "meta": {} }),
        });
    }
    let _ = collection;
    let (name, special, schema) = match kind {
        Type::Integer => ("integer", None, json!({})),
        Type::BigInteger => ("bigInteger", None, json!({})),
        Type::Decimal => ("decimal", None, json!({ "numeric_precision": 12, "numeric_scale": 3 })),
        Type::Float => ("float", None, json!({})),
        Type::Word | Type::String => ("string", None, json!({})),
        Type::Text => ("text", None, json!({})),
        Type::Boolean => ("boolean", Some("cast-boolean"), json!({})),
        Type::Uuid => ("uuid", None, json!({})),
        Type::Date => ("date", None, json!({})),
        Type::DateTime => ("dateTime", None, json!({})),
        Type::Timestamp => ("timestamp", None, json!({})),
        Type::Time => ("time", None, json!({})),
        Type::Json | Type::List => ("json", Some("cast-json"), json!({})),
        Type::Csv => ("csv", Some("cast-csv"), json!({})),
    };
    let meta = special.map_or_else(|| json!({}), |special| json!({ "special": [special] }));
    Some(json!({ "field": field.name, "type": name, "schema": schema, "meta": meta }))
}

/// Stores the rows: what others point to first.
pub async fn rows(admin: &Client, world: &World) {
    for number in [1, 0, 2, 3, 4] {
        let collection = &world.collections[number];
        let rows: Vec<Value> = collection
            .rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|(name, cell)| (name.clone(), values::written(cell)))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            })
            .collect();
        admin.must_post(&format!("/items/{}?fields=id&limit=1", collection.name), rows.into()).await;
    }
}

/// Gives a role its rights; `None` is the public.
pub async fn rules(admin: &Client, world: &World, role: Option<&str>, rules: &[Option<Rule>]) {
    for (collection, rule) in world.collections.iter().zip(rules) {
        if let Some(rule) = rule {
            admin.permit(role, &collection.name, "read", rule.json()).await;
        }
    }
}
