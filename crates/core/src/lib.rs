//! The content engine of Waymark: live schema, queries, access rules, plans and items over the
//! operator's own SQL tables. Knows no HTTP, GraphQL, Redis or configuration files.

pub mod access;
pub mod actor;
pub mod auth;
#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod bench;
pub mod context;
pub mod error;
pub mod ident;
pub mod items;
pub mod payload;
pub mod plan;
pub mod query;
pub mod schema;
pub mod store;
pub mod system;

pub use context::{Ctx, Engine, EngineSettings};
pub use error::{Code, Error, Result};
