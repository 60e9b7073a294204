//! Runs worlds: makes one, asks it, compares each answer, and tells how to repeat what went wrong.

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use waymark_tests::{Client, Kind as Engine, Server};

use super::{
    ask::Ask,
    compare,
    holds::View,
    install,
    policy::{self, Caller},
    queries,
    random::Random,
    world::{self, World},
};

/// Callers of a world beside the admin and the public.
const ROLES: usize = 5;
/// Failures that are told in full.
const MOST_TOLD: usize = 12;

/// How much a run does.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub first_seed: u64,
    pub worlds: u64,
    /// Queries of one world.
    pub queries: usize,
}

impl Plan {
    /// So many queries in so many worlds, unless the environment says otherwise.
    pub fn of(queries: usize, worlds: u64) -> Self {
        let number = |name: &str| {
            std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is no number")))
        };
        let only = number("WAYMARK_ORACLE_SEED");
        let of_a_world = queries / worlds as usize;
        let worlds = if only.is_some() { 1 } else { number("WAYMARK_ORACLE_WORLDS").unwrap_or(worlds) };
        Self {
            first_seed: only.or_else(|| number("WAYMARK_ORACLE_FIRST_SEED")).unwrap_or(1),
            worlds,
            queries: number("WAYMARK_ORACLE_QUERIES").map_or(of_a_world, |queries| queries as usize),
        }
    }
}

/// What a run came to.
#[derive(Debug, Default)]
struct Tally {
    queries: usize,
    answered: usize,
    refused: usize,
    rows: usize,
    failures: Vec<String>,
}

/// Runs worlds on one server.
///
/// # Panics
/// When an answer is not what it must be.
pub async fn run(engine: Engine, plan: Plan) {
    let server = Server::start(engine).await;
    let admin = server.admin().await;
    let mut tally = Tally::default();
    for seed in plan.first_seed..plan.first_seed + plan.worlds {
        eprintln!("{engine:?}: world {seed}, {} queries", plan.queries);
        world(&server, &admin, engine, seed, plan.queries, &mut tally).await;
    }
    eprintln!(
        "{engine:?}: {} queries, {} answered with {} rows, {} refused, {} failures",
        tally.queries,
        tally.answered,
        tally.rows,
        tally.refused,
        tally.failures.len()
    );
    for failure in tally.failures.iter().take(MOST_TOLD) {
        eprintln!("{failure}\n");
    }
    assert!(
        tally.failures.is_empty(),
        "{} of {} answers are wrong; the first {MOST_TOLD} stand above",
        tally.failures.len(),
        tally.queries
    );
}

async fn world(server: &Server, admin: &Client, engine: Engine, seed: u64, queries: usize, tally: &mut Tally) {
    let random = Random::new(seed);
    let mut world = world::schema(seed, &mut random.fork(1));
    let mut roles = Vec::new();
    for number in 0..ROLES {
        roles.push(install::user(admin, &format!("world{seed}role{number}")).await);
    }
    world.users = roles.iter().map(|(_, user, _)| user.clone()).collect();
    world::fill(&mut world, &mut random.fork(2));
    install::schema(admin, &world).await;
    install::rows(admin, &world).await;

    let mut callers = vec![(Caller::admin(), admin.clone())];
    let mut rules = random.fork(3);
    for (number, (role, user, token)) in roles.iter().enumerate() {
        let caller = Caller {
            label: format!("role {number}"),
            admin: false,
            user: Some(user.clone()),
            rules: policy::rules(&world, &mut rules),
        };
        install::rules(admin, &world, Some(role), &caller.rules).await;
        let client = install::client(server, admin, &caller, Some(token));
        callers.push((caller, client));
    }
    let public =
        Caller { label: "the public".to_owned(), admin: false, user: None, rules: policy::rules(&world, &mut rules) };
    install::rules(admin, &world, None, &public.rules).await;
    callers.push((public, server.client()));

    let mut asked = random.fork(4);
    let cases: Vec<Case<'_>> = (0..queries)
        .map(|number| {
            let (caller, client) = asked.pick(&callers);
            // Mostly what the caller may read at all.
            let readable: Vec<usize> = (0..world.collections.len()).filter(|number| caller.can_read(*number)).collect();
            let collection = if readable.is_empty() || asked.chance(3) {
                asked.below(world.collections.len())
            } else {
                *asked.pick(&readable)
            };
            let ask = queries::query(&world, caller, collection, &mut asked);
            let view = View { world: &world, caller, engine };
            Case { number, view, client, collection, ask, url: asked.chance(50) }
        })
        .collect();
    let outcomes: Vec<Outcome> = stream::iter(&cases).map(Case::play).buffered(4).collect().await;
    for outcome in outcomes {
        tally.queries += 1;
        tally.answered += usize::from(outcome.status == 200);
        tally.refused += usize::from(outcome.status == 403);
        tally.rows += outcome.rows;
        tally.failures.extend(outcome.failure);
    }
}

/// One query of one caller.
struct Case<'a> {
    number: usize,
    view: View<'a>,
    client: &'a Client,
    collection: usize,
    ask: Ask,
    /// Asked by GET; else by SEARCH.
    url: bool,
}

struct Outcome {
    status: u16,
    rows: usize,
    failure: Option<String>,
}

impl Case<'_> {
    async fn play(&self) -> Outcome {
        let path = format!("/items/{}", self.view.world.collections[self.collection].name);
        let (status, body) = if self.url {
            self.client.get(&format!("{path}?{}", self.ask.query_string())).await
        } else {
            self.client.search(&path, self.ask.json()).await
        };
        let wanted = self.view.answer(self.collection, &self.ask);
        let right = match &wanted {
            Ok(wanted) => status == 200 && compare::same(&self.comparable(wanted), &self.comparable(&body)),
            Err(_) => status == 403 && body["errors"][0]["extensions"]["code"] == json!("FORBIDDEN"),
        };
        let breaches = compare::breaches(&self.view, &self.ask, &body);
        let failure = (!right || !breaches.is_empty()).then(|| {
            let wanted = wanted.map_or_else(|_| json!("403"), |wanted| wanted);
            self.report(&path, &wanted, status, &body, &breaches)
        });
        Outcome { status, rows: body["data"].as_array().map_or(0, Vec::len), failure }
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
        let sent = if self.url { format!("GET {path}?{}", self.ask.query_string()) } else { format!("SEARCH {path}") };
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
