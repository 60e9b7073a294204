//! Lists of related rows on the side that has many: a full list, or `{create, update, delete}`.
//! Elements are rows of the collection that holds the key: for m2m, files, translations and m2a
//! those of the junction.

use std::{collections::HashSet, sync::Arc};

use serde_json::{Map, Value};

use super::{existing, object_key};
use crate::{
    access::Action,
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    items::{
        create::create_rows,
        delete::delete_rows,
        read, read_keys,
        update::{Edit, update_rows},
    },
    payload::special::is_falsy,
    query::{
        Query,
        ast::{Filter, Limit, Operator, PathStep, SortKey},
    },
    schema::{Collection, Deselect, Relation, Side},
};

/// A list that was part of a payload.
#[derive(Debug)]
pub(in crate::items) struct List {
    field: String,
    relation: Arc<Relation>,
    value: Value,
}

/// Whether rows can be linked to the parent already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::items) enum Parent {
    New,
    Existing,
}

/// Takes the lists out of a payload: they are written after the row itself.
pub(in crate::items) fn take_lists(collection: &Collection, row: &mut Map<String, Value>) -> Vec<List> {
    let names: Vec<String> = row
        .keys()
        .filter(|name| collection.link(name).is_some_and(|link| link.side == Side::OneToMany))
        .cloned()
        .collect();
    let take = |name: String| {
        let relation = Arc::clone(&collection.link(&name)?.relation);
        Some(List { value: row.shift_remove(&name)?, field: name, relation })
    };
    names.into_iter().filter_map(take).collect()
}

/// One parent and the collection of its children.
struct Family<'a> {
    ctx: &'a Ctx<'a>,
    field: &'a str,
    relation: &'a Relation,
    parents: Arc<Collection>,
    children: Arc<Collection>,
    parent: &'a Key,
    /// Children of this parent before the write.
    linked: HashSet<Key>,
}

impl List {
    /// Writes the list of one parent.
    ///
    /// # Errors
    /// `INVALID_PAYLOAD` for a malformed list, `FORBIDDEN` for keys that don't exist, and those of
    /// the writes.
    pub async fn write(&self, ctx: &Ctx<'_>, parent: &Key, state: Parent, revisions: &mut Vec<Key>) -> Result<()> {
        let one = self.relation.one_collection.as_deref().unwrap_or_default();
        let mut family = Family {
            ctx,
            field: &self.field,
            relation: &self.relation,
            parents: crate::items::collection(ctx, one)?,
            children: crate::items::collection(ctx, &self.relation.many_collection)?,
            parent,
            linked: HashSet::new(),
        };
        if state == Parent::Existing {
            family.linked = family.find_linked().await?;
        }
        match &self.value {
            Value::Array(items) => family.replace(items, revisions).await,
            Value::Object(parts) => family.change(parts, revisions).await,
            value if is_falsy(value) => family.replace(&[], revisions).await,
            _ => Err(family.malformed()),
        }
    }
}

