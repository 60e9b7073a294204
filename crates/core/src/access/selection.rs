//! `fields`: wildcards expanded, aliases followed, relations turned into levels, rights checked.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::{
    condition::Author,
    resolved::{Condition, FieldRef, Hop, Level, Output, OutputValue, Scalar, Shape},
    resolver::{Resolver, View},
};
use crate::{
    error::{Error, Result},
    query::{
        Query,
        ast::{Function, Limit, PathStep},
        functions::{shorten, split_call},
    },
    schema::{Collection, Side, Special},
};

/// Levels and fields one query may come to; wildcards over wide schemas multiply.
const MOST_OUTPUTS: usize = 20_000;

/// Fields of one item; PostgreSQL's statements stop at 1,664 columns.
pub(super) const MOST_OUTPUTS_OF_LEVEL: usize = 1_500;

/// What is asked of one member, gathered from all paths that begin with it.
struct Wish<'q> {
    field: FieldRef,
    function: Option<Function>,
    /// Rests of the paths below a relation, with the scope of the step (many-to-any).
    below: IndexSet<(Option<&'q str>, &'q [PathStep])>,
}

/// The members of one level while they are gathered.
#[derive(Default)]
struct Wishes<'q> {
    members: IndexMap<String, Wish<'q>>,
    /// A relation that may not be followed was left out.
    dropped: bool,
}

const STAR: &[PathStep] = &[];

