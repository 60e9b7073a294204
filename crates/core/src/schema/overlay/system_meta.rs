//! Metadata of the server's own collections, in the shape of stored rows, with `"system": true`.
//! Stored rows for them (an operator may have changed a display) are laid over.

use serde_json::{Map, Value, json};

use super::super::{
    Accountability, Deselect,
    system::{RELATIONS, SystemCollection},
};

type Row = Map<String, Value>;

fn row(value: Value) -> Row {
    match value {
        Value::Object(map) => map,
        _ => Row::new(),
    }
}

/// What is stored counts, except for what the server's own work rests on. A stored NULL says nothing:
/// a row that was made to change one setting holds NULL for all the others.
fn laid_over(mut base: Row, stored: Option<&Row>, fixed: &[&str]) -> Row {
    for (key, value) in stored.into_iter().flatten() {
        let says_nothing = value.is_null() && base.contains_key(key);
        if !says_nothing && !fixed.contains(&key.as_str()) {
            base.insert(key.clone(), value.clone());
        }
    }
    base
}

pub(super) fn collection(own: &SystemCollection, stored: Option<&Row>) -> Row {
    let accountability = match own.accountability {
        Accountability::All => Some("all"),
        Accountability::Activity => Some("activity"),
        Accountability::None => None,
    };
    let base = json!({
        "collection": own.name, "icon": null, "note": null, "display_template": null, "hidden": false,
        "singleton": own.singleton, "translations": null,
        "archive_field": own.archive.as_ref().map(|archive| archive.field), "archive_app_filter": true,
        "archive_value": own.archive.as_ref().map(|archive| archive.value),
        "unarchive_value": own.archive.as_ref().map(|archive| archive.unarchive),
        "sort_field": null, "accountability": accountability, "color": null, "item_duplication_fields": null,
        "sort": null, "group": null, "collapse": "open", "system": true,
    });
    laid_over(row(base), stored, &["collection", "singleton", "accountability", "system"])
}

/// `position` counts from 1.
pub(super) fn field(
    own: &SystemCollection,
    name: &str,
    specials: Option<&str>,
    position: usize,
    stored: Option<&Row>,
) -> Row {
    let special: Option<Vec<&str>> = specials.map(|names| names.split(',').collect());
    let base = json!({
        "id": null, "collection": own.name, "field": name, "special": special, "interface": null, "options": null,
        "display": null, "display_options": null, "readonly": false, "hidden": false, "sort": position,
        "width": "full", "translations": null, "note": null, "conditions": null, "required": false, "group": null,
        "validation": null, "validation_message": null, "system": true,
    });
    laid_over(row(base), stored, &["collection", "field", "special", "system"])
}

/// `index` is a position in [`RELATIONS`].
pub(super) fn relation(index: usize) -> Row {
    let Some(known) = RELATIONS.get(index) else { return Row::new() };
    row(json!({
        "id": null, "many_collection": known.many_collection, "many_field": known.many_field,
        "one_collection": known.one_collection, "one_field": known.one_field, "one_collection_field": null,
        "one_allowed_collections": null, "junction_field": null, "sort_field": null,
        "one_deselect_action": match known.deselect { Deselect::Nullify => "nullify", Deselect::Delete => "delete" },
        "system": true,
    }))
}
