//! Folders, files, activity, revisions, presets, settings.

use super::{super::Accountability, EMPTY, SystemCollection};

pub(super) const ALL: &[SystemCollection] = &[
    SystemCollection {
        name: "directus_folders",
        plain: &["name"],
        uuids: &["id", "parent"],
        specials: &[("id", "uuid")],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_files",
        plain: &[
            "storage",
            "filename_disk",
            "filename_download",
            "title",
            "type",
            "charset",
            "filesize",
            "width",
            "height",
            "duration",
            "embed",
            "description",
            "location",
        ],
        uuids: &["id", "folder", "uploaded_by", "modified_by"],
        timestamps: &["uploaded_on", "modified_on"],
        specials: &[
            ("id", "uuid"),
            ("folder", "m2o"),
            ("uploaded_by", "user-created"),
            ("modified_by", "user-updated"),
            ("modified_on", "date-updated"),
            ("tags", "cast-json"),
            ("metadata", "cast-json"),
        ],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_activity",
        accountability: Accountability::None,
        plain: &["id", "action", "ip", "user_agent", "collection", "item", "comment", "origin"],
        uuids: &["user"],
        timestamps: &["timestamp"],
        specials: &[("timestamp", "date-created,cast-timestamp")],
        aliases: &[("revisions", "o2m")],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_revisions",
        accountability: Accountability::None,
        plain: &["id", "activity", "collection", "item", "parent"],
        specials: &[("data", "cast-json"), ("delta", "cast-json")],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_presets",
        accountability: Accountability::None,
        plain: &["id", "bookmark", "collection", "search", "layout", "refresh_interval", "icon", "color"],
        uuids: &["user", "role"],
        specials: &[("layout_query", "cast-json"), ("layout_options", "cast-json"), ("filter", "cast-json")],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_settings",
        singleton: true,
        plain: &[
            "id",
            "project_name",
            "project_url",
            "project_descriptor",
            "project_color",
            "public_note",
            "default_language",
            "auth_login_attempts",
            "auth_password_policy",
            "storage_asset_transform",
            "custom_css",
            "mapbox_key",
        ],
        uuids: &["project_logo", "public_foreground", "public_background", "storage_default_folder"],
        specials: &[
            ("storage_asset_presets", "cast-json"),
            ("basemaps", "cast-json"),
            ("module_bar", "cast-json"),
            ("custom_aspect_ratios", "cast-json"),
            ("translation_strings", "cast-json"),
        ],
        aliases: &[
            ("branding_divider", "alias,no-data"),
            ("modules_divider", "alias,no-data"),
            ("security_divider", "alias,no-data"),
            ("files_divider", "alias,no-data"),
            ("map_divider", "alias,no-data"),
            ("image_editor", "alias,no-data"),
        ],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_translations",
        plain: &["language", "key", "value"],
        uuids: &["id"],
        specials: &[("id", "uuid")],
        ..EMPTY
    },
];
