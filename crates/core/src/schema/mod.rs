//! The live schema: an immutable model of the operator's tables and the stored metadata.

pub mod alter;
pub mod inspect;
mod meta;
pub mod model;
mod overlay;
pub mod registry;
mod special;
mod system;

pub use meta::{CollectionMeta, FieldMeta, RelationMeta};
pub use model::{
    Accountability, Collection, Column, Deselect, Field, FieldType, ForeignKey, Link, Relation, Schema, Side, TableInfo,
};
pub use special::{Special, SpecialSet};
pub use system::SYSTEM_PREFIX;
