//! Relations between system collections, those without a foreign key included (system-tables §15).
//! Relations of the hidden tables are left out with them.

use super::super::Deselect;

/// One many-to-one relation between system collections.
pub(in super::super) struct SystemRelation {
    pub(in super::super) many_collection: &'static str,
    pub(in super::super) many_field: &'static str,
    pub(in super::super) one_collection: &'static str,
    pub(in super::super) one_field: Option<&'static str>,
    pub(in super::super) deselect: Deselect,
}

const fn many_to_one(
    many_collection: &'static str,
    many_field: &'static str,
    one_collection: &'static str,
) -> SystemRelation {
    SystemRelation { many_collection, many_field, one_collection, one_field: None, deselect: Deselect::Nullify }
}

impl SystemRelation {
    const fn listed_as(mut self, one_field: &'static str) -> Self {
        self.one_field = Some(one_field);
        self
    }

    const fn deleting(mut self) -> Self {
        self.deselect = Deselect::Delete;
        self
    }
}

pub(in super::super) const RELATIONS: &[SystemRelation] = &[
    many_to_one("directus_collections", "group", "directus_collections"),
    many_to_one("directus_users", "role", "directus_roles").listed_as("users"),
    many_to_one("directus_users", "avatar", "directus_files"),
    many_to_one("directus_revisions", "activity", "directus_activity").listed_as("revisions"),
    many_to_one("directus_revisions", "parent", "directus_revisions"),
    many_to_one("directus_presets", "user", "directus_users"),
    many_to_one("directus_presets", "role", "directus_roles"),
    many_to_one("directus_folders", "parent", "directus_folders"),
    many_to_one("directus_files", "folder", "directus_folders"),
    many_to_one("directus_files", "uploaded_by", "directus_users"),
    many_to_one("directus_files", "modified_by", "directus_users"),
    many_to_one("directus_fields", "collection", "directus_collections").listed_as("fields"),
    many_to_one("directus_fields", "group", "directus_fields"),
    many_to_one("directus_activity", "user", "directus_users"),
    many_to_one("directus_settings", "project_logo", "directus_files"),
    many_to_one("directus_settings", "public_foreground", "directus_files"),
    many_to_one("directus_settings", "public_background", "directus_files"),
    many_to_one("directus_settings", "storage_default_folder", "directus_folders"),
    many_to_one("directus_panels", "dashboard", "directus_dashboards").listed_as("panels"),
    many_to_one("directus_flows", "operation", "directus_operations"),
    many_to_one("directus_operations", "flow", "directus_flows").listed_as("operations").deleting(),
    many_to_one("directus_operations", "resolve", "directus_operations"),
    many_to_one("directus_operations", "reject", "directus_operations"),
    many_to_one("directus_permissions", "role", "directus_roles"),
    many_to_one("directus_dashboards", "user_created", "directus_users"),
    many_to_one("directus_panels", "user_created", "directus_users"),
    many_to_one("directus_flows", "user_created", "directus_users"),
    many_to_one("directus_operations", "user_created", "directus_users"),
    many_to_one("directus_shares", "user_created", "directus_users"),
    many_to_one("directus_notifications", "recipient", "directus_users"),
    many_to_one("directus_notifications", "sender", "directus_users"),
    many_to_one("directus_shares", "role", "directus_roles"),
    many_to_one("directus_shares", "collection", "directus_collections"),
];
