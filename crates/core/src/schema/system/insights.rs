//! Dashboards, panels, notifications.

use super::{EMPTY, SystemCollection};

pub(super) const ALL: &[SystemCollection] = &[
    SystemCollection {
        name: "directus_dashboards",
        plain: &["name", "icon", "note", "color"],
        uuids: &["id", "user_created"],
        timestamps: &["date_created"],
        specials: &[("id", "uuid"), ("date_created", "date-created"), ("user_created", "user-created")],
        aliases: &[("panels", "o2m")],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_panels",
        plain: &["name", "icon", "color", "note", "type", "position_x", "position_y", "width", "height"],
        uuids: &["id", "dashboard", "user_created"],
        timestamps: &["date_created"],
        specials: &[
            ("id", "uuid"),
            ("show_header", "cast-boolean"),
            ("options", "cast-json"),
            ("date_created", "date-created"),
            ("user_created", "user-created"),
        ],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_notifications",
        plain: &["id", "status", "subject", "message", "collection", "item"],
        uuids: &["recipient", "sender"],
        timestamps: &["timestamp"],
        specials: &[("timestamp", "date-created")],
        ..EMPTY
    },
];
