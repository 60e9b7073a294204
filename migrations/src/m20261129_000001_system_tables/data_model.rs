//! Collections, fields, relations: what is stored about the operator's tables.

use crate::table::{
    Kind::{Boolean, Integer, Json, Text, Unsigned, Varchar},
    OnDelete, Table, column, increment, string,
};

pub(super) const COLLECTIONS: Table = Table {
    name: "directus_collections",
    columns: &[
        column("collection", Varchar(64)).primary(),
        column("icon", Varchar(30)),
        column("note", Text),
        string("display_template"),
        column("hidden", Boolean).required().boolean_default(false),
        column("singleton", Boolean).required().boolean_default(false),
        column("translations", Json),
        column("archive_field", Varchar(64)),
        column("archive_app_filter", Boolean).required().boolean_default(true),
        string("archive_value"),
        string("unarchive_value"),
        column("sort_field", Varchar(64)),
        string("accountability").text_default("all"),
        string("color"),
        column("item_duplication_fields", Json),
        column("sort", Integer),
        column("group", Varchar(64)).points_to("directus_collections", "collection", OnDelete::NoAction),
        string("collapse").required().text_default("open"),
    ],
    unique: &[],
};

pub(super) const FIELDS: Table = Table {
    name: "directus_fields",
    columns: &[
        increment(),
        column("collection", Varchar(64)).required(),
        column("field", Varchar(64)).required(),
        column("special", Varchar(64)),
        column("interface", Varchar(64)),
        column("options", Json),
        column("display", Varchar(64)),
        column("display_options", Json),
        column("readonly", Boolean).required().boolean_default(false),
        column("hidden", Boolean).required().boolean_default(false),
        column("sort", Unsigned),
        column("width", Varchar(30)).text_default("full"),
        column("translations", Json),
        column("note", Text),
        column("conditions", Json),
        column("required", Boolean).boolean_default(false),
        column("group", Varchar(64)),
        column("validation", Json),
        column("validation_message", Text),
    ],
    unique: &[],
};

pub(super) const RELATIONS: Table = Table {
    name: "directus_relations",
    columns: &[
        increment(),
        column("many_collection", Varchar(64)).required(),
        column("many_field", Varchar(64)).required(),
        column("one_collection", Varchar(64)),
        column("one_field", Varchar(64)),
        column("one_collection_field", Varchar(64)),
        column("one_allowed_collections", Text),
        column("junction_field", Varchar(64)),
        column("sort_field", Varchar(64)),
        string("one_deselect_action").required().text_default("nullify"),
    ],
    unique: &[],
};
