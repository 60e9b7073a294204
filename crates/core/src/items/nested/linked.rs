//! Which children belong to which parents while lists are written. Lists of several parents count
//! one after the other: a child that one of them takes no longer belongs to the other.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::{
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    items::read,
    query::{
        Query,
        ast::{Filter, Limit, Operator, PathStep},
    },
    schema::{Collection, Relation},
};

#[derive(Debug, Default)]
pub(super) struct Linked {
    children: HashMap<Key, BTreeSet<Key>>,
    parents: HashMap<Key, Key>,
}

impl Linked {
    /// Reads the children of the parents whose list is replaced, and of the others the named children, whoever
    /// may see them: each change is checked.
    ///
    /// # Errors
    /// When they can't be read.
    pub async fn read(
        ctx: &Ctx<'_>,
        relation: &Relation,
        parents: &Collection,
        children: &Collection,
        keys: &[&Key],
        named: &[Key],
    ) -> Result<Self> {
        let mut linked = Self::default();
        for keys in keys.chunks(10_000) {
            linked.add(ctx, relation, parents, children, (Some(of_parents(relation, parents, keys)), None)).await?;
        }
        for keys in named.chunks(10_000) {
            linked.add(ctx, relation, parents, children, (None, Some(keys))).await?;
        }
        Ok(linked)
    }

    async fn add(
        &mut self,
        ctx: &Ctx<'_>,
        relation: &Relation,
        parents: &Collection,
        children: &Collection,
        (filter, keys): (Option<Filter>, Option<&[Key]>),
    ) -> Result<()> {
        let (parent, child) = (parents.primary_field(), children.primary_field());
        let fields = [&*child.name, &*relation.many_field].map(|name| vec![step(name)]);
        let query = Query { fields: Some(fields.to_vec()), filter, limit: Some(Limit::Unlimited), ..Query::default() };
        let page = read::read(&ctx.elevated(), &children.name, &query, keys).await?;
        let rows = match serde_json::from_str(page.data.get()).map_err(Error::internal)? {
            Value::Array(rows) => rows,
            row => vec![row],
        };
        for row in rows {
            let key = row.get(&*child.name).and_then(|key| Key::parse(child, key));
            let owner = row.get(&*relation.many_field).and_then(|key| Key::parse(parent, key));
            if let Some((key, owner)) = key.zip(owner) {
                self.link(key, owner);
            }
        }
        Ok(())
    }

    pub fn is_child(&self, key: &Key, parent: &Key) -> bool {
        self.parents.get(key) == Some(parent)
    }

    pub fn children(&self, parent: &Key) -> impl Iterator<Item = &Key> {
        self.children.get(parent).into_iter().flatten()
    }

    /// All children of all parents.
    pub fn all(&self) -> impl Iterator<Item = &Key> {
        self.parents.keys()
    }

    pub fn link(&mut self, key: Key, parent: Key) {
        self.unlink(&key);
        self.children.entry(parent.clone()).or_default().insert(key.clone());
        self.parents.insert(key, parent);
    }

    pub fn unlink(&mut self, key: &Key) {
        if let Some(children) = self.parents.remove(key).and_then(|parent| self.children.get_mut(&parent)) {
            children.remove(key);
        }
    }
}

/// The children of these parents.
pub(super) fn of_parents(relation: &Relation, parents: &Collection, keys: &[&Key]) -> Filter {
    let primary = parents.primary_field();
    let keys = keys.iter().map(|key| key.to_json(primary)).collect();
    Filter::Field { step: step(&relation.many_field), inner: Box::new(Filter::Is(Operator::In, Value::Array(keys))) }
}

pub(super) fn step(name: &str) -> PathStep {
    PathStep { name: name.to_owned(), scope: None, function: None }
}
