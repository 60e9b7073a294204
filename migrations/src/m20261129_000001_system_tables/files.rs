//! Folders and files.

use crate::table::{
    Kind::{BigInteger, Json, Text, Timestamp, Unsigned, Uuid, Varchar},
    OnDelete, Table, column, string, uuid_key,
};

pub(super) const FOLDERS: Table = Table {
    name: "directus_folders",
    columns: &[
        uuid_key(),
        string("name").required(),
        column("parent", Uuid).points_to("directus_folders", "id", OnDelete::NoAction),
    ],
    unique: &[],
};

pub(super) const FILES: Table = Table {
    name: "directus_files",
    columns: &[
        uuid_key(),
        string("storage").required(),
        string("filename_disk"),
        string("filename_download").required(),
        string("title"),
        string("type"),
        column("folder", Uuid).points_to("directus_folders", "id", OnDelete::SetNull),
        column("uploaded_by", Uuid).points_to("directus_users", "id", OnDelete::NoAction),
        column("uploaded_on", Timestamp).required().now_default(),
        column("modified_by", Uuid).points_to("directus_users", "id", OnDelete::NoAction),
        column("modified_on", Timestamp).required().now_default(),
        column("charset", Varchar(50)),
        column("filesize", BigInteger),
        column("width", Unsigned),
        column("height", Unsigned),
        column("duration", Unsigned),
        column("embed", Varchar(200)),
        column("description", Text),
        column("location", Text),
        column("tags", Text),
        column("metadata", Json),
    ],
    unique: &[],
};
