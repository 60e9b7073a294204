//! From authorised values to SQL. Accepts nothing else.

pub mod dialect;
