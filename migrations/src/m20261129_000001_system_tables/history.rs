//! Activity and revisions.

use crate::table::{
    Kind::{Json, Text, Timestamp, Unsigned, Uuid, Varchar},
    OnDelete, Table, column, increment, string,
};

pub(super) const ACTIVITY: Table = Table {
    name: "directus_activity",
    columns: &[
        increment(),
        column("action", Varchar(45)).required(),
        column("user", Uuid),
        column("timestamp", Timestamp).required().now_default(),
        column("ip", Varchar(50)),
        string("user_agent"),
        column("collection", Varchar(64)).required(),
        string("item").required(),
        column("comment", Text),
        string("origin"),
    ],
    unique: &[],
};

pub(super) const REVISIONS: Table = Table {
    name: "directus_revisions",
    columns: &[
        increment(),
        column("activity", Unsigned).required().points_to("directus_activity", "id", OnDelete::Cascade),
        column("collection", Varchar(64)).required(),
        string("item").required(),
        column("data", Json),
        column("delta", Json),
        column("parent", Unsigned).points_to("directus_revisions", "id", OnDelete::NoAction),
    ],
    unique: &[],
};
