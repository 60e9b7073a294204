//! Permissions and shares.

use crate::table::{
    Kind::{Integer, Json, Text, Timestamp, Uuid, Varchar},
    OnDelete, Table, column, increment, string, uuid_key,
};

pub(super) const PERMISSIONS: Table = Table {
    name: "directus_permissions",
    columns: &[
        increment(),
        column("role", Uuid).required().points_to("directus_roles", "id", OnDelete::Cascade),
        column("collection", Varchar(64)).required(),
        column("action", Varchar(10)).required(),
        column("permissions", Json),
        column("validation", Json),
        column("presets", Json),
        column("fields", Text),
    ],
    unique: &[("directus_permissions_identity_unique", &["role", "collection", "action"])],
};

pub(super) const SHARES: Table = Table {
    name: "directus_shares",
    columns: &[
        uuid_key(),
        string("name"),
        column("collection", Varchar(64)).points_to("directus_collections", "collection", OnDelete::Cascade),
        string("item"),
        column("role", Uuid).points_to("directus_roles", "id", OnDelete::Cascade),
        string("password"),
        column("user_created", Uuid).points_to("directus_users", "id", OnDelete::SetNull),
        column("date_created", Timestamp).now_default(),
        column("date_start", Timestamp),
        column("date_end", Timestamp),
        column("times_used", Integer).integer_default(0),
        column("max_uses", Integer),
    ],
    unique: &[],
};
