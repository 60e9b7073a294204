//! A query after its names were looked up and its rights checked: what `plan` turns into SQL. All
//! types are made in this room only; outside the crate none can be made or taken apart.

use std::sync::Arc;

use crate::{
    payload::typed::Typed,
    query::ast::{AggregateFunction, Function, Limit, MetaRequest},
    schema::{Collection, Field},
};

/// A checked read. Only `access` makes one, and `plan` takes nothing else.
#[derive(Debug)]
pub struct AuthorizedQuery {
    pub(in crate::access) root: Level,
    pub(in crate::access) meta: MetaRequest,
}

impl AuthorizedQuery {
    pub(crate) fn root(&self) -> &Level {
        &self.root
    }

    pub(crate) fn meta(&self) -> MetaRequest {
        self.meta
    }
}

/// Rows of one collection, with what is wanted of each.
#[derive(Debug)]
pub(crate) struct Level {
    pub collection: Arc<Collection>,
    /// The caller's row filter.
    pub visible: Condition,
    /// Filter, search and keys of the query.
    pub wanted: Condition,
    pub sort: Vec<Order>,
    pub limit: Limit,
    pub offset: u64,
    pub shape: Shape,
}

/// What stands for a row in the answer.
#[derive(Debug)]
pub(crate) enum Shape {
    Items(Vec<Output>),
    /// The primary key itself.
    Keys,
    Groups {
        groups: Vec<(String, Scalar)>,
        aggregates: Vec<AggregateOutput>,
    },
}

/// One member of an item.
#[derive(Debug)]
pub(crate) struct Output {
    pub name: String,
    pub value: OutputValue,
}

#[derive(Debug)]
pub(crate) enum OutputValue {
    Scalar(Scalar),
    /// The row that a key field points to; null when there is none or it is not visible.
    One {
        field: FieldRef,
        level: Box<Level>,
    },
    /// The rows whose key field points here.
    Many {
        key: FieldRef,
        child_field: FieldRef,
        level: Box<Level>,
    },
    /// The row that key and discriminator point to.
    Any {
        field: FieldRef,
        discriminator: FieldRef,
        levels: Vec<Level>,
    },
}

#[derive(Debug)]
pub(crate) struct AggregateOutput {
    pub function: AggregateFunction,
    /// `None` = `*`.
    pub field: Option<FieldRef>,
}

/// A column of a collection.
#[derive(Clone)]
pub(crate) struct FieldRef {
    collection: Arc<Collection>,
    position: usize,
}

/// A value of a row.
#[derive(Clone, Debug)]
pub(crate) enum Scalar {
    Column(FieldRef),
    Part(Function, FieldRef),
    /// How many rows of the other side are visible.
    CountRelated {
        hop: Hop,
        visible: Box<Condition>,
    },
}

/// A condition on a row.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Always,
    Never,
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Test(Scalar, Test),
    /// Some (or no) related row fulfils the condition.
    Related {
        hop: Hop,
        condition: Box<Condition>,
        exists: bool,
    },
}

/// A test of one value. Negations leave out nulls, as SQL does.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    Null(bool),
    Empty(bool),
    Compare(Comparison, Typed),
    In { values: Vec<Typed>, negated: bool },
    Between { low: Typed, high: Typed, negated: bool },
    Text { place: TextPlace, needle: String, ignore_case: bool, negated: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextPlace {
    Anywhere,
    Start,
    End,
    Whole,
}

/// The way from a row to related rows.
#[derive(Clone, Debug)]
pub(crate) enum Hop {
    /// `field` holds the target's primary key.
    One { field: FieldRef, target: Arc<Collection> },
    /// `child_field` of the other collection holds this row's primary key, `key`.
    Many { key: FieldRef, child_field: FieldRef },
    /// As `Many` for the rows of a many-to-any relation whose `discriminator` names this collection.
    ManyAny { key: FieldRef, child_field: FieldRef, discriminator: FieldRef },
    /// As `One` when `discriminator` names the target.
    Any { field: FieldRef, discriminator: FieldRef, target: Arc<Collection> },
}

#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub by: OrderBy,
    pub descending: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum OrderBy {
    Scalar(Scalar),
    /// A value of the visible related row; of several the first in this order.
    Related {
        hop: Hop,
        visible: Box<Condition>,
        by: Box<OrderBy>,
    },
    /// Position in the aggregates of a grouped level.
    Aggregate(usize),
    /// Position in the groups of a grouped level.
    Group(usize),
}

impl FieldRef {
    /// A reference to a field of the collection; `None` when it has no such field.
    pub(in crate::access) fn new(collection: &Arc<Collection>, name: &str) -> Option<Self> {
        let position = collection.fields.get_index_of(name)?;
        Some(Self { collection: Arc::clone(collection), position })
    }

    pub(crate) fn collection(&self) -> &Arc<Collection> {
        &self.collection
    }

    pub(crate) fn field(&self) -> &Field {
        match self.collection.fields.get_index(self.position) {
            Some((_, field)) => field,
            // The position was found in this very map, which never changes.
            None => self.collection.primary_field(),
        }
    }
}

impl Level {
    /// The primary key of the level's collection.
    pub(crate) fn primary(&self) -> Option<FieldRef> {
        FieldRef::new(&self.collection, &self.collection.primary)
    }
}

impl std::fmt::Debug for FieldRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.collection.name, self.field().name)
    }
}

impl Hop {
    /// The collection at the far end.
    pub(crate) fn target(&self) -> &Arc<Collection> {
        match self {
            Hop::One { target, .. } | Hop::Any { target, .. } => target,
            Hop::Many { child_field, .. } | Hop::ManyAny { child_field, .. } => child_field.collection(),
        }
    }
}

impl Condition {
    /// Both hold.
    pub(in crate::access) fn and(self, other: Condition) -> Condition {
        match (self, other) {
            (Condition::Always, condition) | (condition, Condition::Always) => condition,
            (Condition::Never, _) | (_, Condition::Never) => Condition::Never,
            (Condition::All(mut all), Condition::All(more)) => {
                all.extend(more);
                Condition::All(all)
            }
            (Condition::All(mut all), condition) | (condition, Condition::All(mut all)) => {
                all.push(condition);
                Condition::All(all)
            }
            (first, second) => Condition::All(vec![first, second]),
        }
    }

    /// All hold; none = always.
    pub(in crate::access) fn all(conditions: impl IntoIterator<Item = Condition>) -> Condition {
        conditions.into_iter().fold(Condition::Always, Condition::and)
    }

    /// One holds; none = always, as the interface has it.
    pub(in crate::access) fn any(conditions: Vec<Condition>) -> Condition {
        if conditions.is_empty() || conditions.iter().any(|condition| matches!(condition, Condition::Always)) {
            return Condition::Always;
        }
        let mut kept: Vec<Condition> =
            conditions.into_iter().filter(|condition| !matches!(condition, Condition::Never)).collect();
        match kept.len() {
            0 => Condition::Never,
            1 => kept.pop().unwrap_or(Condition::Never),
            _ => Condition::Any(kept),
        }
    }
}
