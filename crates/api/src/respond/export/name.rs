//! What the file of an export is called after.

/// The collection that a path is about; `Export` when it is about none.
#[must_use]
pub fn collection_of(path: &str) -> String {
    let mut segments = path.split('/').filter(|segment| !segment.is_empty());
    match (segments.next(), segments.next()) {
        (Some("items"), Some(collection)) => {
            percent_encoding::percent_decode_str(collection).decode_utf8_lossy().into()
        }
        (Some(family @ ("users" | "roles" | "permissions" | "collections" | "fields" | "relations")), _) => {
            format!("directus_{family}")
        }
        _ => "Export".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::collection_of;

    #[test]
    fn files_are_named_after_their_collection() {
        for (path, name) in [
            ("/items/b%C3%BCcher/7", "bücher"),
            ("/users/me", "directus_users"),
            ("/fields/books", "directus_fields"),
            ("/server/info", "Export"),
            ("/", "Export"),
        ] {
            assert_eq!(collection_of(path), name, "{path}");
        }
    }
}
