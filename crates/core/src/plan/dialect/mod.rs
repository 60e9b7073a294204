//! What differs between the dialects. Nothing outside this folder matches on them to write SQL.

pub mod bind;
pub mod returning;
pub mod sequence;

pub use bind::bind;
