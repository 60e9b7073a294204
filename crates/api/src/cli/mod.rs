//! The command line.

mod accounts;
mod blog;
pub mod bootstrap;
mod config;
mod demo;
mod healthcheck;
mod schedules;
mod serve;

use clap::{Parser, Subcommand};

use crate::{
    replicas,
    settings::{Settings, Source},
};

/// What a command fails with; shown line by line.
pub type Failed = Box<dyn std::error::Error + Send + Sync>;

/// A permissioned content API over your own SQL tables.
#[derive(Debug, Parser)]
#[command(name = "waymark", version)]
pub struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Serve; the database has to be bootstrapped.
    Serve,
    /// Migrate the database and create the first admin; safe to repeat.
    Bootstrap,
    /// Serve a small blog from a SQLite file under ./data.
    Demo,
    /// Create users and change passwords.
    #[command(subcommand)]
    Users(Users),
    /// Create roles.
    #[command(subcommand)]
    Roles(Roles),
    /// Count the items of a collection.
    Count { collection: String },
    /// Show the schedules.
    #[command(subcommand)]
    Schedules(Schedules),
    /// Show the settings.
    #[command(subcommand)]
    Config(Config),
    /// Ask the running server on this machine how it is; fails unless it is well.
    Healthcheck,
}

#[derive(Debug, Subcommand)]
enum Users {
    /// Create a user and print its id.
    Create {
        #[arg(long)]
        email: String,
        #[arg(long)]
        password: String,
        /// Id of a role.
        #[arg(long)]
        role: Option<String>,
    },
    /// Change the password of a user.
    Passwd {
        #[arg(long)]
        email: String,
        #[arg(long)]
        password: String,
    },
}

#[derive(Debug, Subcommand)]
enum Roles {
    /// Create a role and print its id.
    Create {
        #[arg(long)]
        name: String,
        /// Members may do everything.
        #[arg(long)]
        admin: bool,
        /// Members may use the admin app.
        #[arg(long)]
        app: bool,
    },
}

#[derive(Debug, Subcommand)]
enum Schedules {
    /// Active flows with the trigger schedule: name, cron, next and last occurrence.
    List,
}

#[derive(Debug, Subcommand)]
enum Config {
    /// The settings in force; secrets are masked.
    Print,
    /// The manual of all settings, as Markdown.
    Manual,
}

impl Command {
    /// Runs the command to its end.
    ///
    /// # Errors
    /// Text for the operator, one line for each problem.
    pub async fn run(self) -> Result<(), Failed> {
        match self.verb {
            Verb::Serve => serve::run(settings()?).await,
            Verb::Bootstrap => {
                let settings = settings()?;
                bootstrap::run(&settings).await?;
                Ok(replicas::tell(&settings).await?)
            }
            Verb::Demo => demo::run().await,
            Verb::Users(Users::Create { email, password, role }) => {
                let settings = settings()?;
                accounts::create_user(&settings, &email, &password, role.as_deref()).await?;
                Ok(replicas::tell(&settings).await?)
            }
            Verb::Users(Users::Passwd { email, password }) => {
                let settings = settings()?;
                accounts::change_password(&settings, &email, &password).await?;
                Ok(replicas::tell(&settings).await?)
            }
            Verb::Roles(Roles::Create { name, admin, app }) => {
                let settings = settings()?;
                accounts::create_role(&settings, &name, admin, app).await?;
                Ok(replicas::tell(&settings).await?)
            }
            Verb::Count { collection } => accounts::count(&settings()?, &collection).await,
            Verb::Schedules(Schedules::List) => schedules::list(&settings()?).await,
            Verb::Config(Config::Print) => config::print(&Source::of_process()?),
            Verb::Config(Config::Manual) => {
                println!("{}", crate::settings::manual::markdown().trim_end());
                Ok(())
            }
            Verb::Healthcheck => healthcheck::run(&Source::of_process()?).await,
        }
    }
}

/// Settings of the process, with logging begun.
fn settings() -> Result<Settings, Failed> {
    let settings = Settings::read(&Source::of_process()?)?;
    crate::telemetry::start(&settings.log);
    Ok(settings)
}

/// An engine error with its cause: whoever runs commands may know it.
fn told(error: waymark_core::Error) -> Failed {
    let problems: Vec<String> = error.problems().map(|problem| problem.message.clone()).collect();
    match error.cause() {
        Some(cause) => format!("{} ({cause})", problems.join("\n")).into(),
        None => problems.join("\n").into(),
    }
}
