//! Presets, settings, and the bookkeeping table of servers of the same layout.

use crate::table::{
    Kind::{Integer, Json, Text, Timestamp, Unsigned, Uuid, Varchar},
    OnDelete, Table, column, increment, string,
};

pub(super) const PRESETS: Table = Table {
    name: "directus_presets",
    columns: &[
        increment(),
        string("bookmark"),
        column("user", Uuid).points_to("directus_users", "id", OnDelete::Cascade),
        column("role", Uuid).points_to("directus_roles", "id", OnDelete::Cascade),
        column("collection", Varchar(64)),
        column("search", Varchar(100)),
        column("layout", Varchar(100)).text_default("tabular"),
        column("layout_query", Json),
        column("layout_options", Json),
        column("refresh_interval", Integer),
        column("filter", Json),
        column("icon", Varchar(30)).text_default("bookmark"),
        string("color"),
    ],
    unique: &[],
};

pub(super) const SETTINGS: Table = Table {
    name: "directus_settings",
    columns: &[
        increment(),
        column("project_name", Varchar(100)).required().text_default("Waymark"),
        string("project_url"),
        column("project_descriptor", Varchar(100)),
        column("project_color", Varchar(50)),
        column("project_logo", Uuid).points_to("directus_files", "id", OnDelete::NoAction),
        column("public_foreground", Uuid).points_to("directus_files", "id", OnDelete::NoAction),
        column("public_background", Uuid).points_to("directus_files", "id", OnDelete::NoAction),
        column("public_note", Text),
        string("default_language").required().text_default("en-US"),
        column("auth_login_attempts", Unsigned).integer_default(25),
        column("auth_password_policy", Varchar(100)),
        column("storage_asset_transform", Varchar(7)).text_default("all"),
        column("storage_asset_presets", Json),
        column("storage_default_folder", Uuid).points_to("directus_folders", "id", OnDelete::SetNull),
        column("custom_css", Text),
        column("basemaps", Json),
        string("mapbox_key"),
        column("module_bar", Json),
        column("custom_aspect_ratios", Json),
        column("translation_strings", Json).retired(),
    ],
    unique: &[],
};

/// Not ours: there so that the layout is whole. Never written.
pub(super) const MIGRATIONS: Table = Table {
    name: "directus_migrations",
    columns: &[
        string("version").primary(),
        string("name").required(),
        column("timestamp", Timestamp).now_default().retired(),
    ],
    unique: &[],
};
