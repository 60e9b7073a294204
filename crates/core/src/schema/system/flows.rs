//! Flows and operations.

use super::{EMPTY, SystemCollection};

pub(super) const ALL: &[SystemCollection] = &[
    SystemCollection {
        name: "directus_flows",
        plain: &["name", "icon", "color", "description", "status", "trigger", "accountability"],
        uuids: &["id", "operation", "user_created"],
        timestamps: &["date_created"],
        specials: &[
            ("id", "uuid"),
            ("options", "cast-json"),
            ("date_created", "date-created"),
            ("user_created", "user-created"),
        ],
        aliases: &[("operations", "o2m")],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_operations",
        plain: &["name", "key", "type", "position_x", "position_y"],
        uuids: &["id", "resolve", "reject", "flow", "user_created"],
        timestamps: &["date_created"],
        specials: &[
            ("id", "uuid"),
            ("options", "cast-json"),
            ("date_created", "date-created"),
            ("user_created", "user-created"),
        ],
        ..EMPTY
    },
];
