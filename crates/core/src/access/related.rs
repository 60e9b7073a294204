//! Filters on related rows: the ways that relations lead, and what is asked of the rows at their end.
//! Conditions on one list that stand together speak of the same row.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Action, Grant,
    condition::Author,
    operators::Subject,
    resolved::{Condition, FieldRef, Hop, Scalar, Test},
    resolver::Resolver,
};
use crate::{
    error::{Error, Result},
    query::{
        ast::{Filter, Operator},
        follow::Follow,
        functions::shorten,
    },
    schema::{Collection, Relation, Side},
};

impl Resolver<'_> {
    /// The way a relational field leads.
    pub(super) fn hop(&self, collection: &Arc<Collection>, field: &FieldRef, scope: Option<&str>) -> Result<Hop> {
        let name = &field.field().name;
        let broken = || Error::invalid_query(format!("\"{name}\" leads nowhere."));
        let link = collection.link(name).ok_or_else(broken)?;
        let relation = &link.relation;
        match link.side {
            Side::ManyToOne => {
                let target = relation
                    .one_collection
                    .as_deref()
                    .and_then(|one| self.schema.collection(one))
                    .ok_or_else(broken)?;
                Ok(Hop::One { field: field.clone(), target: Arc::clone(target) })
            }
            Side::OneToMany => {
                let child = self.schema.collection(&relation.many_collection).ok_or_else(broken)?;
                let child_field = FieldRef::new(child, &relation.many_field).ok_or_else(broken)?;
                let key = FieldRef::new(collection, &collection.primary).ok_or_else(broken)?;
                Ok(Hop::Many { key, child_field })
            }
            Side::ManyToAny => {
                let scope = scope.ok_or_else(|| {
                    Error::invalid_query(format!("\"{name}\" needs a collection: \"{name}:collection\"."))
                })?;
                if !relation.one_allowed_collections.iter().any(|allowed| &**allowed == scope) {
                    if !self.policy.is_unrestricted() {
                        // As for a collection that may not be read: what there is, is not told.
                        return Err(Error::forbidden());
                    }
                    return Err(Error::invalid_query(format!(
                        "\"{}\" is no collection of \"{name}\".",
                        shorten(scope)
                    )));
                }
                let target = self.schema.collection(scope).ok_or_else(broken)?;
                let discriminator = relation
                    .one_collection_field
                    .as_deref()
                    .and_then(|discriminator| FieldRef::new(collection, discriminator))
                    .ok_or_else(broken)?;
                Ok(Hop::Any { field: field.clone(), discriminator, target: Arc::clone(target) })
            }
        }
    }

    /// A filter on a relational field. Conditions on the related rows that stand together must hold
    /// for the same row; operators directly on the field test its key.
    pub(super) fn link_filter(
        &self,
        collection: &Arc<Collection>,
        field: &FieldRef,
        scope: Option<&str>,
        inner: &Filter,
        author: Author,
    ) -> Result<Condition> {
        if self.is_to_many(collection, field) {
            return self.list_filter(&self.hop(collection, field, scope)?, inner, author);
        }
        match inner {
            Filter::All(_) => {
                let (on_rows, on_field) = together(inner);
                let mut conditions = Vec::with_capacity(on_field.len() + 1);
                if !on_rows.is_empty() {
                    let rows = Filter::All(on_rows.into_iter().cloned().collect());
                    conditions.push(self.related(collection, field, scope, &rows, author)?);
                }
                for branch in on_field {
                    conditions.push(self.link_filter(collection, field, scope, branch, author)?);
                }
                Ok(Condition::all(conditions))
            }
            Filter::Any(branches) => Ok(Condition::any(
                branches
                    .iter()
                    .map(|branch| self.link_filter(collection, field, scope, branch, author))
                    .collect::<Result<_>>()?,
            )),
            Filter::Field { .. } => self.related(collection, field, scope, inner, author),
            Filter::Some(_) | Filter::None(_) => {
                Err(Error::invalid_query(format!("\"{}\" is no list of items.", field.field().name)))
            }
            Filter::Nothing => Ok(Condition::Never),
            Filter::Is(..) | Filter::UnknownOperator(_) => {
                let subject = Subject::of(field.field());
                self.value_filter(&Scalar::Column(field.clone()), subject, Some(field), inner, author)
            }
        }
    }

    fn is_to_many(&self, collection: &Collection, field: &FieldRef) -> bool {
        collection.link(&field.field().name).is_some_and(|link| link.side == Side::OneToMany)
    }

    fn related(
        &self,
        collection: &Arc<Collection>,
        field: &FieldRef,
        scope: Option<&str>,
        rows: &Filter,
        author: Author,
    ) -> Result<Condition> {
        let hop = self.hop(collection, field, scope)?;
        if author == Author::Caller
            && let Hop::Any { discriminator, .. } = &hop
        {
            self.check_field(collection, &discriminator.field().name)?;
        }
        self.rows_at(&hop, rows, author, true)
    }

    /// Some (or no) visible row at the end of a way matches.
    fn rows_at(&self, hop: &Hop, rows: &Filter, author: Author, exists: bool) -> Result<Condition> {
        let visible = if author == Author::Caller {
            self.take_hop()?;
            self.visible_or_refuse(hop.target())?
        } else {
            Condition::Always
        };
        let wanted = self.filter(hop.target(), rows, author)?;
        let without_row = match hop {
            Hop::One { field, .. } if exists && holds_without_row(&wanted) => Some(field),
            _ => None,
        };
        let hop = hop.clone();
        let related = match visible.and(wanted) {
            Condition::Never if exists => Condition::Never,
            Condition::Never => Condition::Always,
            condition => Condition::Related { hop, condition: Box::new(condition), exists },
        };
        if let Some(field) = without_row.cloned() {
            // Fields of a row that is not there are null, as in an outer join. A hidden row is there.
            let unset = Condition::Test(Scalar::Column(field), Test::Null(true));
            return Ok(Condition::any(vec![related, unset]));
        }
        Ok(related)
    }

    /// The way of a `$FOLLOW` step.
    pub(super) fn against(&self, collection: &Arc<Collection>, follow: &Follow<'_>, author: Author) -> Result<Hop> {
        let nowhere = || Error::invalid_query("\"$FOLLOW\" names no relation to this collection.");
        let unknown = || if self.policy.is_unrestricted() { nowhere() } else { Error::forbidden() };
        let child = self.schema.collection(follow.collection).ok_or_else(unknown)?;
        if author == Author::Caller {
            for name in std::iter::once(follow.field).chain(follow.discriminator) {
                self.check_field(child, name)?;
            }
        }
        let is_this = |relation: &&Arc<Relation>| {
            &*relation.many_collection == follow.collection
                && &*relation.many_field == follow.field
                && match follow.discriminator {
                    None => relation.one_collection.as_ref() == Some(&collection.name),
                    Some(name) => {
                        relation.one_collection.is_none()
                            && relation.one_collection_field.as_deref() == Some(name)
                            && relation.one_allowed_collections.contains(&collection.name)
                    }
                }
        };
        self.schema.relations.iter().find(is_this).ok_or_else(nowhere)?;
        let child_field = FieldRef::new(child, follow.field).ok_or_else(nowhere)?;
        let key = FieldRef::new(collection, &collection.primary).ok_or_else(nowhere)?;
        match follow.discriminator {
            None => Ok(Hop::Many { key, child_field }),
            Some(name) => {
                let discriminator = FieldRef::new(child, name).ok_or_else(nowhere)?;
                Ok(Hop::ManyAny { key, child_field, discriminator })
            }
        }
    }

    /// A filter on the rows of a list: as on a to-many field.
    pub(super) fn list_filter(&self, hop: &Hop, inner: &Filter, author: Author) -> Result<Condition> {
        let each = |branches: &[&Filter]| -> Result<Vec<Condition>> {
            branches.iter().map(|branch| self.list_filter(hop, branch, author)).collect()
        };
        match inner {
            Filter::All(_) => {
                let (on_rows, on_keys) = together(inner);
                let mut conditions = each(&on_keys)?;
                if !on_rows.is_empty() {
                    let rows = Filter::All(on_rows.into_iter().cloned().collect());
                    conditions.push(self.rows_at(hop, &rows, author, true)?);
                }
                Ok(Condition::all(conditions))
            }
            Filter::Any(branches) => Ok(Condition::any(each(&branches.iter().collect::<Vec<_>>())?)),
            Filter::Field { .. } => self.rows_at(hop, inner, author, true),
            Filter::Some(rows) => self.rows_at(hop, rows, author, true),
            Filter::None(rows) => self.rows_at(hop, rows, author, false),
            Filter::Nothing => Ok(Condition::Never),
            Filter::Is(..) | Filter::UnknownOperator(_) => self.key_filter(hop, inner, author),
        }
    }

    /// Operators on a to-many alias test the related keys; "null" means "has none".
    fn key_filter(&self, hop: &Hop, inner: &Filter, author: Author) -> Result<Condition> {
        let hop = hop.clone();
        let target = Arc::clone(hop.target());
        if author == Author::Caller {
            self.take_hop()?;
        }
        let visible = if author == Author::Caller { self.visible_or_refuse(&target)? } else { Condition::Always };
        let has_none = match inner {
            Filter::Is(Operator::Null | Operator::Empty, value) => Some(*value != Value::Bool(false)),
            Filter::Is(Operator::Nnull | Operator::Nempty, value) => Some(*value == Value::Bool(false)),
            Filter::Is(Operator::Neq, Value::Null) => Some(false),
            _ => None,
        };
        if let Some(none) = has_none {
            return Ok(Condition::Related { hop, condition: Box::new(visible), exists: !none });
        }
        let primary = self.named(&target, &target.primary, Author::Rule)?;
        let subject = Subject::of(primary.field());
        let test = self.value_filter(&Scalar::Column(primary.clone()), subject, Some(&primary), inner, author)?;
        Ok(Condition::Related { hop, condition: Box::new(visible.and(test)), exists: true })
    }

    /// The caller's row filter on a collection that a filter or sort goes through.
    pub(super) fn visible_or_refuse(&self, collection: &Arc<Collection>) -> Result<Condition> {
        match self.policy.grant(&collection.name, Action::Read) {
            Grant::Denied => Err(Error::forbidden()),
            Grant::Unrestricted => Ok(Condition::Always),
            Grant::Ruled(rule) => Ok(self.rule_rows(collection, &rule)),
        }
    }
}

