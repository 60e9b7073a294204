//! Dashboards, panels, notifications.

use crate::table::{
    Kind::{Boolean, Integer, Json, Text, Timestamp, Uuid, Varchar},
    OnDelete, Table, column, increment, string, uuid_key,
};

pub(super) const DASHBOARDS: Table = Table {
    name: "directus_dashboards",
    columns: &[
        uuid_key(),
        string("name").required(),
        column("icon", Varchar(30)).required().text_default("dashboard"),
        column("note", Text),
        column("date_created", Timestamp).now_default(),
        column("user_created", Uuid).points_to("directus_users", "id", OnDelete::SetNull),
        string("color"),
    ],
    unique: &[],
};

pub(super) const PANELS: Table = Table {
    name: "directus_panels",
    columns: &[
        uuid_key(),
        column("dashboard", Uuid).required().points_to("directus_dashboards", "id", OnDelete::Cascade),
        string("name"),
        column("icon", Varchar(30)),
        column("color", Varchar(10)),
        column("show_header", Boolean).required().boolean_default(false),
        column("note", Text),
        string("type").required(),
        column("position_x", Integer).required(),
        column("position_y", Integer).required(),
        column("width", Integer).required(),
        column("height", Integer).required(),
        column("options", Json),
        column("date_created", Timestamp).now_default(),
        column("user_created", Uuid).points_to("directus_users", "id", OnDelete::SetNull),
    ],
    unique: &[],
};

pub(super) const NOTIFICATIONS: Table = Table {
    name: "directus_notifications",
    columns: &[
        increment(),
        column("timestamp", Timestamp).now_default(),
        string("status").text_default("inbox"),
        column("recipient", Uuid).required().points_to("directus_users", "id", OnDelete::Cascade),
        column("sender", Uuid).points_to("directus_users", "id", OnDelete::NoAction),
        string("subject").required(),
        column("message", Text),
        column("collection", Varchar(64)),
        string("item"),
    ],
    unique: &[],
};
