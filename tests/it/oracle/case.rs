//! One query of one caller: asked, answered, compared.

use serde_json::{Value, json};
use waymark_tests::Client;

use super::{
    ask::Ask,
    compare,
    holds::{Forbidden, View},
    queries,
    random::Random,
    values,
    world::{Cell, KEY, World},
};

pub struct Case<'a> {
    number: usize,
    view: View<'a>,
    client: &'a Client,
    collection: usize,
    ask: Ask,
    door: Door,
}

/// The way a query is asked.
enum Door {
    Url,
    Body,
    /// SEARCH with keys.
    Keys(Vec<Cell>),
    /// A single item.
    One(Cell),
}

pub struct Outcome {
    pub status: u16,
    pub rows: usize,
    pub failure: Option<String>,
}

impl<'a> Case<'a> {
    /// Chooses the way, too.
    pub fn of(
        number: usize,
        view: View<'a>,
        client: &'a Client,
        collection: usize,
        mut ask: Ask,
        random: &mut Random,
    ) -> Self {
        let rows = &view.world.collections[collection].rows;
        let lists = ask.group.is_empty() && ask.aggregate.is_empty();
        let door = match random.below(20) {
            0 | 1 if lists => {
                ask =
                    Ask { fields: ask.fields, filter: ask.filter, alias: ask.alias, deep: ask.deep, ..Ask::default() };
                Door::One(random.pick(rows)[KEY].clone())
            }
            2 | 3 if lists => {
                ask.meta = false;
                Door::Keys((0..random.between(1, 6)).map(|_| random.pick(rows)[KEY].clone()).collect())
            }
            4..=11 => Door::Url,
            _ => Door::Body,
        };
        Self { number, view, client, collection, ask, door }
    }

    pub async fn play(&self) -> Outcome {
        let path = format!("/items/{}", self.view.world.collections[self.collection].name);
        let url = self.ask.query_string();
        let (status, body) = match &self.door {
            Door::Url => self.client.get(&format!("{path}?{url}")).await,
            Door::One(key) => self.client.get(&format!("{path}/{}?{url}", values::plain_text(key))).await,
            Door::Body => self.client.search(&path, self.ask.json()).await,
            Door::Keys(keys) => {
                let keys: Vec<Value> = keys.iter().map(values::written).collect();
                let body = json!({ "query": self.ask.json(), "keys": keys });
                let answer = self.client.request("SEARCH", &path, Some(body)).await;
                (answer.status, answer.body)
            }
        };
        let wanted = self.wanted();
        let right = match &wanted {
            Ok(wanted) => status == 200 && compare::same(&self.comparable(wanted), &self.comparable(&body)),
            Err(_) => status == 403 && body["errors"][0]["extensions"]["code"] == json!("FORBIDDEN"),
        };
        let breaches = compare::breaches(&self.view, &self.ask, &body);
        let failure = (!right || !breaches.is_empty()).then(|| {
            let wanted = wanted.unwrap_or_else(|_| json!("403"));
            self.report(&path, &wanted, status, &body, &breaches)
        });
        Outcome { status, rows: body["data"].as_array().map_or(0, Vec::len), failure }
    }

    fn wanted(&self) -> Result<Value, Forbidden> {
        match &self.door {
            Door::Url | Door::Body => self.view.answer(self.collection, &self.ask, None),
            Door::Keys(keys) => self.view.answer(self.collection, &self.ask, Some(keys)),
            Door::One(key) => {
                let list = self.view.answer(self.collection, &self.ask, Some(std::slice::from_ref(key)))?;
                // What is hidden is refused like what is not there.
                list["data"].get(0).map(|item| json!({ "data": item })).ok_or(Forbidden)
            }
        }
    }

    /// Groups by texts stand in the order of the database's collation: compared in one of our own.
    fn comparable(&self, body: &Value) -> Value {
        let collection = &self.view.world.collections[self.collection];
        let by_text = self.ask.group.iter().any(|step| {
            step.function.is_none()
                && collection
                    .field(&step.name)
                    .and_then(|field| self.view.world.column(field))
                    .is_some_and(|kind| !queries::ordered(kind))
        });
        let mut body = body.clone();
        if by_text && let Some(groups) = body["data"].as_array_mut() {
            let name =
                |group: &Value| self.ask.group.iter().map(|step| group[&step.name].to_string()).collect::<Vec<_>>();
            groups.sort_by_key(name);
        }
        body
    }

    fn report(&self, path: &str, wanted: &Value, status: u16, body: &Value, breaches: &[String]) -> String {
        let View { world, caller, engine } = self.view;
        let query = self.ask.json();
        let sent = match &self.door {
            Door::Url => format!("GET {path}?{}", self.ask.query_string()),
            Door::One(key) => format!("GET {path}/{}?{}", values::plain_text(key), self.ask.query_string()),
            Door::Body => format!("SEARCH {path}"),
            Door::Keys(keys) => {
                format!("SEARCH {path} of {}", keys.iter().map(values::plain_text).collect::<Vec<_>>().join(", "))
            }
        };
        format!(
            "WRONG on {engine:?}: world {}, query {} of {} (repeat: WAYMARK_ORACLE_SEED={})\nrules: {}\nschema: {}\nsent: {sent}\nquery: {query}\nwanted: {wanted}\ngot: {status} {body}\n{}",
            world.seed,
            self.number,
            caller.label,
            world.seed,
            caller.json(world),
            schema(world),
            breaches.join("\n"),
        )
    }
}

fn schema(world: &World) -> String {
    let collections = world.collections.iter().map(|collection| {
        let fields: Vec<String> =
            collection.fields.iter().map(|field| format!("{} {:?}", field.name, field.kind)).collect();
        format!("{}({})", collection.name, fields.join(", "))
    });
    collections.collect::<Vec<_>>().join("; ")
}
