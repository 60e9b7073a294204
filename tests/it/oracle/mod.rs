//! Random worlds against a naive evaluator. A seed makes up a schema, rows, roles with their read
//! rules, and queries; each query goes to a real server, and its answer is compared with what
//! nested loops over the same rows come to: the same rows and members, nothing that the rules
//! hide, no parent twice, right counts.
//!
//! The evaluator (`evaluate`, `holds`, `rights`, `order`, `totals`) follows the description of the
//! interface and knows nothing of the engine's code. What is wrong is printed with its seed.
//!
//! | Variable | Meaning |
//! |---|---|
//! | `WAYMARK_ORACLE_SEED` | only the world of this seed |
//! | `WAYMARK_ORACLE_FIRST_SEED` | begin with this seed (1) |
//! | `WAYMARK_ORACLE_WORLDS` | so many worlds |
//! | `WAYMARK_ORACLE_QUERIES` | so many queries of each world |

mod ask;
mod case;
mod compare;
mod evaluate;
mod filters;
mod functions;
mod holds;
mod install;
mod order;
mod policy;
mod queries;
mod random;
mod rights;
mod runner;
mod totals;
mod values;
mod world;

use runner::{Plan, run};
use waymark_tests::Kind;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_those_of_a_naive_evaluator_on_sqlite() {
    run(Kind::Sqlite, Plan::of(2_400, 8)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_those_of_a_naive_evaluator_on_postgres() {
    run(Kind::Postgres, Plan::of(600, 4)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_those_of_a_naive_evaluator_on_mysql() {
    run(Kind::Mysql, Plan::of(600, 4)).await;
}
