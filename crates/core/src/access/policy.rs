//! Compiled permission rules of one caller class. A rule is looked up by collection and action; no
//! rule means no access.

use std::{collections::HashSet, sync::Arc};

use indexmap::{Equivalent, IndexMap};
use serde_json::{Map, Value};

use crate::query::ast::Filter;

/// What may be granted on a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Create,
    Read,
    Update,
    Delete,
    Share,
}

impl Action {
    /// The action of this name; `comment` and `explain` are known to clients but grant nothing.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Create, Self::Read, Self::Update, Self::Delete, Self::Share]
            .into_iter()
            .find(|action| action.name() == name)
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Share => "share",
        }
    }
}

/// Everything one caller class may do.
#[derive(Debug)]
pub struct Policy {
    grants: Grants,
    /// Paths of `$CURRENT_USER.…` that rules name; fetched once per request when needed.
    pub(crate) user_paths: Vec<String>,
    /// Paths of `$CURRENT_ROLE.…`.
    pub(crate) role_paths: Vec<String>,
}

#[derive(Debug)]
enum Grants {
    /// Admins and the system: no rule applies.
    Everything,
    Rules(IndexMap<(Arc<str>, Action), Arc<Rule>>),
}

/// One row of `directus_permissions` (merged with the app-access minimum), compiled.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// Row filter with unresolved variables; `None` = all rows.
    pub rows: Option<Filter>,
    pub fields: FieldSet,
    /// Payload rule with unresolved variables.
    pub validation: Option<Value>,
    /// Default values with unresolved variables.
    pub presets: Map<String, Value>,
}

/// Fields a rule covers.
#[derive(Clone, Debug)]
pub enum FieldSet {
    All,
    Some(HashSet<String>),
}

impl Default for FieldSet {
    fn default() -> Self {
        Self::Some(HashSet::new())
    }
}

impl FieldSet {
    #[must_use]
    pub fn contains(&self, field: &str) -> bool {
        match self {
            Self::All => true,
            Self::Some(names) => names.contains(field),
        }
    }
}

/// What a policy says of one action on one collection.
#[derive(Clone, Debug)]
pub enum Grant {
    /// No rule applies (admin, system).
    Unrestricted,
    Ruled(Arc<Rule>),
    Denied,
}

/// A borrowed key of the rules: it hashes as the owned pair does.
#[derive(Hash)]
struct Lookup<'a>(&'a str, Action);

impl Equivalent<(Arc<str>, Action)> for Lookup<'_> {
    fn equivalent(&self, key: &(Arc<str>, Action)) -> bool {
        *key.0 == *self.0 && key.1 == self.1
    }
}

impl Policy {
    /// For admins and the system.
    #[must_use]
    pub fn unrestricted() -> Self {
        Self { grants: Grants::Everything, user_paths: Vec::new(), role_paths: Vec::new() }
    }

    /// From compiled rules.
    #[must_use]
    pub fn from_rules(
        rules: IndexMap<(Arc<str>, Action), Arc<Rule>>,
        user_paths: Vec<String>,
        role_paths: Vec<String>,
    ) -> Self {
        Self { grants: Grants::Rules(rules), user_paths, role_paths }
    }

    #[must_use]
    pub fn is_unrestricted(&self) -> bool {
        matches!(self.grants, Grants::Everything)
    }

    #[must_use]
    pub fn grant(&self, collection: &str, action: Action) -> Grant {
        match &self.grants {
            Grants::Everything => Grant::Unrestricted,
            Grants::Rules(rules) => {
                rules.get(&Lookup(collection, action)).map_or(Grant::Denied, |rule| Grant::Ruled(Arc::clone(rule)))
            }
        }
    }
}
