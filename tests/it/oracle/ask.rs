//! What can be asked: filters, paths, queries as trees, and how each is written as JSON.

use serde_json::{Map, Value, json};

use super::{values, world::Cell};

#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    Null,
    Flag(bool),
    One(Cell),
    Several(Vec<Cell>),
    CurrentUser,
    CurrentRole,
    /// `$CURRENT_USER.location`, in rules only.
    CurrentPlace,
    /// `$NOW` with an adjustment that stays between all dates of the data.
    Now(&'static str),
}

#[derive(Clone, Debug)]
pub enum Filter {
    /// `merged`: as keys of one object, when no key comes twice.
    All {
        branches: Vec<Filter>,
        merged: bool,
    },
    Any(Vec<Filter>),
    Of(Step, Box<Inner>),
}

/// What is said of one field.
#[derive(Clone, Debug)]
pub enum Inner {
    Is(&'static str, Operand),
    Both(Vec<Inner>),
    Either(Vec<Inner>),
    /// Of the related rows.
    Rows(Filter),
    Some(Filter),
    None(Filter),
}

/// `name`, `name:scope` or `function(name)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub name: String,
    pub scope: Option<String>,
    pub function: Option<&'static str>,
}

pub type Path = Vec<Step>;

#[derive(Clone, Debug)]
pub struct SortKey {
    pub path: Path,
    pub descending: bool,
}

/// A query, or one level of `deep`.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    pub fields: Option<Vec<Path>>,
    pub filter: Option<Filter>,
    pub sort: Vec<SortKey>,
    pub limit: Option<i64>,
    pub offset: Option<usize>,
    pub page: Option<usize>,
    pub search: Option<String>,
    pub alias: Vec<(String, Step)>,
    pub deep: Vec<(String, Ask)>,
    pub meta: bool,
    /// Function and field; `*` for the rows themselves.
    pub aggregate: Vec<(&'static str, String)>,
    pub group: Vec<Step>,
}

impl Step {
    pub fn plain(name: &str) -> Self {
        Self { name: name.to_owned(), scope: None, function: None }
    }

    pub fn text(&self) -> String {
        match (self.function, &self.scope) {
            (Some(function), _) => format!("{function}({})", self.name),
            (None, Some(scope)) => format!("{}:{scope}", self.name),
            (None, None) => self.name.clone(),
        }
    }
}

pub fn path_text(path: &[Step]) -> String {
    path.iter().map(Step::text).collect::<Vec<_>>().join(".")
}

impl SortKey {
    pub fn text(&self) -> String {
        format!("{}{}", if self.descending { "-" } else { "" }, path_text(&self.path))
    }
}

impl Operand {
    fn json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Flag(flag) => json!(flag),
            Self::One(cell) => values::written(cell),
            Self::Several(cells) => cells.iter().map(values::written).collect(),
            Self::CurrentUser => json!("$CURRENT_USER"),
            Self::CurrentRole => json!("$CURRENT_ROLE"),
            Self::CurrentPlace => json!("$CURRENT_USER.location"),
            Self::Now(adjustment) => json!(format!("$NOW{adjustment}")),
        }
    }
}

impl Filter {
    /// Whether no row fails: an `_or` with an empty object, or with nothing, always holds.
    pub fn asks_nothing(&self) -> bool {
        match self {
            Self::All { branches, .. } => branches.iter().all(Self::asks_nothing),
            Self::Any(branches) => branches.is_empty() || branches.iter().any(Self::asks_nothing),
            Self::Of(..) => false,
        }
    }

    /// Whether no field is named at all.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::All { branches, .. } | Self::Any(branches) => branches.iter().all(Self::is_empty),
            Self::Of(..) => false,
        }
    }

    pub fn json(&self) -> Value {
        match self {
            Self::All { branches, merged } => {
                let parts: Vec<Value> = branches.iter().map(Self::json).collect();
                if *merged && let Some(object) = merge(&parts) { object } else { json!({ "_and": parts }) }
            }
            Self::Any(branches) => json!({ "_or": branches.iter().map(Self::json).collect::<Vec<_>>() }),
            Self::Of(step, inner) => json!({ step.text(): inner.json() }),
        }
    }
}

