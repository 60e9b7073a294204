//! The minimum that a role with app access is granted beside its own rows (http-permissions §4).

use serde_json::{Value, json};

use super::{Action, rows::StoredRule};

/// The rows of the minimum, as if they were stored.
pub(crate) fn minimum() -> Vec<StoredRule> {
    use Action::{Create, Delete, Read, Update};
    let mine = || json!({"user": {"_eq": "$CURRENT_USER"}});
    let row = |collection: &str, action, permissions: Option<Value>, fields: &[&str]| StoredRule {
        collection: collection.to_owned(),
        action,
        permissions,
        validation: None,
        presets: None,
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
    };
    let all = &["*"][..];
    vec![
        row("directus_collections", Read, None, all),
        row("directus_fields", Read, None, all),
        row("directus_relations", Read, None, all),
        row("directus_permissions", Read, Some(json!({"role": {"_eq": "$CURRENT_ROLE"}})), all),
        row("directus_activity", Read, Some(mine()), all),
        StoredRule {
            validation: Some(json!({"comment": {"_nnull": true}})),
            ..row("directus_activity", Create, None, all)
        },
        row(
            "directus_presets",
            Read,
            Some(json!({"_or": [
                mine(),
                {"_and": [{"user": {"_null": true}}, {"role": {"_eq": "$CURRENT_ROLE"}}]},
                {"_and": [{"user": {"_null": true}}, {"role": {"_null": true}}]},
            ]})),
            all,
        ),
        StoredRule {
            validation: Some(mine()),
            presets: Some(json!({"user": "$CURRENT_USER"})),
            ..row("directus_presets", Create, None, all)
        },
        StoredRule { validation: Some(mine()), ..row("directus_presets", Update, Some(mine()), all) },
        row("directus_presets", Delete, Some(mine()), all),
        row("directus_roles", Read, Some(json!({"id": {"_eq": "$CURRENT_ROLE"}})), all),
        row("directus_settings", Read, None, all),
        row("directus_notifications", Read, Some(json!({"recipient": {"_eq": "$CURRENT_USER"}})), all),
        row("directus_notifications", Update, Some(json!({"recipient": {"_eq": "$CURRENT_USER"}})), &["status"]),
        row("directus_shares", Read, Some(json!({"user_created": {"_eq": "$CURRENT_USER"}})), all),
        row(
            "directus_users",
            Read,
            Some(json!({"id": {"_eq": "$CURRENT_USER"}})),
            &[
                "id",
                "first_name",
                "last_name",
                "last_page",
                "email",
                "password",
                "location",
                "title",
                "description",
                "tags",
                "preferences_divider",
                "avatar",
                "language",
                "theme",
                "tfa_secret",
                "status",
                "role",
            ],
        ),
    ]
}
