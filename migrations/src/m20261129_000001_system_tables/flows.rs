//! Flows and operations.

use crate::table::{
    Kind::{Integer, Json, Text, Timestamp, Uuid, Varchar},
    OnDelete, Table, column, string, uuid_key,
};

pub(super) const FLOWS: Table = Table {
    name: "directus_flows",
    columns: &[
        uuid_key(),
        string("name").required(),
        column("icon", Varchar(30)),
        string("color"),
        column("description", Text),
        string("status").required().text_default("active"),
        string("trigger"),
        string("accountability").text_default("all"),
        column("options", Json),
        column("operation", Uuid).unique(),
        column("date_created", Timestamp).now_default(),
        column("user_created", Uuid).points_to("directus_users", "id", OnDelete::SetNull),
    ],
    unique: &[],
};

pub(super) const OPERATIONS: Table = Table {
    name: "directus_operations",
    columns: &[
        uuid_key(),
        string("name"),
        string("key").required(),
        string("type").required(),
        column("position_x", Integer).required(),
        column("position_y", Integer).required(),
        column("options", Json),
        column("resolve", Uuid).unique().points_to("directus_operations", "id", OnDelete::NoAction),
        column("reject", Uuid).unique().points_to("directus_operations", "id", OnDelete::NoAction),
        column("flow", Uuid).required().points_to("directus_flows", "id", OnDelete::Cascade),
        column("date_created", Timestamp).now_default(),
        column("user_created", Uuid).points_to("directus_users", "id", OnDelete::SetNull),
    ],
    unique: &[],
};
