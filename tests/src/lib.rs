//! The test kit: real servers over fresh databases, a client, and helpers to set the scene. The
//! tests themselves stand under `it/`, one folder per feature.

pub mod client;
pub mod database;
pub mod engine;
pub mod error_manual;
pub mod event_log;
pub mod process;
pub mod raw;
pub mod replicas;
pub mod scene;
pub mod server;
pub mod sources;

pub use client::{Answer, Client};
pub use database::Database;
pub use engine::Kind;
pub use event_log::{FlowLog, SqlLog};
pub use process::Process;
pub use raw::{Leaving, Unanswered};
pub use replicas::{Processes, Replicas, Store, StoreKind, until};
pub use server::Server;
