//! What is asked: the query language, from text to a checked tree. Nothing here knows the schema.

pub mod ast;
pub mod limits;

pub use ast::Query;
pub use limits::QueryLimits;
