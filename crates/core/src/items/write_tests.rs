//! Writing rows against a real engine: SQLite in memory, or the database that
//! `WAYMARK_TEST_DATABASE_URL` names (then with `--test-threads=1`: the tests share a table).

use std::sync::Arc;

use indexmap::IndexMap;
use sea_orm::{ConnectOptions, Database, Statement};
use serde_json::{Map, Value, json};

use super::{create, events::NoSink, hooks::Hooks};
use crate::{
    context::{Ctx, Engine, EngineSettings},
    error::Code,
    ident::Key,
    schema::{Accountability, Collection, Column, Field, FieldType, Schema, Special, SpecialSet, TableInfo},
    store::{Db, Dialect},
};

fn field(name: &str, kind: FieldType, data_type: &str) -> Field {
    let column = Column { data_type: data_type.to_owned(), nullable: true, ..Column::default() };
    Field {
        name: name.into(),
        kind,
        special: SpecialSet::default(),
        column: Some(column),
        validation: None,
        validation_message: None,
        meta: None,
    }
}

/// The columns of the test table: name, type, database type per engine.
fn columns(dialect: Dialect) -> Vec<Field> {
    let pick = |sqlite: &'static str, postgres: &'static str, mysql: &'static str| match dialect {
        Dialect::Sqlite => sqlite,
        Dialect::Postgres => postgres,
        Dialect::Mysql => mysql,
    };
    let mut id = field("id", FieldType::Integer, pick("integer", "integer", "int"));
    if let Some(column) = &mut id.column {
        *column = Column { primary_key: true, auto_increment: true, nullable: false, ..column.clone() };
    }
    let mut m = field("m", FieldType::Decimal, pick("decimal", "numeric", "decimal"));
    if let Some(column) = &mut m.column {
        *column = Column { numeric_precision: Some(8), numeric_scale: Some(2), ..column.clone() };
    }
    let mut code = field("code", FieldType::Uuid, pick("char", "uuid", "char"));
    code.special = SpecialSet::default().with(Special::Uuid);
    vec![
        id,
        field("title", FieldType::String, pick("varchar", "character varying", "varchar")),
        field("g", FieldType::BigInteger, "bigint"),
        field("r", FieldType::Float, pick("float", "real", "float")),
        m,
        field("o", FieldType::Boolean, pick("boolean", "boolean", "tinyint")),
        field("d", FieldType::Date, "date"),
        field("h", FieldType::Time, "time"),
        field("e", FieldType::DateTime, pick("datetime", "timestamp", "datetime")),
        field("z", FieldType::Timestamp, pick("datetime", "timestamptz", "timestamp")),
        code,
        field("j", FieldType::Json, pick("json", "json", "json")),
        field("b", FieldType::Binary, pick("blob", "bytea", "blob")),
    ]
}

fn ddl(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => {
            "CREATE TABLE write_books (id integer PRIMARY KEY AUTOINCREMENT, title varchar(20) DEFAULT 'untitled', \
             g bigint, r float, m decimal(8,2), o boolean, d date, h time, e datetime, z datetime, code char(36), \
             j json, b blob)"
        }
        Dialect::Postgres => {
            "CREATE TABLE write_books (id serial PRIMARY KEY, title varchar(20) DEFAULT 'untitled', g bigint, r real, \
             m numeric(8,2), o boolean, d date, h time, e timestamp, z timestamptz, code uuid, j json, b bytea)"
        }
        Dialect::Mysql => {
            "CREATE TABLE write_books (id int AUTO_INCREMENT PRIMARY KEY, title varchar(20) DEFAULT 'untitled', \
             g bigint, r float, m decimal(8,2), o tinyint(1), d date, h time, e datetime, z timestamp NULL, \
             code char(36), j json, b blob)"
        }
    }
}

async fn engine() -> (Arc<Engine>, Arc<Schema>) {
    let url = std::env::var("WAYMARK_TEST_DATABASE_URL").unwrap_or_else(|_| "sqlite::memory:".to_owned());
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    let db = Db::new(Database::connect(options).await.unwrap()).await.unwrap();
    let dialect = db.dialect();
    db.executor().execute_unprepared("DROP TABLE IF EXISTS write_books").await.unwrap();
    db.executor().execute_unprepared(ddl(dialect)).await.unwrap();
    let collection = Collection {
        name: "write_books".into(),
        primary: "id".into(),
        fields: columns(dialect).into_iter().map(|field| (field.name.clone(), field)).collect(),
        singleton: false,
        accountability: Accountability::All,
        sort_field: None,
        system: false,
        meta: None,
        table: TableInfo::default(),
        links: IndexMap::new(),
    };
    let mut schema = Schema::default();
    schema.collections.insert("write_books".into(), Arc::new(collection));
    let engine = Engine::open(db, EngineSettings::default(), Arc::new(NoSink), Hooks::default()).await.unwrap();
    (engine, Arc::new(schema))
}

