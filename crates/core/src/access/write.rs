//! Rights on writes. [`AuthorizedCreate`], [`AuthorizedUpdate`] and [`AuthorizedDelete`] can only be
//! made here, and `plan::write` takes nothing else. They hold what the caller may write, with the
//! presets of the rule, validated.

use std::{collections::HashSet, sync::Arc};

use serde_json::{Map, Value};

use super::{Action, FieldSet, Grant, Rule, Variables};
use crate::{
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    items::read,
    payload::{
        special,
        validate::{Occasion, validate},
    },
    schema::{Collection, Side},
    system,
};

/// Rows that may be created.
#[derive(Debug)]
pub struct AuthorizedCreate {
    collection: Arc<Collection>,
    rows: Vec<Map<String, Value>>,
}

/// A change that may be written to these rows.
#[derive(Debug)]
pub struct AuthorizedUpdate {
    collection: Arc<Collection>,
    keys: Vec<Key>,
    payload: Map<String, Value>,
}

/// Rows that may be deleted.
#[derive(Debug)]
pub struct AuthorizedDelete {
    collection: Arc<Collection>,
    keys: Vec<Key>,
}

impl AuthorizedCreate {
    #[must_use]
    pub fn collection(&self) -> &Arc<Collection> {
        &self.collection
    }

    #[must_use]
    pub fn rows(&self) -> &[Map<String, Value>] {
        &self.rows
    }

    /// For what the server adds: special fields, keys of nested rows, rules of system collections.
    pub(crate) fn rows_mut(&mut self) -> &mut [Map<String, Value>] {
        &mut self.rows
    }
}

impl AuthorizedUpdate {
    #[must_use]
    pub fn collection(&self) -> &Arc<Collection> {
        &self.collection
    }

    #[must_use]
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    #[must_use]
    pub fn payload(&self) -> &Map<String, Value> {
        &self.payload
    }

    /// See [`AuthorizedCreate::rows_mut`].
    pub(crate) fn payload_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.payload
    }
}

impl AuthorizedDelete {
    #[must_use]
    pub fn collection(&self) -> &Arc<Collection> {
        &self.collection
    }

    #[must_use]
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }
}

/// Which rows the caller may create.
///
/// # Errors
/// `FORBIDDEN` without the right or for fields outside of it, `FAILED_VALIDATION` of the first row
/// that breaks a rule.
pub async fn create(
    ctx: &Ctx<'_>,
    collection: &Arc<Collection>,
    mut rows: Vec<Map<String, Value>>,
) -> Result<AuthorizedCreate> {
    let grant = Prepared::of(ctx, collection, Action::Create).await?;
    for row in &mut rows {
        // A null key asks for a generated one.
        let primary = collection.primary_field();
        if row.get(&*collection.primary).is_some_and(Value::is_null)
            && primary.column.as_ref().is_some_and(|column| column.auto_increment)
        {
            row.shift_remove(&*collection.primary);
        }
        grant.restrict(collection, row)?;
    }
    for row in &mut rows {
        grant.complete(collection, row);
        validate(collection, Occasion::Create, grant.validation.as_ref(), &|rule| grant.resolved(rule), row)?;
    }
    Ok(AuthorizedCreate { collection: Arc::clone(collection), rows })
}

/// Which changes the caller may make. Every key has to exist and to be permitted, for everyone.
///
/// # Errors
/// As [`create`]; `FORBIDDEN` when any key is missing or not permitted.
pub async fn update(
    ctx: &Ctx<'_>,
    collection: &Arc<Collection>,
    changes: Vec<(Vec<Key>, Map<String, Value>)>,
) -> Result<Vec<AuthorizedUpdate>> {
    let grant = Prepared::of(ctx, collection, Action::Update).await?;
    let mut prepared = Vec::with_capacity(changes.len());
    for (keys, mut payload) in changes {
        // The key names the row, it is not written: it needs no right of its own.
        payload.shift_remove(&*collection.primary);
        grant.restrict(collection, &mut payload)?;
        prepared.push((distinct(keys), payload));
    }
    let all = distinct(prepared.iter().flat_map(|(keys, _)| keys.iter().cloned()).collect());
    if permitted(ctx, collection, Action::Update, &all).await?.len() < all.len() {
        return Err(Error::forbidden());
    }
    let mut authorized = Vec::with_capacity(prepared.len());
    for (keys, mut payload) in prepared {
        grant.complete(collection, &mut payload);
        // A preset must not move rows either.
        payload.shift_remove(&*collection.primary);
        validate(collection, Occasion::Update, grant.validation.as_ref(), &|rule| grant.resolved(rule), &payload)?;
        authorized.push(AuthorizedUpdate { collection: Arc::clone(collection), keys, payload });
    }
    Ok(authorized)
}

/// A change of rows that the same transaction has just written, so that nobody has to look for them.
/// Only for the server's own rights.
///
/// # Errors
/// `FORBIDDEN` for everybody else.
pub(crate) fn update_known(
    ctx: &Ctx<'_>,
    collection: &Arc<Collection>,
    changes: Vec<(Vec<Key>, Map<String, Value>)>,
) -> Result<Vec<AuthorizedUpdate>> {
    if !ctx.actor.is_system() {
        return Err(Error::forbidden());
    }
    let known = |(keys, payload)| AuthorizedUpdate { collection: Arc::clone(collection), keys, payload };
    Ok(changes.into_iter().map(known).collect())
}

