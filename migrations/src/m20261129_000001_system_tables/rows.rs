//! The rows the server relies on: a key for each role, and the public role.

use std::collections::HashSet;

use sea_orm::{
    ConnectionTrait, DbBackend, DbErr,
    sea_query::{Alias, Expr, ExprTrait, Query, SimpleExpr},
};

use crate::table::Target;

const ROLES: &str = "directus_roles";
const PUBLIC_ID: &str = "00000000-0000-0000-0000-000000000000";
const PUBLIC_KEY: &str = "public";

/// Gives roles of older layouts a key, made of their name.
pub(super) async fn role_keys(target: &Target<'_>) -> Result<(), DbErr> {
    let connection = target.manager.get_connection();
    let select = Query::select()
        .expr(Expr::col(Alias::new("id")).cast_as(text_type(target.backend)))
        .column(Alias::new("name"))
        .column(Alias::new("key"))
        .from(Alias::new(ROLES))
        .order_by_expr(Expr::col(Alias::new("id")), sea_orm::sea_query::Order::Asc)
        .take();
    let mut taken = HashSet::from([PUBLIC_KEY.to_owned()]);
    let mut keyless = Vec::new();
    for row in connection.query_all(&select).await? {
        let id: String = row.try_get_by_index(0)?;
        let name: Option<String> = row.try_get_by_index(1)?;
        match row.try_get_by_index::<Option<String>>(2)? {
            Some(key) => {
                taken.insert(key);
            }
            None => keyless.push((id, name.unwrap_or_default())),
        }
    }
    if keyless.is_empty() {
        return Ok(());
    }
    for (id, name) in keyless {
        let key = if id == PUBLIC_ID { PUBLIC_KEY.to_owned() } else { free_key(&name, &mut taken) };
        let update = Query::update()
            .table(Alias::new(ROLES))
            .value(Alias::new("key"), key)
            .and_where(Expr::col(Alias::new("id")).eq(uuid(target.backend, &id)))
            .take();
        connection.execute(&update).await?;
    }
    if !target.manager.has_index(ROLES, "directus_roles_key_unique").await? {
        let index = sea_orm::sea_query::Index::create()
            .name("directus_roles_key_unique")
            .table(Alias::new(ROLES))
            .col(Alias::new("key"))
            .unique()
            .take();
        target.manager.create_index(index).await?;
    }
    Ok(())
}

/// The row whose permissions hold for callers without a role.
pub(super) async fn public_role(target: &Target<'_>) -> Result<(), DbErr> {
    let connection = target.manager.get_connection();
    let select = Query::select()
        .column(Alias::new("name"))
        .from(Alias::new(ROLES))
        .and_where(Expr::col(Alias::new("id")).eq(uuid(target.backend, PUBLIC_ID)))
        .take();
    if connection.query_one(&select).await?.is_some() {
        return Ok(());
    }
    let insert = Query::insert()
        .into_table(Alias::new(ROLES))
        .columns(["id", "key", "name", "icon", "admin_access", "app_access", "enforce_tfa"].map(Alias::new))
        .values_panic([
            uuid(target.backend, PUBLIC_ID),
            PUBLIC_KEY.into(),
            "$t:public_label".into(),
            "public".into(),
            false.into(),
            false.into(),
            false.into(),
        ])
        .take();
    connection.execute(&insert).await?;
    Ok(())
}

fn uuid(backend: DbBackend, id: &str) -> SimpleExpr {
    let value = Expr::val(id);
    if backend == DbBackend::Postgres { value.cast_as("uuid") } else { value }
}

fn text_type(backend: DbBackend) -> &'static str {
    if backend == DbBackend::MySql { "char" } else { "text" }
}

/// A key no other role has: the name in lower case with hyphens, numbered when taken.
fn free_key(name: &str, taken: &mut HashSet<String>) -> String {
    let words: Vec<String> = name
        .to_lowercase()
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let base: String = if words.is_empty() { "role".to_owned() } else { words.join("-").chars().take(200).collect() };
    let mut key = base.clone();
    let mut number = 2;
    while !taken.insert(key.clone()) {
        key = format!("{base}-{number}");
        number += 1;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_made_of_names_and_stay_unique() {
        let mut taken = HashSet::from(["public".to_owned()]);
        assert_eq!(free_key("Content Editor!", &mut taken), "content-editor");
        assert_eq!(free_key("content  editor", &mut taken), "content-editor-2");
        assert_eq!(free_key("$t:public", &mut taken), "t-public");
        assert_eq!(free_key("Public", &mut taken), "public-2");
        assert_eq!(free_key("???", &mut taken), "role");
    }
}