impl Resolver<'_> {
    /// Resolves what is wanted of each row. `paths` are the rests of the query's paths at this level.
    pub(super) fn selection(
        &self,
        collection: &Arc<Collection>,
        paths: &[&[PathStep]],
        query: &Query,
        budget: &mut usize,
    ) -> Result<Shape> {
        let view = self.view(collection)?;
        let mut wishes = Wishes::default();
        for path in paths {
            self.gather(collection, &view, path, query, &mut wishes)?;
        }
        if wishes.members.is_empty() {
            self.check_levels(collection, &view, query, &[])?;
            let unreadable = collection.fields.keys().all(|field| !view.shows(field));
            return Ok(if wishes.dropped || unreadable { Shape::Keys } else { Shape::Items(Vec::new()) });
        }
        if wishes.members.len() > MOST_OUTPUTS_OF_LEVEL {
            return Err(Error::invalid_query(format!("More than {MOST_OUTPUTS_OF_LEVEL} fields of one item.")));
        }
        let mut outputs = Vec::with_capacity(wishes.members.len());
        for (name, wish) in wishes.members {
            *budget = budget
                .checked_sub(1)
                .ok_or_else(|| Error::invalid_query(format!("\"fields\" comes to more than {MOST_OUTPUTS} fields.")))?;
            if let Some(value) = self.output(collection, &name, &wish, query, budget)? {
                outputs.push(Output { name, value });
            } else {
                wishes.dropped = true;
            }
        }
        self.check_levels(collection, &view, query, &outputs)?;
        Ok(if outputs.is_empty() { Shape::Keys } else { Shape::Items(outputs) })
    }

    /// Checks the levels of `deep` that the outputs did not.
    fn check_levels(&self, collection: &Arc<Collection>, view: &View, query: &Query, outputs: &[Output]) -> Result<()> {
        let is_resolved = |name: &str| {
            let member = name.split_once(':').map_or(name, |(member, _)| member);
            let whole = |level: &Level| !matches!(level.shape, Shape::Keys);
            outputs.iter().filter(|output| output.name == member).any(|output| match &output.value {
                OutputValue::One { level, .. } | OutputValue::Many { level, .. } => whole(level),
                OutputValue::Any { levels, .. } => levels.iter().all(whole),
                OutputValue::Scalar(_) => false,
            })
        };
        let mut unresolved = query.deep.iter().filter(|(name, _)| !is_resolved(name));
        unresolved.try_for_each(|(name, nested)| self.check_deep(collection, view, name, query, nested))
    }

    /// A level of `deep` whose rows are not asked for has no effect, but what it names is checked all the
    /// same. It is ignored where it leads nowhere that the caller may follow.
    fn check_deep(
        &self,
        collection: &Arc<Collection>,
        view: &View,
        name: &str,
        query: &Query,
        nested: &Query,
    ) -> Result<()> {
        let (name, scope) = name.split_once(':').map_or((name, None), |(name, scope)| (name, Some(scope)));
        let (function, target) = match query.alias.get(name) {
            Some(target) => split_call(target)?,
            None => (None, name),
        };
        if function.is_some() || !view.shows(target) {
            return Ok(());
        }
        let Some(field) = FieldRef::new(collection, target).filter(|_| collection.link(target).is_some()) else {
            return Ok(());
        };
        let Ok(hop) = self.hop(collection, &field, scope) else { return Ok(()) };
        let related = hop.target();
        if !self.can_read(&related.name) {
            return Ok(());
        }
        self.level(related, Shape::Keys, nested, Vec::new())?;
        let view = self.view(related)?;
        nested.deep.iter().try_for_each(|(name, below)| self.check_deep(related, &view, name, nested, below))
    }

    /// A fresh budget for one query.
    pub(super) fn output_budget() -> usize {
        MOST_OUTPUTS
    }

    fn gather<'q>(
        &self,
        collection: &Arc<Collection>,
        view: &View,
        path: &'q [PathStep],
        query: &'q Query,
        wishes: &mut Wishes<'q>,
    ) -> Result<()> {
        let Some((step, rest)) = path.split_first() else {
            return self.wildcard(collection, view, STAR, query, wishes);
        };
        if step.name == "*" {
            return self.wildcard(collection, view, rest, query, wishes);
        }
        let (function, target) = match (step.function, query.alias.get(&step.name)) {
            (None, Some(target)) => split_call(target)?,
            (function, _) => (function, step.name.as_str()),
        };
        let Some(field) = FieldRef::new(collection, target) else {
            return if view.ignores_unknown() { Ok(()) } else { Err(Error::forbidden()) };
        };
        let link = collection.link(target);
        let follows = !rest.is_empty() && link.is_some();
        if !view.shows(target) {
            // A list of items leads to another collection, with or without a path behind it. A function
            // only names the field.
            if function.is_none() && (follows || link.is_some_and(|link| link.side == Side::OneToMany)) {
                wishes.dropped = true;
                return Ok(());
            }
            if target == &*collection.primary && !view.ignores_unknown() && matches!(view, View::KeysOnly) {
                return Ok(());
            }
            return Err(Error::forbidden());
        }
        if !rest.is_empty() && !follows {
            return Ok(());
        }
        if field.field().special.has(Special::NoData) {
            return Ok(());
        }
        let name = match (function, step.function) {
            // An alias of a function keeps the alias' name.
            (Some(function), Some(_)) => format!("{}_{}", step.name, function.name()),
            _ => step.name.clone(),
        };
        wishes.add(name, field, function, follows.then_some((step.scope.as_deref(), rest)));
        Ok(())
    }

    fn wildcard<'q>(
        &self,
        collection: &Arc<Collection>,
        view: &View,
        rest: &'q [PathStep],
        query: &'q Query,
        wishes: &mut Wishes<'q>,
    ) -> Result<()> {
        for (name, field) in &collection.fields {
            let relational = collection.link(name).is_some();
            let empty_alias = field.column.is_none() && (!relational || field.meta.is_none());
            if !view.shows(name) || field.special.has(Special::NoData) || empty_alias {
                continue;
            }
            let Some(reference) = FieldRef::new(collection, name) else { continue };
            let below = (relational && !rest.is_empty()).then_some((None, rest));
            wishes.add(name.to_string(), reference, None, below);
        }
        for (alias, target) in &query.alias {
            let (function, target) = split_call(target)?;
            let Some(reference) = FieldRef::new(collection, target) else { continue };
            if view.shows(target) {
                let below = (collection.link(target).is_some() && !rest.is_empty()).then_some((None, rest));
                wishes.add(alias.clone(), reference, function, below);
            }
        }
        Ok(())
    }

    fn output(
        &self,
        collection: &Arc<Collection>,
        name: &str,
        wish: &Wish<'_>,
        query: &Query,
        budget: &mut usize,
    ) -> Result<Option<OutputValue>> {
        if let Some(function) = wish.function {
            return Ok(Some(OutputValue::Scalar(self.function(&wish.field, function, Author::Caller)?)));
        }
        let field = &wish.field.field().name;
        let Some(link) = collection.link(field) else {
            return Ok(wish
                .field
                .field()
                .column
                .is_some()
                .then(|| OutputValue::Scalar(Scalar::Column(wish.field.clone()))));
        };
        if wish.below.is_empty() && link.side != Side::OneToMany {
            return Ok(Some(OutputValue::Scalar(Scalar::Column(wish.field.clone()))));
        }
        if name != &**field {
            // Each alias of a relation is a level of its own for the database.
            self.take_hop()?;
        }
        let nested = Query::default();
        // An alias has a level of its own, so that one relation can be read twice, each in its way.
        let nested = query.deep.get(name).map_or(&nested, |deep| deep);
        match link.side {
            Side::ManyToOne => match self.hop(collection, &wish.field, None)? {
                Hop::One { field, target } if self.can_read(&target.name) => {
                    let paths: Vec<&[PathStep]> = wish.below.iter().map(|(_, rest)| *rest).collect();
                    let level = self.nested_level(&target, &paths, nested, Vec::new(), budget)?;
                    Ok(Some(OutputValue::One { field, level: Box::new(level) }))
                }
                _ => Ok(None),
            },
            Side::OneToMany => match self.hop(collection, &wish.field, None)? {
                Hop::Many { key, child_field } if self.can_read(&child_field.collection().name) => {
                    let child = Arc::clone(child_field.collection());
                    let order = match &link.relation.sort_field {
                        Some(sort) => {
                            FieldRef::new(&child, sort).map(|field| self.ascending(field)).into_iter().collect()
                        }
                        None => Vec::new(),
                    };
                    let paths: Vec<&[PathStep]> = wish.below.iter().map(|(_, rest)| *rest).collect();
                    let level = if paths.is_empty() {
                        self.level(&child, Shape::Keys, nested, order)?
                    } else {
                        self.nested_level(&child, &paths, nested, order, budget)?
                    };
                    Ok(Some(OutputValue::Many { key, child_field, level: Box::new(level) }))
                }
                _ => Ok(None),
            },
            Side::ManyToAny => self.any_output(collection, wish, query, name, budget),
        }
    }

    fn any_output(
        &self,
        collection: &Arc<Collection>,
        wish: &Wish<'_>,
        query: &Query,
        name: &str,
        budget: &mut usize,
    ) -> Result<Option<OutputValue>> {
        let Some(link) = collection.link(&wish.field.field().name) else { return Ok(None) };
        let Some(discriminator) =
            link.relation.one_collection_field.as_deref().and_then(|field| FieldRef::new(collection, field))
        else {
            return Ok(None);
        };
        let mut levels = Vec::new();
        for allowed in &link.relation.one_allowed_collections {
            let Some(target) = self.schema.collection(allowed).filter(|target| self.can_read(&target.name)) else {
                continue;
            };
            let paths: Vec<&[PathStep]> = wish
                .below
                .iter()
                .filter(|(scope, _)| scope.is_none_or(|scope| scope == &**allowed))
                .map(|(_, rest)| *rest)
                .collect();
            let key = format!("{name}:{allowed}");
            let nested = Query::default();
            let nested = query.deep.get(&key).or_else(|| query.deep.get(name)).map_or(&nested, |deep| deep);
            levels.push(if paths.is_empty() {
                self.level(target, Shape::Keys, nested, Vec::new())?
            } else {
                self.nested_level(target, &paths, nested, Vec::new(), budget)?
            });
        }
        if levels.is_empty() {
            return Ok(None);
        }
        Ok(Some(OutputValue::Any { field: wish.field.clone(), discriminator, levels }))
    }

    fn nested_level(
        &self,
        target: &Arc<Collection>,
        paths: &[&[PathStep]],
        query: &Query,
        order: Vec<super::resolved::Order>,
        budget: &mut usize,
    ) -> Result<Level> {
        let shape = self.selection(target, paths, query, budget)?;
        self.level(target, shape, query, order)
    }

    /// A level of items with the query's filter, search, order and bounds.
    pub(super) fn level(
        &self,
        collection: &Arc<Collection>,
        shape: Shape,
        query: &Query,
        default_order: Vec<super::resolved::Order>,
    ) -> Result<Level> {
        let visible = self.visible(collection)?;
        self.check_aliases(collection, query)?;
        let mut wanted = match &query.filter {
            Some(filter) => self.filter(collection, filter, Author::Caller)?,
            None => Condition::Always,
        };
        if let Some(term) = &query.search {
            wanted = wanted.and(self.search(collection, term)?);
        }
        let limit = query.limit.unwrap_or(self.limits.default_limit);
        let offset = match (query.page, limit) {
            (Some(page), Limit::Rows(rows)) if page > 0 => rows.saturating_mul(page - 1),
            _ => query.offset.unwrap_or(0),
        };
        if offset > i64::MAX as u64 {
            return Err(Error::invalid_query("\"offset\" or \"page\" is too large."));
        }
        let sort = self.order(collection, query.sort.as_deref(), default_order)?;
        Ok(Level { collection: Arc::clone(collection), visible, wanted, sort, limit, offset, shape })
    }

    /// Refuses aliases of fields that may not be read, whether or not they are asked for. Relations
    /// that may not be followed are left out where they are asked for, as under their own name.
    fn check_aliases(&self, collection: &Arc<Collection>, query: &Query) -> Result<()> {
        for target in query.alias.values() {
            let (_, target) = split_call(target)?;
            if collection.link(target).is_none()
                && (collection.field(target).is_some() || self.is_restricted(collection)?)
            {
                self.check_field(collection, target)?;
            }
        }
        Ok(())
    }

    /// Refuses with a message that names the unknown field, for those who may know.
    pub(super) fn unknown_field(&self, collection: &Collection, name: &str) -> Error {
        Error::invalid_query(format!("\"{}\" is not a field of \"{}\".", shorten(name), collection.name))
    }
}

impl<'q> Wishes<'q> {
    fn add(
        &mut self,
        name: String,
        field: FieldRef,
        function: Option<Function>,
        below: Option<(Option<&'q str>, &'q [PathStep])>,
    ) {
        let wish = self.members.entry(name).or_insert_with(|| Wish { field, function, below: IndexSet::new() });
        wish.below.extend(below);
    }
}
