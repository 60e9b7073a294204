//! Collections, fields, relations.

use super::{EMPTY, SystemCollection};

pub(super) const ALL: &[SystemCollection] = &[
    SystemCollection {
        name: "directus_collections",
        plain: &[
            "collection",
            "icon",
            "note",
            "display_template",
            "archive_field",
            "archive_value",
            "unarchive_value",
            "sort_field",
            "accountability",
            "color",
            "sort",
            "group",
            "collapse",
        ],
        specials: &[
            ("hidden", "cast-boolean"),
            ("singleton", "cast-boolean"),
            ("translations", "cast-json"),
            ("archive_app_filter", "cast-boolean"),
            ("item_duplication_fields", "cast-json"),
        ],
        aliases: &[("fields", "o2m")],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_fields",
        plain: &[
            "id",
            "collection",
            "field",
            "interface",
            "display",
            "sort",
            "width",
            "note",
            "group",
            "validation_message",
        ],
        specials: &[
            ("special", "cast-csv"),
            ("options", "cast-json"),
            ("display_options", "cast-json"),
            ("readonly", "cast-boolean"),
            ("hidden", "cast-boolean"),
            ("translations", "cast-json"),
            ("conditions", "cast-json"),
            ("required", "cast-boolean"),
            ("validation", "cast-json"),
        ],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_relations",
        plain: &[
            "id",
            "many_collection",
            "many_field",
            "one_collection",
            "one_field",
            "one_collection_field",
            "junction_field",
            "sort_field",
            "one_deselect_action",
        ],
        specials: &[("one_allowed_collections", "cast-csv")],
        ..EMPTY
    },
];
