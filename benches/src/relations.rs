//! Stored metadata of the collections: the lists of related items, and that writes of purchases are not
//! recorded. Columns and foreign keys are found in the tables.

/// Rows of the system tables, for an empty installation.
pub const METADATA: &[&str] = &[
    "INSERT INTO directus_collections (collection, accountability) VALUES ('purchases', NULL), ('purchase_lines', NULL)",
    "INSERT INTO directus_fields (collection, field, special) VALUES ('posts', 'comments', 'o2m'), \
     ('posts', 'tags', 'm2m'), ('purchases', 'lines', 'o2m')",
    "INSERT INTO directus_relations (many_collection, many_field, one_collection, one_field, junction_field) VALUES \
     ('posts', 'author', 'authors', NULL, NULL), ('comments', 'post', 'posts', 'comments', NULL), \
     ('posts_tags', 'posts_id', 'posts', 'tags', 'tags_id'), ('posts_tags', 'tags_id', 'tags', NULL, 'posts_id'), \
     ('purchases', 'buyer', 'authors', NULL, NULL), ('purchase_lines', 'purchase', 'purchases', 'lines', NULL)",
];
