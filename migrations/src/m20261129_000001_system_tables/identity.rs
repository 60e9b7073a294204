//! Roles, users, sessions.

use crate::table::{
    Kind::{Boolean, Json, Text, Timestamp, Uuid, Varchar},
    OnDelete, Table, column, string, uuid_key,
};

pub(super) const ROLES: Table = Table {
    name: "directus_roles",
    columns: &[
        uuid_key(),
        column("name", Varchar(100)).required(),
        column("icon", Varchar(30)).required().text_default("supervised_user_circle"),
        column("description", Text),
        column("ip_access", Text),
        column("enforce_tfa", Boolean).required().boolean_default(false),
        column("admin_access", Boolean).required().boolean_default(false),
        column("app_access", Boolean).required().boolean_default(true),
        string("key").required().unique(),
    ],
    unique: &[],
};

pub(super) const USERS: Table = Table {
    name: "directus_users",
    columns: &[
        uuid_key(),
        column("first_name", Varchar(50)),
        column("last_name", Varchar(50)),
        column("email", Varchar(128)).unique(),
        string("password"),
        string("location"),
        column("title", Varchar(50)),
        column("description", Text),
        column("tags", Json),
        column("avatar", Uuid),
        string("language"),
        column("theme", Varchar(20)).text_default("auto"),
        string("tfa_secret"),
        column("status", Varchar(16)).required().text_default("active"),
        column("role", Uuid).points_to("directus_roles", "id", OnDelete::SetNull),
        string("token").unique(),
        column("last_access", Timestamp),
        string("last_page"),
        column("provider", Varchar(128)).required().text_default("default"),
        string("external_identifier").unique(),
        column("auth_data", Json),
        column("email_notifications", Boolean).boolean_default(true),
    ],
    unique: &[],
};

pub(super) const SESSIONS: Table = Table {
    name: "directus_sessions",
    columns: &[
        column("token", Varchar(64)).primary(),
        column("user", Uuid).points_to("directus_users", "id", OnDelete::Cascade),
        column("expires", Timestamp).required(),
        string("ip"),
        string("user_agent"),
        column("share", Uuid).points_to("directus_shares", "id", OnDelete::Cascade),
        string("origin"),
    ],
    unique: &[],
};
