//! Who asks, and what they may see: made up, and asked about.

use serde_json::{Value, json};

use super::{
    ask::Filter,
    filters,
    random::Random,
    world::{Collection, Kind, World},
};

/// What a caller may read of one collection.
#[derive(Clone, Debug)]
pub struct Rule {
    /// `None`: all fields.
    pub fields: Option<Vec<String>>,
    pub rows: Option<Filter>,
}

#[derive(Clone, Debug)]
pub struct Caller {
    pub label: String,
    pub admin: bool,
    /// The id of the user, the id of the role, and the user's location; none for the public.
    pub user: Option<String>,
    pub role: Option<String>,
    pub place: Option<String>,
    /// One place for each collection; none: no right to read.
    pub rules: Vec<Option<Rule>>,
}

impl Caller {
    pub fn admin() -> Self {
        Self { label: "admin".to_owned(), admin: true, user: None, role: None, place: None, rules: Vec::new() }
    }

    pub fn rule(&self, collection: usize) -> Option<&Rule> {
        self.rules.get(collection).and_then(Option::as_ref)
    }

    pub fn can_read(&self, collection: usize) -> bool {
        self.admin || self.rule(collection).is_some()
    }

    /// Whether a field is part of an answer.
    pub fn shows(&self, collection: usize, field: &str) -> bool {
        self.admin
            || self.rule(collection).is_some_and(|rule| match &rule.fields {
                None => true,
                Some(fields) => fields.iter().any(|known| known == field),
            })
    }

    /// Whether a field may be named in filters, sorts and the like: the primary key always may.
    pub fn names(&self, collection: usize, field: &str) -> bool {
        self.shows(collection, field) || (self.can_read(collection) && field == super::world::KEY)
    }

    /// Whether all fields are readable, so that unknown names are no secret.
    pub fn sees_all_fields(&self, collection: usize) -> bool {
        self.admin || self.rule(collection).is_some_and(|rule| rule.fields.is_none())
    }

    /// The permission rows, for a report.
    pub fn json(&self, world: &World) -> Value {
        if self.admin {
            return json!("everything");
        }
        world
            .collections
            .iter()
            .zip(&self.rules)
            .map(|(collection, rule)| (collection.name.clone(), rule.as_ref().map_or(Value::Null, Rule::json)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

impl Rule {
    /// As a permission row has it.
    pub fn json(&self) -> Value {
        json!({
            "fields": self.fields.clone().unwrap_or_else(|| vec!["*".to_owned()]),
            "permissions": self.rows.as_ref().map_or_else(|| json!({}), Filter::json),
        })
    }
}

/// Makes up the rules of a role.
pub fn rules(world: &World, random: &mut Random) -> Vec<Option<Rule>> {
    (0..world.collections.len())
        .map(|number| {
            if random.chance(15) {
                return None;
            }
            let rows = random.chance(60).then(|| filters::rule(world, number, random));
            Some(Rule { fields: fields(&world.collections[number], random), rows })
        })
        .collect()
}

fn fields(collection: &Collection, random: &mut Random) -> Option<Vec<String>> {
    match random.below(10) {
        0..=3 => None,
        4 => Some(Vec::new()),
        _ => {
            let readable = collection.fields.iter().filter(|field| {
                // Relations more often than not, so that there is something to follow.
                let likely = if matches!(field.kind, Kind::Plain(_)) { 60 } else { 85 };
                random.chance(likely)
            });
            Some(readable.map(|field| field.name.clone()).collect())
        }
    }
}
