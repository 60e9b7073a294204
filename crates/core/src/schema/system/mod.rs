//! What the server knows by itself of its own tables: specials and types of their columns, alias
//! fields, relations, accountability. Data only; `overlay` puts it onto the catalogue.
//! Source: system-tables §1–§15.

mod access;
mod content;
mod data_model;
mod flows;
mod insights;
mod relations;

use super::Accountability;

pub(super) use relations::RELATIONS;

/// Prefix of the server's own tables.
pub const SYSTEM_PREFIX: &str = "directus_";

/// Tables that are no collections at all: sessions hold refresh tokens, the others are bookkeeping.
/// They are never in a [`super::Schema`], so no query, relation or item route can reach them.
pub(super) const HIDDEN: &[&str] =
    &["directus_sessions", "directus_migrations", "waymark_migrations", "cairncms_extension_settings"];

/// What is known of one system collection. Columns that stand in no list have neither special nor a
/// type of their own, but are system fields all the same when they are in `plain`.
pub(super) struct SystemCollection {
    pub(super) name: &'static str,
    pub(super) accountability: Accountability,
    pub(super) singleton: bool,
    pub(super) archive: Option<Archive>,
    pub(super) plain: &'static [&'static str],
    /// Uuid columns (the engine may only know `char(36)`); specials stand in `specials`.
    pub(super) uuids: &'static [&'static str],
    /// Points in time (SQLite only knows `datetime`).
    pub(super) timestamps: &'static [&'static str],
    /// Column and its specials, separated by commas.
    pub(super) specials: &'static [(&'static str, &'static str)],
    /// Fields without column, with their specials.
    pub(super) aliases: &'static [(&'static str, &'static str)],
}

/// Archive settings as the metadata of a collection has them.
pub(super) struct Archive {
    pub(super) field: &'static str,
    pub(super) value: &'static str,
    pub(super) unarchive: &'static str,
}

pub(super) const EMPTY: SystemCollection = SystemCollection {
    name: "",
    accountability: Accountability::All,
    singleton: false,
    archive: None,
    plain: &[],
    uuids: &[],
    timestamps: &[],
    specials: &[],
    aliases: &[],
};

pub(super) fn collections() -> impl Iterator<Item = &'static SystemCollection> {
    [data_model::ALL, access::ALL, content::ALL, insights::ALL, flows::ALL].into_iter().flatten()
}

impl SystemCollection {
    /// Whether a column of this name belongs to the layout (and isn't an operator's custom field).
    pub(super) fn owns(&self, column: &str) -> bool {
        self.plain.contains(&column)
            || self.uuids.contains(&column)
            || self.timestamps.contains(&column)
            || self.specials.iter().any(|(name, _)| *name == column)
    }

    pub(super) fn specials_of(&self, field: &str) -> Option<&'static str> {
        let known = self.specials.iter().chain(self.aliases).find(|(name, _)| *name == field);
        known.map(|(_, specials)| *specials)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_collection_is_described_twice_and_no_relation_hangs_in_the_air() {
        let mut names = HashSet::new();
        for collection in collections() {
            assert!(names.insert(collection.name), "{}", collection.name);
        }
        for relation in RELATIONS {
            let many = collections().find(|collection| collection.name == relation.many_collection).unwrap();
            assert!(many.owns(relation.many_field), "{}.{}", relation.many_collection, relation.many_field);
            let one = collections().find(|collection| collection.name == relation.one_collection).unwrap();
            if let Some(field) = relation.one_field {
                assert_eq!(one.specials_of(field), Some("o2m"), "{}.{field}", one.name);
            }
        }
    }
}
