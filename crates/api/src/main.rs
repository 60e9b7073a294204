//! The `waymark` command.

use std::process::ExitCode;

use clap::Parser;
use waymark_api::cli::Command;

fn main() -> ExitCode {
    let command = Command::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("waymark: no runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(command.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            for line in error.to_string().lines() {
                eprintln!("waymark: {line}");
            }
            ExitCode::FAILURE
        }
    }
}