impl Family<'_> {
    fn malformed(&self) -> Error {
        Error::invalid_payload(format!("\"{}\" takes a list, or \"create\", \"update\" and \"delete\".", self.field))
    }

    fn parent_json(&self) -> Value {
        self.parent.to_json(self.parents.primary_field())
    }

    fn of_parent(&self) -> Filter {
        let step = PathStep { name: self.relation.many_field.to_string(), scope: None, function: None };
        Filter::Field { step, inner: Box::new(Filter::Is(Operator::Eq, self.parent_json())) }
    }

    async fn find_linked(&self) -> Result<HashSet<Key>> {
        let query = Query { filter: Some(self.of_parent()), limit: Some(Limit::Unlimited), ..Query::default() };
        let keys = read_keys(&self.ctx.elevated(), &self.children.name, Action::Read, &query).await?;
        Ok(keys.into_iter().collect())
    }

    /// The full list: what is not named is deselected first, so that it can't stand in the way of
    /// what is new.
    async fn replace(&self, items: &[Value], revisions: &mut Vec<Key>) -> Result<()> {
        let mut links = Vec::new();
        let mut objects = Vec::new();
        for item in items {
            match item {
                Value::String(_) | Value::Number(_) => {
                    links.push(Key::parse(self.children.primary_field(), item).ok_or_else(Error::forbidden)?);
                }
                Value::Object(object) => objects.push((object_key(&self.children, object)?, object.clone())),
                _ => return Err(self.malformed()),
            }
        }
        let named: Vec<Key> = links.iter().cloned().chain(objects.iter().filter_map(|(key, _)| key.clone())).collect();
        let unlinked: Vec<Key> = named.iter().filter(|key| !self.linked.contains(key)).cloned().collect();
        let mut known: HashSet<Key> = existing(self.ctx, &self.children, &unlinked).await?.into_iter().collect();
        known.extend(self.linked.iter().cloned());
        if !links.iter().all(|key| known.contains(key)) {
            return Err(Error::forbidden());
        }
        let named: HashSet<Key> = named.into_iter().collect();
        let mut gone: Vec<Key> = self.linked.iter().filter(|key| !named.contains(key)).cloned().collect();
        gone.sort();
        self.deselect(gone, revisions).await?;

        let links: Vec<Key> = links.into_iter().filter(|key| !self.linked.contains(key)).collect();
        let mut edits: Vec<Edit> = Vec::new();
        if !links.is_empty() {
            edits.push((links, Map::from_iter([(self.relation.many_field.to_string(), self.parent_json())])));
        }
        let mut rows = Vec::new();
        for (key, object) in objects {
            match key.filter(|key| known.contains(key)) {
                Some(key) => edits.extend(self.edit(key, object)?),
                None => rows.push(self.claim(object)?),
            }
        }
        self.write(edits, rows, revisions).await
    }

    /// `{create, update, delete}`.
    async fn change(&self, parts: &Map<String, Value>, revisions: &mut Vec<Key>) -> Result<()> {
        if parts.keys().any(|name| !matches!(name.as_str(), "create" | "update" | "delete")) {
            return Err(self.malformed());
        }
        let part = |name: &str| match parts.get(name) {
            None | Some(Value::Null) => Ok(&[][..]),
            Some(Value::Array(items)) => Ok(items.as_slice()),
            Some(_) => Err(self.malformed()),
        };
        let object = |item: &Value| item.as_object().cloned().ok_or_else(|| self.malformed());
        let primary = self.children.primary_field();

        let mut gone = Vec::new();
        for item in part("delete")? {
            let key = Key::parse(primary, item).ok_or_else(Error::forbidden)?;
            // Only children of this parent: those of others are not its to give away.
            if self.linked.contains(&key) {
                gone.push(key);
            }
        }
        let mut edits = Vec::new();
        for item in part("update")? {
            let object = object(item)?;
            let key = object_key(&self.children, &object)?.ok_or_else(|| {
                Error::invalid_payload(format!("\"update\" of \"{}\" needs \"{}\".", self.field, primary.name))
            })?;
            edits.extend(self.edit(key, object)?);
        }
        let mut rows = Vec::new();
        for item in part("create")? {
            rows.push(self.claim(object(item)?)?);
        }
        self.number(&mut rows).await?;
        self.deselect(gone, revisions).await?;
        self.write(edits, rows, revisions).await
    }

    /// A new row of this parent.
    fn claim(&self, mut object: Map<String, Value>) -> Result<Map<String, Value>> {
        self.agree(&object)?;
        object.insert(self.relation.many_field.to_string(), self.parent_json());
        Ok(object)
    }

    /// A change of an existing row; `None` when nothing changes.
    fn edit(&self, key: Key, mut object: Map<String, Value>) -> Result<Option<Edit>> {
        self.agree(&object)?;
        object.shift_remove(&*self.children.primary);
        let field = &*self.relation.many_field;
        if self.linked.contains(&key) {
            object.shift_remove(field);
        } else {
            object.insert(field.to_owned(), self.parent_json());
        }
        Ok((!object.is_empty()).then(|| (vec![key], object)))
    }

    /// Refuses a child that says it belongs to another parent.
    fn agree(&self, object: &Map<String, Value>) -> Result<()> {
        let primary = self.parents.primary_field();
        let agrees = match object.get(&*self.relation.many_field) {
            None | Some(Value::Null) => true,
            Some(Value::Object(parent)) => {
                parent.get(&*primary.name).is_some_and(|key| Key::parse(primary, key).as_ref() == Some(self.parent))
            }
            Some(value) => Key::parse(primary, value).as_ref() == Some(self.parent),
        };
        if agrees {
            return Ok(());
        }
        let field = &self.relation.many_field;
        Err(Error::invalid_payload(format!("\"{field}\" contradicts the item that \"{}\" belongs to.", self.field)))
    }

    /// Numbers new rows behind the others where the relation is sorted.
    async fn number(&self, rows: &mut [Map<String, Value>]) -> Result<()> {
        let Some(field) = &self.relation.sort_field else { return Ok(()) };
        let lacks = |row: &Map<String, Value>| row.get(&**field).is_none_or(Value::is_null);
        if self.children.field(field).is_none() || !rows.iter().any(lacks) {
            return Ok(());
        }
        let path = || vec![PathStep { name: field.to_string(), scope: None, function: None }];
        let nonnull =
            Filter::Field { step: path().swap_remove(0), inner: Box::new(Filter::Is(Operator::Nnull, true.into())) };
        let query = Query {
            fields: Some(vec![path()]),
            filter: Some(Filter::All(vec![self.of_parent(), nonnull])),
            sort: Some(vec![SortKey { path: path(), descending: true }]),
            limit: Some(Limit::Rows(1)),
            ..Query::default()
        };
        let page = read::read(&self.ctx.elevated(), &self.children.name, &query, None).await?;
        let last: Value = serde_json::from_str(page.data.get()).map_err(Error::internal)?;
        let last = last.get(0).and_then(|row| row.get(&**field)).map(|value| match value {
            Value::String(text) => text.parse().unwrap_or(0),
            value => value.as_i64().unwrap_or(0),
        });
        let mut last = last.unwrap_or(0_i64);
        for row in rows.iter_mut().filter(|row| lacks(row)) {
            last = last.saturating_add(1);
            row.insert(field.to_string(), last.into());
        }
        Ok(())
    }

    async fn deselect(&self, keys: Vec<Key>, revisions: &mut Vec<Key>) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        match self.relation.deselect {
            Deselect::Delete => Box::pin(delete_rows(self.ctx, &self.children, keys)).await,
            Deselect::Nullify => {
                let unlinked = Map::from_iter([(self.relation.many_field.to_string(), Value::Null)]);
                let mut written = update_rows(self.ctx, &self.children, vec![(keys, unlinked)]).await?;
                revisions.append(&mut written.revisions);
                Ok(())
            }
        }
    }

    async fn write(&self, edits: Vec<Edit>, rows: Vec<Map<String, Value>>, revisions: &mut Vec<Key>) -> Result<()> {
        if !edits.is_empty() {
            let mut written = update_rows(self.ctx, &self.children, edits).await?;
            revisions.append(&mut written.revisions);
        }
        if !rows.is_empty() {
            let mut written = create_rows(self.ctx, &self.children, rows).await?;
            revisions.append(&mut written.revisions);
        }
        Ok(())
    }
}
