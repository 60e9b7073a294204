//! What is asked, before anything is looked up: names are text, operands are JSON. Produced by
//! `parse` from URLs and bodies, by GraphQL from selections. `access` resolves it.

use indexmap::IndexMap;
use serde_json::Value;

/// One query on a collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// `None`: everything readable on this level (`*`).
    pub fields: Option<Vec<FieldPath>>,
    pub filter: Option<Filter>,
    /// `None`: the collection's default order.
    pub sort: Option<Vec<SortKey>>,
    pub limit: Option<Limit>,
    pub offset: Option<u64>,
    /// 1-based; overrides `offset` unless 0 or unlimited.
    pub page: Option<u64>,
    pub search: Option<String>,
    pub meta: MetaRequest,
    pub aggregate: Vec<Aggregate>,
    /// Grouping operands, in order.
    pub group: Vec<Operand>,
    /// Queries for nested relations, by field (or alias) name.
    pub deep: IndexMap<String, Deep>,
    /// Alias → field.
    pub alias: IndexMap<String, String>,
    pub export: Option<ExportFormat>,
}

/// A nested level's query: its own parameters and those of the levels below.
pub type Deep = Box<Query>;

/// Rows wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Rows(u64),
    Unlimited,
}

/// A dotted field path, one element per level: `author.name`, `blocks.item:pages.title`.
pub type FieldPath = Vec<PathStep>;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathStep {
    /// Field or alias name, or `*`.
    pub name: String,
    /// Target collection of a many-to-any step.
    pub scope: Option<String>,
    pub function: Option<Function>,
}

/// A field of the collection itself, or a function of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    pub name: String,
    pub function: Option<Function>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortKey {
    pub path: FieldPath,
    pub descending: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetaRequest {
    pub total_count: bool,
    pub filter_count: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregate {
    pub function: AggregateFunction,
    /// Field names; `*` for `count`.
    pub fields: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AggregateFunction {
    Count,
    CountDistinct,
    CountAll,
    Sum,
    SumDistinct,
    Avg,
    AvgDistinct,
    Min,
    Max,
}

/// Functions of date, time, list and relation fields; all give integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    Year,
    Month,
    Week,
    Day,
    Weekday,
    Hour,
    Minute,
    Second,
    Count,
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    /// A condition on a field: operators on itself, or a filter on the related rows.
    Field {
        step: PathStep,
        inner: Box<Filter>,
    },
    /// `_some`: a related row matches.
    Some(Box<Filter>),
    /// `_none`: no related row matches.
    None(Box<Filter>),
    Is(Operator, Value),
    /// A name that starts like an operator and is none; refused where the field's type is known.
    UnknownOperator(String),
    /// Matches no row: what stays of a stored rule that can't be understood.
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    Eq,
    Neq,
    Lt,
    Lte,
    Gt,
    Gte,
    In,
    Nin,
    Between,
    Nbetween,
    Contains,
    Ncontains,
    Icontains,
    Nicontains,
    StartsWith,
    NstartsWith,
    IstartsWith,
    NistartsWith,
    EndsWith,
    NendsWith,
    IendsWith,
    NiendsWith,
    Ieq,
    Nieq,
    Null,
    Nnull,
    Empty,
    Nempty,
    Intersects,
    Nintersects,
    IntersectsBbox,
    NintersectsBbox,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    Csv,
    Json,
    Xml,
    Yaml,
}
