//! The overlay on catalogues written down by hand.

use serde_json::json;

use super::*;
use crate::schema::{Column, FieldType, ForeignKey, Side, inspect::RawColumn};

fn column(kind: FieldType, data_type: &str) -> RawColumn {
    let max_length = (data_type == "char").then_some(36);
    RawColumn { kind, column: Column { data_type: data_type.to_owned(), max_length, ..Column::default() } }
}

fn key(mut raw: RawColumn) -> RawColumn {
    raw.column.primary_key = true;
    raw
}

fn pointing(mut raw: RawColumn, table: &str) -> RawColumn {
    raw.column.foreign_key = Some(ForeignKey {
        table: table.into(),
        column: "id".into(),
        constraint: "c".into(),
        on_update: "NO ACTION".into(),
        on_delete: "SET NULL".into(),
    });
    raw
}

fn table<const N: usize>(columns: [(&str, RawColumn); N]) -> RawTable {
    let columns = columns.into_iter().map(|(name, raw)| (name.to_owned(), raw)).collect();
    RawTable { columns, ..RawTable::default() }
}

fn row(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn built(tables: IndexMap<String, RawTable>, stored: &Stored) -> Built {
    build(1, tables, stored, &["secret".to_owned()])
}

#[test]
fn tables_without_one_key_are_left_out() {
    let tables = IndexMap::from([
        ("none".to_owned(), table([("a", column(FieldType::Integer, "integer"))])),
        (
            "two".to_owned(),
            table([
                ("a", key(column(FieldType::Integer, "integer"))),
                ("b", key(column(FieldType::Integer, "integer"))),
            ]),
        ),
        ("with space".to_owned(), table([("id", key(column(FieldType::Integer, "integer")))])),
        ("secret".to_owned(), table([("id", key(column(FieldType::Integer, "integer")))])),
        ("directus_sessions".to_owned(), table([("token", key(column(FieldType::String, "varchar")))])),
        ("good".to_owned(), table([("id", key(column(FieldType::Integer, "integer")))])),
    ]);
    let built = built(tables, &Stored::default());
    assert_eq!(built.schema.collections.keys().map(|name| &**name).collect::<Vec<_>>(), ["good"]);
    assert_eq!(built.left_out.len(), 3);
}

#[test]
fn specials_type_fields_and_relations_link_them() {
    let tables = IndexMap::from([
        (
            "authors".to_owned(),
            table([("id", key(column(FieldType::String, "char"))), ("tags", column(FieldType::Text, "text"))]),
        ),
        (
            "books".to_owned(),
            table([
                ("id", key(column(FieldType::Integer, "integer"))),
                ("author", pointing(column(FieldType::String, "char"), "authors")),
                ("number", column(FieldType::Integer, "integer")),
            ]),
        ),
        (
            "notes".to_owned(),
            table([
                ("id", key(column(FieldType::Integer, "integer"))),
                ("book", pointing(column(FieldType::Integer, "integer"), "books")),
                ("item", column(FieldType::String, "varchar")),
                ("kind", column(FieldType::String, "varchar")),
            ]),
        ),
    ]);
    let mut stored = Stored::default();
    stored
        .collections
        .insert("books".into(), row(json!({"accountability": null, "singleton": true, "sort_field": "number"})));
    stored.fields.insert(
        "authors".into(),
        vec![
            row(json!({"id": 1, "field": "id", "special": ["uuid"]})),
            row(json!({"id": 2, "field": "tags", "special": ["cast-csv"], "validation": {"tags": {"_nnull": true}}})),
            row(json!({"id": 3, "field": "books", "special": null, "sort": 2})),
            row(json!({"id": 4, "field": "gone", "special": null})),
            row(json!({"id": 5, "field": "line", "special": ["alias", "no-data"], "sort": 1})),
        ],
    );
    stored.relations = vec![
        row(
            json!({"many_collection": "books", "many_field": "author", "one_collection": "authors", "one_field": "books", "one_deselect_action": "delete"}),
        ),
        row(
            json!({"many_collection": "notes", "many_field": "item", "one_collection_field": "kind", "one_allowed_collections": ["books", "authors"]}),
        ),
        row(json!({"many_collection": "nowhere", "many_field": "item", "one_collection": "books"})),
    ];
    let schema = built(tables, &stored).schema;
    let (authors, books) = (schema.collection("authors").unwrap(), schema.collection("books").unwrap());
    assert_eq!(authors.fields.keys().map(|name| &**name).collect::<Vec<_>>(), ["id", "tags", "line", "books"]);
    assert_eq!(authors.primary_field().kind, FieldType::Uuid);
    assert_eq!(authors.field("tags").unwrap().kind, FieldType::Csv);
    assert!(authors.field("tags").unwrap().validation.is_some());
    assert_eq!(books.field("author").unwrap().kind, FieldType::Uuid);
    assert_eq!(books.accountability, Accountability::None);
    assert!(books.singleton);
    assert_eq!(books.sort_field.as_deref(), Some("number"));
    assert_eq!(books.link("author").unwrap().side, Side::ManyToOne);
    assert_eq!(authors.link("books").unwrap().side, Side::OneToMany);
    assert!(authors.link("books").unwrap().relation.foreign_key.is_some());
    let notes = schema.collection("notes").unwrap();
    assert_eq!(notes.accountability, Accountability::All);
    assert_eq!(notes.link("item").unwrap().side, Side::ManyToAny);
    assert!(notes.link("book").unwrap().relation.meta.is_none());
    assert_eq!(schema.relations.len(), 3);
}