impl Inner {
    fn json(&self) -> Value {
        match self {
            Self::Is(operator, operand) => json!({ *operator: operand.json() }),
            Self::Both(parts) => {
                let parts: Vec<Value> = parts.iter().map(Self::json).collect();
                merge(&parts).unwrap_or_else(|| json!({ "_and": parts }))
            }
            Self::Either(parts) => json!({ "_or": parts.iter().map(Self::json).collect::<Vec<_>>() }),
            Self::Rows(filter) => filter.json(),
            Self::Some(filter) => json!({ "_some": filter.json() }),
            Self::None(filter) => json!({ "_none": filter.json() }),
        }
    }
}

fn merge(parts: &[Value]) -> Option<Value> {
    let mut merged = Map::new();
    for (key, value) in parts.iter().filter_map(Value::as_object).flatten() {
        if merged.insert(key.clone(), value.clone()).is_some() {
            return None;
        }
    }
    Some(Value::Object(merged))
}

impl Ask {
    /// As a SEARCH body has it.
    pub fn json(&self) -> Value {
        let mut out = self.level("");
        if self.meta {
            out.insert("meta".to_owned(), json!(["total_count", "filter_count"]));
        }
        if !self.aggregate.is_empty() {
            let mut functions = Map::new();
            for (function, field) in &self.aggregate {
                let list = functions.entry((*function).to_owned()).or_insert_with(|| json!([]));
                list.as_array_mut().expect("a list").push(json!(field));
            }
            out.insert("aggregate".to_owned(), Value::Object(functions));
        }
        if !self.group.is_empty() {
            out.insert("groupBy".to_owned(), self.group.iter().map(|step| json!(step.text())).collect());
        }
        if !self.deep.is_empty() {
            out.insert("deep".to_owned(), self.deep_json());
        }
        Value::Object(out)
    }

    fn deep_json(&self) -> Value {
        let mut out = Map::new();
        for (name, ask) in &self.deep {
            let mut level = ask.level("_");
            if let Value::Object(below) = ask.deep_json() {
                level.extend(below);
            }
            out.insert(name.clone(), Value::Object(level));
        }
        Value::Object(out)
    }

    fn level(&self, prefix: &str) -> Map<String, Value> {
        let mut out = Map::new();
        let mut put = |name: &str, value: Value| out.insert(format!("{prefix}{name}"), value);
        if let Some(fields) = &self.fields {
            put("fields", fields.iter().map(|path| json!(path_text(path))).collect());
        }
        if let Some(filter) = &self.filter {
            put("filter", filter.json());
        }
        if !self.sort.is_empty() {
            put("sort", self.sort.iter().map(|key| json!(key.text())).collect());
        }
        if let Some(limit) = self.limit {
            put("limit", json!(limit));
        }
        if let Some(offset) = self.offset {
            put("offset", json!(offset));
        }
        if let Some(page) = self.page {
            put("page", json!(page));
        }
        if let Some(search) = &self.search {
            put("search", json!(search));
        }
        if !self.alias.is_empty() {
            put(
                "alias",
                self.alias.iter().map(|(name, step)| (name.clone(), json!(step.text()))).collect::<Map<_, _>>().into(),
            );
        }
        out
    }

    /// As a query string has it: lists with commas, objects as JSON.
    pub fn query_string(&self) -> String {
        let Value::Object(parts) = self.json() else { return String::new() };
        let mut url = reqwest::Url::parse("http://localhost/").expect("a URL");
        for (name, value) in &parts {
            let text = match value {
                Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            url.query_pairs_mut().append_pair(name, &text);
        }
        url.query().unwrap_or_default().to_owned()
    }
}