/// Which of these rows are deleted: all must be permitted; admins and the server may name missing ones.
///
/// # Errors
/// `FORBIDDEN`.
pub async fn delete(ctx: &Ctx<'_>, collection: &Arc<Collection>, keys: Vec<Key>) -> Result<AuthorizedDelete> {
    let grant = ctx.policy.grant(&collection.name, Action::Delete);
    if matches!(grant, Grant::Denied) {
        return Err(Error::forbidden());
    }
    let keys = distinct(keys);
    let existing = permitted(ctx, collection, Action::Delete, &keys).await?;
    if existing.len() < keys.len() && !matches!(grant, Grant::Unrestricted) {
        return Err(Error::forbidden());
    }
    let keys = keys.into_iter().filter(|key| existing.contains(key)).collect();
    Ok(AuthorizedDelete { collection: Arc::clone(collection), keys })
}

async fn permitted(ctx: &Ctx<'_>, collection: &Collection, action: Action, keys: &[Key]) -> Result<HashSet<Key>> {
    if keys.is_empty() {
        return Ok(HashSet::new());
    }
    Ok(read::permitted_keys(ctx, &collection.name, action, keys).await?.into_iter().collect())
}

/// Each key once, in the order of its first appearance.
pub(crate) fn distinct(keys: Vec<Key>) -> Vec<Key> {
    let mut seen = HashSet::with_capacity(keys.len());
    keys.into_iter().filter(|key| seen.insert(key.clone())).collect()
}

/// The caller's rule for one action, variables resolved.
struct Prepared {
    /// `None`: no rule applies.
    rule: Option<Arc<Rule>>,
    presets: Map<String, Value>,
    validation: Option<Value>,
    /// For the rules of fields; `None` when none of them names a variable.
    variables: Option<Variables>,
}

impl Prepared {
    async fn of(ctx: &Ctx<'_>, collection: &Collection, action: Action) -> Result<Self> {
        let rule = match ctx.policy.grant(&collection.name, action) {
            Grant::Denied => return Err(Error::forbidden()),
            Grant::Unrestricted => None,
            Grant::Ruled(rule) => Some(rule),
        };
        let dynamic = collection.fields.values().filter_map(|field| field.validation.as_ref()).any(names_variable);
        let variables = match &rule {
            Some(rule) if !rule.presets.is_empty() || rule.validation.is_some() => {
                Some(super::read::variables(ctx).await?)
            }
            _ if dynamic => Some(super::read::variables(ctx).await?),
            _ => None,
        };
        let (mut presets, mut validation) = (Map::new(), None);
        if let (Some(rule), Some(variables)) = (&rule, variables) {
            let resolved = rule.presets.iter().map(|(name, value)| (name.clone(), variables.substitute(value)));
            presets = resolved.collect();
            validation = rule.validation.as_ref().map(|rule| variables.substitute(rule));
        }
        Ok(Self { rule, presets, validation, variables: variables.filter(|_| dynamic).cloned() })
    }

    /// A field's rule with its variables resolved.
    fn resolved(&self, rule: &Value) -> Value {
        self.variables.as_ref().map_or_else(|| rule.clone(), |variables| variables.substitute(rule))
    }

    /// Refuses fields outside the rule; unknown fields are dropped where all are allowed.
    fn restrict(&self, collection: &Collection, row: &mut Map<String, Value>) -> Result<()> {
        if let Some(rule) = &self.rule
            && let FieldSet::Some(names) = &rule.fields
            && !row.keys().all(|name| names.contains(name))
        {
            return Err(Error::forbidden());
        }
        drop_unwritable(collection, row);
        special::drop_masks(collection, row);
        Ok(())
    }

    /// Puts the presets under the payload.
    fn complete(&self, collection: &Collection, row: &mut Map<String, Value>) {
        for (name, preset) in &self.presets {
            match row.get_mut(name) {
                Some(value) => merge_under(value, preset),
                None => {
                    row.insert(name.clone(), preset.clone());
                }
            }
        }
        drop_unwritable(collection, row);
        special::drop_masks(collection, row);
        system::complete(collection, row);
    }
}

/// Whether a text of a rule may be a variable.
fn names_variable(rule: &Value) -> bool {
    match rule {
        Value::String(text) => text.starts_with('$'),
        Value::Array(items) => items.iter().any(names_variable),
        Value::Object(members) => members.values().any(names_variable),
        _ => false,
    }
}

/// Fields the collection doesn't have, generated columns, and aliases that stand for nothing.
fn drop_unwritable(collection: &Collection, row: &mut Map<String, Value>) {
    row.retain(|name, _| match collection.field(name) {
        None => false,
        Some(field) => match &field.column {
            Some(column) => !column.generated,
            None => collection.link(name).is_some_and(|link| link.side == Side::OneToMany),
        },
    });
}

/// Fills what an object lacks; everything that is there stays.
fn merge_under(value: &mut Value, preset: &Value) {
    if let (Value::Object(members), Value::Object(presets)) = (value, preset) {
        for (name, preset) in presets {
            match members.get_mut(name) {
                Some(value) => merge_under(value, preset),
                None => {
                    members.insert(name.clone(), preset.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{distinct, merge_under};
    use crate::ident::Key;

    #[test]
    fn presets_lie_under_the_payload() {
        let mut value = json!({"a": 1, "b": {"c": [1]}, "n": null});
        merge_under(&mut value, &json!({"a": 2, "b": {"c": [2, 3], "d": 4}, "n": 5, "e": 6}));
        assert_eq!(value, json!({"a": 1, "b": {"c": [1], "d": 4}, "n": null, "e": 6}));
    }

    #[test]
    fn keys_keep_their_first_place() {
        let keys = [3, 1, 3, 2, 1].into_iter().map(Key::Int).collect();
        assert_eq!(distinct(keys), [3, 1, 2].into_iter().map(Key::Int).collect::<Vec<_>>());
    }
}
