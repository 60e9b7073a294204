//! What differs between the dialects. Nothing outside this folder matches on them to write SQL.

pub mod bind;
pub mod returning;

pub use bind::bind;
