//! Stored metadata: the rows of `directus_collections`, `directus_fields` and `directus_relations`
//! as the data-model routes show them. The engine itself reads only what `model` lifts out of them.

use serde_json::{Map, Value};

/// A row of `directus_collections`, rendered (booleans and JSON decoded), all columns.
#[derive(Clone, Debug, Default)]
pub struct CollectionMeta(pub Map<String, Value>);

/// A row of `directus_fields`, rendered, all columns.
#[derive(Clone, Debug, Default)]
pub struct FieldMeta(pub Map<String, Value>);

/// A row of `directus_relations`, rendered, all columns.
#[derive(Clone, Debug, Default)]
pub struct RelationMeta(pub Map<String, Value>);