fn rows(value: Value) -> Vec<Map<String, Value>> {
    value.as_array().unwrap().iter().map(|row| row.as_object().unwrap().clone()).collect()
}

async fn text(ctx: &Ctx<'_>, sql: &str) -> String {
    let row = ctx.conn.query_one(Statement::from_string(ctx.conn.backend(), sql)).await.unwrap().unwrap();
    row.try_get_by_index(0).unwrap()
}

#[tokio::test]
async fn every_type_is_stored() {
    let (engine, schema) = engine().await;
    let mut ctx = engine.system_context();
    ctx.schema = schema;
    let row = json!([{
        "title": "t", "g": "9007199254740993", "r": 0.1, "m": "1.005", "o": true, "d": "2024-02-29",
        "h": "10:30:15", "e": "2024-02-29T10:30:15", "z": "2024-02-29T10:30:15+02:00", "j": {"a": [1, null]},
        "b": "bytes", "unknown": 1
    }]);
    assert_eq!(create(&ctx, "write_books", rows(row)).await.unwrap(), [Key::Int(1)]);
    let cast = if ctx.conn.dialect() == Dialect::Mysql { "char" } else { "text" };
    for (column, expected) in
        [("g", "9007199254740993"), ("m", "1.01"), ("d", "2024-02-29"), ("h", "10:30:15"), ("title", "t")]
    {
        assert_eq!(text(&ctx, &format!("SELECT CAST({column} AS {cast}) FROM write_books")).await, expected);
    }
    let code = text(&ctx, &format!("SELECT CAST(code AS {cast}) FROM write_books")).await;
    assert_eq!(uuid::Uuid::try_parse(&code).unwrap().get_version_num(), 4);
    let moment = text(&ctx, &format!("SELECT CAST(z AS {cast}) FROM write_books")).await;
    assert!(moment.replace('T', " ").starts_with("2024-02-29 08:30:15"), "{moment}");
}

#[tokio::test]
async fn keys_come_back_in_the_order_of_the_rows() {
    let (engine, schema) = engine().await;
    let mut ctx = engine.system_context();
    ctx.schema = schema;
    let before = engine.db.statement_count();
    let payload = json!([{"title": "a"}, {"title": "b"}, {}, {"id": 40, "title": null}, {"id": "50"}, {"m": 1}]);
    let keys = create(&ctx, "write_books", rows(payload)).await.unwrap();
    let [first, second, third, forty, fifty, _] = keys.as_slice() else { panic!("{keys:?}") };
    assert_eq!([first, second, third], [&Key::Int(1), &Key::Int(2), &Key::Int(3)]);
    assert_eq!([forty, fifty], [&Key::Int(40), &Key::Int(50)]);
    let many = (0..500).map(|n| json!({"title": n})).collect();
    let from = engine.db.statement_count();
    assert_eq!(create(&ctx, "write_books", rows(many)).await.unwrap().len(), 500);
    assert!(engine.db.statement_count() - from <= 2, "{before}");
}

#[tokio::test]
async fn one_bad_row_leaves_nothing() {
    let (engine, schema) = engine().await;
    let mut ctx = engine.system_context();
    ctx.schema = schema;
    for (payload, code) in [
        (json!([{"title": "a"}, {"g": "x"}]), Code::InvalidPayload),
        (json!([{"title": "a"}, {"id": 99_999_999_999_i64}]), Code::ValueOutOfRange),
        (json!([{"id": 7}, {"id": null, "m": "1e3"}, {"d": "soon"}]), Code::InvalidPayload),
    ] {
        assert_eq!(create(&ctx, "write_books", rows(payload)).await.unwrap_err().code(), code);
    }
    assert_eq!(create(&ctx, "nowhere", Vec::new()).await.unwrap_err().code(), Code::Forbidden);
    let cast = if ctx.conn.dialect() == Dialect::Mysql { "char" } else { "text" };
    assert_eq!(text(&ctx, &format!("SELECT CAST(COUNT(*) AS {cast}) FROM write_books")).await, "0");
}