/// Whether a condition on a related row holds when there is no such row.
fn holds_without_row(condition: &Condition) -> bool {
    match condition {
        Condition::Always => true,
        Condition::Never => false,
        Condition::All(branches) => branches.iter().all(holds_without_row),
        Condition::Any(branches) => branches.iter().any(holds_without_row),
        Condition::Test(_, test) => matches!(test, Test::Null(true) | Test::Empty(true)),
        Condition::Related { exists, .. } => !exists,
    }
}

/// The conditions that stand together: those on the related rows, and those on the field itself.
fn together(filter: &Filter) -> (Vec<&Filter>, Vec<&Filter>) {
    let mut branches = Vec::new();
    flatten(filter, &mut branches);
    branches.into_iter().partition(|branch| leads_on(branch))
}

/// The conditions that stand together in a filter, however deep; those that always hold left out.
fn flatten<'f>(filter: &'f Filter, out: &mut Vec<&'f Filter>) {
    match filter {
        Filter::All(branches) => branches.iter().for_each(|branch| flatten(branch, out)),
        Filter::Any(_) if always_holds(filter) => {}
        other => out.push(other),
    }
}

/// Whether a filter asks nothing: an `_or` with an empty object, or with nothing, always holds.
fn always_holds(filter: &Filter) -> bool {
    match filter {
        Filter::All(branches) => branches.iter().all(always_holds),
        Filter::Any(branches) => branches.is_empty() || branches.iter().any(always_holds),
        _ => false,
    }
}

/// Whether a filter below a relational field speaks of the related rows, not of the field itself.
fn leads_on(filter: &Filter) -> bool {
    match filter {
        Filter::Field { .. } => true,
        Filter::All(branches) => {
            !always_holds(filter) && branches.iter().all(|branch| leads_on(branch) || always_holds(branch))
        }
        Filter::Any(branches) => !always_holds(filter) && branches.iter().all(leads_on),
        Filter::Some(_) | Filter::None(_) | Filter::Is(..) | Filter::UnknownOperator(_) | Filter::Nothing => false,
    }
}
