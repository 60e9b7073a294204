//! The state of resolving one query: schema, policy, variables. The parts of a query are resolved
//! by `selection`, `condition`, `order` and `aggregate`, all on this type.

use std::{cell::Cell, sync::Arc};

use super::{Action, FieldSet, Grant, Policy, Rule, Variables, condition::Author, resolved::Condition};
use crate::{
    error::{Error, Result},
    query::QueryLimits,
    schema::{Collection, Schema},
};

pub(super) struct Resolver<'a> {
    pub schema: &'a Schema,
    pub policy: &'a Policy,
    pub variables: &'a Variables,
    pub limits: &'a QueryLimits,
    /// A collection whose keys may be selected without a right to read it, for an action (by-query
    /// writes): its primary key may be named, nothing else, of the rows that the action may be done to.
    pub keys_of: Option<(Arc<str>, Action)>,
    /// Ways through relations that filters, sorts, counts and aliases of this query may still take:
    /// each is a subquery that the database runs row by row, or a level read once more.
    pub hops: Cell<usize>,
    /// Values that what the caller asks may still compare with: statements take so many parameters.
    pub operands: Cell<usize>,
}

/// See [`Resolver::hops`].
pub(super) const MOST_HOPS: usize = 50;

/// What a caller may see of one collection.
pub(super) enum View {
    Everything,
    Ruled(Arc<Rule>),
    KeysOnly,
}

impl Resolver<'_> {
    /// The caller's view of a collection.
    ///
    /// # Errors
    /// `FORBIDDEN` without a right to read.
    pub(super) fn view(&self, collection: &Collection) -> Result<View> {
        match self.policy.grant(&collection.name, Action::Read) {
            Grant::Unrestricted => Ok(View::Everything),
            Grant::Ruled(rule) => Ok(View::Ruled(rule)),
            Grant::Denied if self.keys_of.as_ref().is_some_and(|(name, _)| *name == collection.name) => {
                Ok(View::KeysOnly)
            }
            Grant::Denied => Err(Error::forbidden()),
        }
    }

    /// Pays for one way through a relation in what the caller asks. Rules are the
    /// operator's: they pay nothing, so that their rows never depend on what is asked.
    pub(super) fn take_hop(&self) -> Result<()> {
        self.take_hops(1)
    }

    /// The same for as many ways.
    pub(super) fn take_hops(&self, ways: usize) -> Result<()> {
        let left = self.hops.get().checked_sub(ways);
        self.hops.set(left.ok_or_else(|| Error::invalid_query("The query goes through too many relations."))?);
        Ok(())
    }

    /// Pays for values that the caller compares with.
    pub(super) fn take_operands(&self, values: usize) -> Result<()> {
        let left = self.operands.get().checked_sub(values);
        self.operands.set(left.ok_or_else(|| Error::invalid_query("The query compares with too many values."))?);
        Ok(())
    }

    /// Whether the caller may read rows of a collection at all.
    pub(super) fn can_read(&self, collection: &str) -> bool {
        !matches!(self.policy.grant(collection, Action::Read), Grant::Denied)
    }

    /// Whether the caller may read some fields of a collection only.
    pub(super) fn is_restricted(&self, collection: &Collection) -> Result<bool> {
        Ok(!self.view(collection)?.ignores_unknown())
    }

    /// Refuses fields the caller may not read. The primary key is no secret: rows are told by it.
    pub(super) fn check_field(&self, collection: &Collection, field: &str) -> Result<()> {
        if self.view(collection)?.covers(collection, field) { Ok(()) } else { Err(Error::forbidden()) }
    }

    /// The caller's row filter on a collection.
    pub(super) fn visible(&self, collection: &Arc<Collection>) -> Result<Condition> {
        Ok(match self.view(collection)? {
            View::Everything => Condition::Always,
            View::Ruled(rule) => self.rule_rows(collection, &rule),
            View::KeysOnly => match self.keys_of.as_ref().map(|(name, action)| self.policy.grant(name, *action)) {
                Some(Grant::Ruled(rule)) => self.rule_rows(collection, &rule),
                Some(Grant::Unrestricted) => Condition::Always,
                Some(Grant::Denied) | None => Condition::Never,
            },
        })
    }

    /// The rows of a rule. A stored filter that can't be understood (a field it names is gone, say)
    /// matches nothing.
    pub(super) fn rule_rows(&self, collection: &Arc<Collection>, rule: &Rule) -> Condition {
        let Some(rows) = &rule.rows else { return Condition::Always };
        self.filter(collection, rows, Author::Rule).unwrap_or_else(|error| {
            tracing::warn!(collection = %collection.name, %error, "a permission rule can't be understood and matches nothing");
            Condition::Never
        })
    }
}

impl View {
    /// Whether a field may be named.
    pub(super) fn covers(&self, collection: &Collection, field: &str) -> bool {
        match self {
            View::Everything => true,
            View::Ruled(rule) => rule.fields.contains(field) || field == &*collection.primary,
            View::KeysOnly => field == &*collection.primary,
        }
    }

    /// Whether a field is part of the answer when asked for, or by a wildcard.
    pub(super) fn shows(&self, field: &str) -> bool {
        match self {
            View::Everything => true,
            View::Ruled(rule) => rule.fields.contains(field),
            View::KeysOnly => false,
        }
    }

    /// Unknown names are ignored for those who may read every field; to others they must look
    /// like unreadable ones.
    pub(super) fn ignores_unknown(&self) -> bool {
        match self {
            View::Everything => true,
            View::Ruled(rule) => matches!(rule.fields, FieldSet::All),
            View::KeysOnly => false,
        }
    }
}
