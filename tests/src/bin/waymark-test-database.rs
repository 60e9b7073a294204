//! Creates and drops databases on running servers, for scripts that have no database client.
//!
//! `waymark-test-database create|drop postgres|mysql URL NAME`; `create` prints the new URL.

use std::process::ExitCode;

use waymark_tests::{Kind, database};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [verb, engine, server, name] = arguments.as_slice() else { return usage() };
    let kind = match engine.as_str() {
        "postgres" => Kind::Postgres,
        "mysql" => Kind::Mysql,
        _ => return usage(),
    };
    match verb.as_str() {
        "create" => println!("{}", database::create_on(kind, server, name).await),
        "drop" => database::drop_on(kind, server, name).await,
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: waymark-test-database create|drop postgres|mysql URL NAME");
    ExitCode::FAILURE
}
