//! Permission rows → a compiled [`Policy`].

use std::{collections::HashSet, sync::Arc};

use indexmap::IndexMap;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, Query as Sql};
use serde_json::{Map, Value};

use super::{Action, FieldSet, Policy, Rule, app_access, share, variables::collect_paths};
use crate::{
    actor::{Actor, PUBLIC_ROLE},
    context::Engine,
    error::{Error, Result},
    query::{
        QueryLimits,
        ast::Filter,
        filter::{self, Source},
    },
    schema::Schema,
    store::Dialect,
};

/// A row of `directus_permissions`, decoded.
#[derive(Clone, Debug)]
pub struct StoredRule {
    pub collection: String,
    pub action: Action,
    pub permissions: Option<Value>,
    pub validation: Option<Value>,
    pub presets: Option<Value>,
    pub fields: Vec<String>,
}

/// Reads and compiles what a caller may do. Admins and the system are unrestricted.
///
/// # Errors
/// When the rows can't be read.
pub async fn load_policy(engine: &Engine, schema: &Schema, actor: &Actor) -> Result<Policy> {
    if actor.is_system() || actor.is_admin() {
        return Ok(Policy::unrestricted());
    }
    let role = actor.effective_role().ok_or_else(Error::forbidden)?;
    let mut rows = load_rows(engine, role).await?;
    if actor.has_app_access() {
        rows.extend(app_access::minimum());
    }
    if let Some(share) = actor.as_share() {
        rows = share::narrow(rows, schema, share, engine.settings.limits.relational_depth);
    }
    Ok(compile(rows, &engine.settings.limits))
}

/// Compiles rows; several of one collection and action (a role's own and the app minimum) merge by OR.
#[must_use]
pub fn compile(rows: Vec<StoredRule>, limits: &QueryLimits) -> Policy {
    let (mut user_paths, mut role_paths) = (Vec::new(), Vec::new());
    let mut merged: IndexMap<(Arc<str>, Action), StoredRule> = IndexMap::new();
    for row in rows {
        let key = (Arc::from(row.collection.as_str()), row.action);
        match merged.get_mut(&key) {
            Some(present) => present.merge(row),
            None => {
                merged.insert(key, row);
            }
        }
    }
    let rules = merged
        .into_iter()
        .map(|(key, row)| {
            for value in [&row.permissions, &row.validation, &row.presets].into_iter().flatten() {
                collect_paths(value, &mut user_paths, &mut role_paths);
            }
            (key, Arc::new(row.compile(limits)))
        })
        .collect();
    Policy::from_rules(rules, user_paths, role_paths)
}

impl StoredRule {
    fn merge(&mut self, other: StoredRule) {
        self.permissions = either(self.permissions.take(), other.permissions, true);
        self.validation = either(self.validation.take(), other.validation, false);
        self.fields.extend(other.fields);
        if let Some(Value::Object(more)) = other.presets {
            match &mut self.presets {
                Some(Value::Object(presets)) => merge_over(presets, more),
                presets => *presets = Some(Value::Object(more)),
            }
        }
    }

    fn compile(self, limits: &QueryLimits) -> Rule {
        let fields = if self.fields.iter().any(|field| field == "*") {
            FieldSet::All
        } else {
            FieldSet::Some(self.fields.into_iter().collect::<HashSet<_>>())
        };
        // Stored rules may nest deeper than what clients may ask.
        let limits = QueryLimits { relational_depth: limits.relational_depth.max(32), ..limits.clone() };
        let rows = match self.permissions {
            None | Some(Value::Null) => None,
            Some(Value::Object(map)) if map.is_empty() => None,
            Some(value) => Some(filter::parse(&value, Source::Rule, &limits).unwrap_or_else(|error| {
                tracing::warn!(collection = %self.collection, %error, "a permission rule can't be understood and matches nothing");
                Filter::Nothing
            })),
        };
        let presets = match self.presets {
            Some(Value::Object(presets)) => presets,
            _ => Map::new(),
        };
        let validation = self.validation.filter(|rule| rule.as_object().is_some_and(|map| !map.is_empty()));
        Rule { rows, fields, validation, presets }
    }
}

/// Puts members over others; objects member by member.
fn merge_over(presets: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, value) in more {
        match (presets.get_mut(&name), value) {
            (Some(Value::Object(present)), Value::Object(value)) => merge_over(present, value),
            (_, value) => {
                presets.insert(name, value);
            }
        }
    }
}

/// OR of two rules. `{}` (and for row filters no filter at all) is "everything" and wins.
fn either(first: Option<Value>, second: Option<Value>, absent_is_all: bool) -> Option<Value> {
    let everything = |value: &Option<Value>| match value {
        None | Some(Value::Null) => absent_is_all,
        Some(Value::Object(map)) => map.is_empty(),
        Some(_) => false,
    };
    if everything(&first) || everything(&second) {
        return Some(Value::Object(Map::new()));
    }
    match (first, second) {
        (Some(first), Some(second)) => Some(serde_json::json!({"_or": [first, second]})),
        (one, other) => one.or(other),
    }
}

async fn load_rows(engine: &Engine, role: uuid::Uuid) -> Result<Vec<StoredRule>> {
    let conn = engine.db.executor();
    let column = |name: &'static str| Expr::col(Alias::new(name));
    let text = |name: &'static str| match conn.dialect() {
        Dialect::Postgres => column(name).cast_as(Alias::new("text")),
        Dialect::Sqlite | Dialect::Mysql => column(name),
    };
    let mut statement = Sql::select();
    statement.expr(column("collection")).expr(column("action"));
    for name in ["permissions", "validation", "presets", "fields"] {
        statement.expr(text(name));
    }
    statement.from(Alias::new("directus_permissions"));
    let id = match conn.dialect() {
        Dialect::Postgres => Expr::val(role),
        Dialect::Sqlite | Dialect::Mysql => Expr::val(role.to_string()),
    };
    let mut of_role = column("role").eq(id);
    if role == PUBLIC_ROLE {
        // Databases made by Directus mark the public role by NULL.
        of_role = of_role.or(column("role").is_null());
    }
    statement.and_where(of_role);
    let rows = conn.query(conn.build(&statement)).await?;
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        let get = |index: usize| -> Result<Option<String>> {
            row.try_get_by_index(index).map_err(crate::error::database::from_driver)
        };
        let json = |index: usize| -> Result<Option<Value>> {
            // Unreadable JSON grants nothing: see `compile`.
            Ok(get(index)?
                .map(|text| serde_json::from_str(&text).unwrap_or(Value::Bool(false)))
                .filter(|value| !value.is_null()))
        };
        let (Some(collection), Some(action)) = (get(0)?, get(1)?) else { continue };
        let Some(action) = Action::from_name(&action) else { continue };
        let fields = get(5)?.unwrap_or_default();
        out.push(StoredRule {
            collection,
            action,
            permissions: json(2)?,
            validation: json(3)?,
            presets: json(4)?,
            fields: fields.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        });
    }
    Ok(out)
}
