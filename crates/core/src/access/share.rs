//! What somebody with the link of a share may do (http-permissions §8): read what belongs to one
//! item, as far as the share's role may read it, and nothing else.
//!
//! From the item the relations are walked in both directions, as far as both ends are readable; each
//! collection is entered once, by the shortest way. A row belongs to the item when it lies at the end
//! of such a way.

use std::collections::{HashSet, VecDeque};

use serde_json::{Map, Value, json};

use super::{Action, app_access, rows::StoredRule};
use crate::{
    actor::ShareActor,
    schema::{Relation, Schema},
};

/// What everybody needs to know to show an item: read as by users of the app.
const DESCRIPTIONS: &[&str] =
    &["directus_collections", "directus_fields", "directus_permissions", "directus_relations"];

/// Ways one collection is reached by; more are not followed.
const MOST_WAYS: usize = 20;

/// The share's rules from the rows of its role. `depth` bounds the ways, in relations.
pub(super) fn narrow(rows: Vec<StoredRule>, schema: &Schema, share: &ShareActor, depth: usize) -> Vec<StoredRule> {
    let mut rows: Vec<StoredRule> = rows.into_iter().filter(|row| row.action == Action::Read).collect();
    let ways = ways(&rows, schema, share, depth);
    rows.retain(|row| ways.contains_key(&row.collection));
    for row in &mut rows {
        let Some(belongs) = ways.get(&row.collection) else { continue };
        row.permissions = Some(match row.permissions.take() {
            None | Some(Value::Null) => belongs.clone(),
            Some(own) => json!({ "_and": [own, belongs] }),
        });
    }
    // Without a right of the role on the item itself only its key is shown.
    if let Some(belongs) = ways.get(&*share.collection)
        && !rows.iter().any(|row| row.collection == *share.collection)
    {
        rows.push(StoredRule {
            collection: share.collection.to_string(),
            action: Action::Read,
            permissions: Some(belongs.clone()),
            validation: None,
            presets: None,
            fields: Vec::new(),
        });
    }
    let described = |row: &StoredRule| row.action == Action::Read && DESCRIPTIONS.contains(&row.collection.as_str());
    rows.retain(|row| !described(row));
    rows.extend(app_access::minimum().into_iter().filter(described));
    rows
}

/// One way from a relation's end to the other.
struct Step {
    collection: String,
    /// The field of the far collection that leads back.
    back: String,
}

/// By collection: the filter on the rows that belong to the item.
fn ways(rows: &[StoredRule], schema: &Schema, share: &ShareActor, depth: usize) -> Map<String, Value> {
    let Some(root) = schema.collection(&share.collection) else { return Map::new() };
    let readable = |collection: &str, field: &str| {
        let mut of_collection = rows.iter().filter(|row| row.collection == collection);
        of_collection.any(|row| row.fields.iter().any(|name| name == "*" || name == field))
    };
    let item = json!({ &*root.primary: { "_eq": &*share.item } });
    let mut found: indexmap::IndexMap<String, Vec<Value>> = indexmap::IndexMap::new();
    found.insert(root.name.to_string(), vec![item.clone()]);
    let mut entered = HashSet::from([root.name.to_string()]);
    let mut queue = VecDeque::from([(root.name.to_string(), item, vec![root.name.to_string()])]);
    while let Some((here, filter, path)) = queue.pop_front() {
        if path.len() > depth {
            continue;
        }
        // Rows that the role may not see lead nowhere.
        let filter = match own(rows, &here) {
            Some(own) => json!({ "_and": [own, filter] }),
            None => filter,
        };
        for step in schema.relations.iter().flat_map(|relation| steps(relation, &here, &readable)) {
            let known = rows.iter().any(|row| row.collection == step.collection);
            if !known || path.contains(&step.collection) {
                continue;
            }
            let belongs = json!({ step.back: &filter });
            let ways = found.entry(step.collection.clone()).or_default();
            if ways.len() < MOST_WAYS {
                ways.push(belongs.clone());
            }
            if entered.insert(step.collection.clone()) {
                let path = path.iter().cloned().chain([step.collection.clone()]).collect();
                queue.push_back((step.collection, belongs, path));
            }
        }
    }
    let filter = |mut ways: Vec<Value>| if ways.len() == 1 { ways.swap_remove(0) } else { json!({ "_or": ways }) };
    found.into_iter().map(|(collection, ways)| (collection, filter(ways))).collect()
}

/// The role's own row filter on a collection, if it has one.
fn own<'r>(rows: &'r [StoredRule], collection: &str) -> Option<&'r Value> {
    let rule = rows.iter().find(|row| row.collection == collection)?.permissions.as_ref()?;
    rule.as_object().is_none_or(|rule| !rule.is_empty()).then_some(rule)
}

/// Where a relation leads from a collection, by fields that are readable.
fn steps(relation: &Relation, here: &str, readable: &impl Fn(&str, &str) -> bool) -> Vec<Step> {
    let (many, field) = (&*relation.many_collection, &*relation.many_field);
    let touches = many == here || relation.one_collection.as_deref() == Some(here);
    if !touches || !readable(many, field) {
        return Vec::new();
    }
    let mut steps = Vec::new();
    let alias_shows = relation.one_field.as_deref().is_none_or(|alias| readable(here, alias));
    if relation.one_collection.as_deref() == Some(here) && alias_shows {
        steps.push(Step { collection: many.to_owned(), back: field.to_owned() });
    }
    if many == here {
        match (&relation.one_collection, &relation.one_collection_field) {
            (Some(one), _) => {
                steps.push(Step { collection: one.to_string(), back: format!("$FOLLOW({many},{field})") });
            }
            (None, Some(name)) if readable(many, name) => {
                let back = format!("$FOLLOW({many},{field},{name})");
                let allowed = relation.one_allowed_collections.iter();
                steps.extend(allowed.map(|one| Step { collection: one.to_string(), back: back.clone() }));
            }
            (None, _) => {}
        }
    }
    steps
}
