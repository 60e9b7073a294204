//! What is asked: the query language, from text to a checked tree. Nothing here knows the schema.

pub mod ast;
pub mod fields;
pub mod filter;
pub mod follow;
pub mod functions;
pub mod limits;
pub mod parse;
pub mod url;

pub use ast::Query;
pub use limits::QueryLimits;
