//! The columns of the three metadata tables.

/// What a metadata column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Characters it may have; 0 = any number.
    Text(usize),
    /// With the value that stands for NULL.
    Flag(bool),
    Integer,
    Json,
    /// A list of names, stored with commas between them.
    List(usize),
}

/// A metadata table.
#[derive(Debug)]
pub struct MetaTable {
    pub name: &'static str,
    /// Columns a client can't write: they say what the row is about.
    pub keys: &'static [(&'static str, Kind)],
    pub columns: &'static [(&'static str, Kind)],
}

pub const COLLECTIONS: MetaTable = MetaTable {
    name: "directus_collections",
    keys: &[("collection", Kind::Text(64))],
    columns: &[
        ("icon", Kind::Text(30)),
        ("note", Kind::Text(0)),
        ("display_template", Kind::Text(255)),
        ("hidden", Kind::Flag(false)),
        ("singleton", Kind::Flag(false)),
        ("translations", Kind::Json),
        ("archive_field", Kind::Text(64)),
        ("archive_app_filter", Kind::Flag(true)),
        ("archive_value", Kind::Text(255)),
        ("unarchive_value", Kind::Text(255)),
        ("sort_field", Kind::Text(64)),
        ("accountability", Kind::Text(255)),
        ("color", Kind::Text(255)),
        ("item_duplication_fields", Kind::Json),
        ("sort", Kind::Integer),
        ("group", Kind::Text(64)),
        ("collapse", Kind::Text(255)),
    ],
};

pub const FIELDS: MetaTable = MetaTable {
    name: "directus_fields",
    keys: &[("id", Kind::Integer), ("collection", Kind::Text(64)), ("field", Kind::Text(64))],
    columns: &[
        ("special", Kind::List(64)),
        ("interface", Kind::Text(64)),
        ("options", Kind::Json),
        ("display", Kind::Text(64)),
        ("display_options", Kind::Json),
        ("readonly", Kind::Flag(false)),
        ("hidden", Kind::Flag(false)),
        ("sort", Kind::Integer),
        ("width", Kind::Text(30)),
        ("translations", Kind::Json),
        ("note", Kind::Text(0)),
        ("conditions", Kind::Json),
        ("required", Kind::Flag(false)),
        ("group", Kind::Text(64)),
        ("validation", Kind::Json),
        ("validation_message", Kind::Text(0)),
    ],
};

pub const RELATIONS: MetaTable = MetaTable {
    name: "directus_relations",
    keys: &[("id", Kind::Integer), ("many_collection", Kind::Text(64)), ("many_field", Kind::Text(64))],
    columns: &[
        ("one_collection", Kind::Text(64)),
        ("one_field", Kind::Text(64)),
        ("one_collection_field", Kind::Text(64)),
        ("one_allowed_collections", Kind::List(0)),
        ("junction_field", Kind::Text(64)),
        ("sort_field", Kind::Text(64)),
        ("one_deselect_action", Kind::Text(255)),
    ],
};
