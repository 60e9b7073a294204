//! Runs worlds: makes one, asks it, compares each answer, and tells how to repeat what went wrong.

use futures_util::{StreamExt, stream};
use waymark_tests::{Client, Kind as Engine, Server};

use super::{
    case::{Case, Outcome},
    holds::View,
    install,
    policy::{self, Caller},
    queries,
    random::Random,
    values, world,
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
    assert!(tally.answered * 3 > tally.queries, "most questions have an answer");
    assert!(tally.rows > tally.answered, "most answers have rows");
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
    let mut members = Vec::new();
    for number in 0..ROLES {
        let place = values::WORDS[number % values::WORDS.len()];
        members.push(install::member(admin, seed, number, place).await);
    }
    world.owners = members.iter().flat_map(|member| [member.user.clone(), member.role.clone()]).collect();
    world::fill(&mut world, &mut random.fork(2));
    install::schema(admin, &world).await;
    install::rows(admin, &world).await;

    let mut callers = vec![(Caller::admin(), admin.clone())];
    let mut rules = random.fork(3);
    for (number, member) in members.iter().enumerate() {
        let caller = Caller {
            label: format!("role {number}"),
            admin: false,
            user: Some(member.user.clone()),
            role: Some(member.role.clone()),
            place: Some(member.place.clone()),
            rules: policy::rules(&world, &mut rules),
        };
        install::rules(admin, &world, Some(&member.role), &caller.rules).await;
        callers.push((caller, server.client().with_token(&member.token)));
    }
    let public = Caller {
        label: "the public".to_owned(),
        admin: false,
        rules: policy::rules(&world, &mut rules),
        ..Caller::admin()
    };
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
            Case::of(number, view, client, collection, ask, &mut asked)
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
