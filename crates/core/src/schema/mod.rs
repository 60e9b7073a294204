//! The live schema: an immutable model of the operator's tables and the stored metadata.

pub mod alter;
mod meta;
pub mod model;
pub mod registry;
mod special;

pub use meta::{CollectionMeta, FieldMeta, RelationMeta};
pub use model::{
    Accountability, Collection, Column, Deselect, Field, FieldType, ForeignKey, Link, Relation, Schema, Side, TableInfo,
};
pub use special::{Special, SpecialSet};
