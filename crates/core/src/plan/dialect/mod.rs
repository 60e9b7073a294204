//! What differs between the dialects. Nothing outside this folder matches on them to write SQL.

pub mod bind;

pub use bind::bind;
