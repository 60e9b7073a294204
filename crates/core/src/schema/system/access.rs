//! Roles, users, permissions, shares.

use super::{Archive, EMPTY, SystemCollection};

pub(super) const ALL: &[SystemCollection] = &[
    SystemCollection {
        name: "directus_roles",
        plain: &["name", "icon", "description", "key"],
        uuids: &["id"],
        specials: &[
            ("id", "uuid"),
            ("ip_access", "cast-csv"),
            ("enforce_tfa", "cast-boolean"),
            ("admin_access", "cast-boolean"),
            ("app_access", "cast-boolean"),
        ],
        aliases: &[("users", "o2m")],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_users",
        archive: Some(Archive { field: "status", value: "archived", unarchive: "draft" }),
        plain: &[
            "first_name",
            "last_name",
            "email",
            "location",
            "title",
            "description",
            "language",
            "theme",
            "status",
            "last_page",
            "provider",
        ],
        uuids: &["id", "avatar", "role"],
        timestamps: &["last_access"],
        specials: &[
            ("id", "uuid"),
            ("password", "hash,conceal"),
            ("tags", "cast-json"),
            ("avatar", "file"),
            ("tfa_secret", "conceal"),
            ("role", "m2o"),
            ("token", "conceal"),
            ("external_identifier", "conceal"),
            ("auth_data", "conceal,cast-json"),
            ("email_notifications", "cast-boolean"),
        ],
        aliases: &[("preferences_divider", "alias,no-data"), ("admin_divider", "alias,no-data")],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_permissions",
        plain: &["id", "collection", "action"],
        uuids: &["role"],
        specials: &[
            ("permissions", "cast-json"),
            ("validation", "cast-json"),
            ("presets", "cast-json"),
            ("fields", "cast-csv"),
        ],
        ..EMPTY
    },
    SystemCollection {
        name: "directus_shares",
        plain: &["name", "collection", "item", "times_used", "max_uses"],
        uuids: &["id", "role", "user_created"],
        timestamps: &["date_created", "date_start", "date_end"],
        specials: &[
            ("id", "uuid"),
            ("password", "hash,conceal"),
            ("user_created", "user-created"),
            ("date_created", "date-created"),
        ],
        ..EMPTY
    },
];
