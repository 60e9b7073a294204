//! What is written: values checked against field types, special fields, validation rules.

pub mod typed;
