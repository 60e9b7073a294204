//! DDL texts of every type on every engine, and the rebuilding of SQLite tables on a real database.

use sea_orm::{ConnectOptions, Database, Statement};

use super::{
    Change, ColumnDefault, ColumnSpec, Flavor, OnDelete, Reference, add_column, add_foreign_key, change_column,
    create_table, drop_column, drop_foreign_key, foreign_key_name, sqlite,
};
use crate::{
    error::Code,
    payload::typed::Typed,
    schema::FieldType,
    store::{Db, Dialect},
};

const SQLITE: Flavor = Flavor { dialect: Dialect::Sqlite, mariadb: false };
const POSTGRES: Flavor = Flavor { dialect: Dialect::Postgres, mariadb: false };
const MYSQL: Flavor = Flavor { dialect: Dialect::Mysql, mariadb: false };
const MARIADB: Flavor = Flavor { dialect: Dialect::Mysql, mariadb: true };

fn key() -> ColumnSpec {
    ColumnSpec { primary_key: true, auto_increment: true, nullable: false, ..ColumnSpec::new("id", FieldType::Integer) }
}

#[test]
fn types_of_each_engine() {
    let of = |kind: FieldType| {
        let spec = ColumnSpec::new("x", kind);
        [SQLITE, POSTGRES, MARIADB].map(|flavor| flavor.column_type(&spec))
    };
    let text = |name: &str| format!("{name} CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin");
    assert_eq!(of(FieldType::String), ["varchar(255)".into(), "varchar(255)".into(), text("varchar(255)")]);
    assert_eq!(of(FieldType::Uuid), ["char(36)".into(), "uuid".into(), text("char(36)")]);
    assert_eq!(of(FieldType::Float), ["float", "real", "float"]);
    assert_eq!(of(FieldType::Decimal), ["decimal(10,5)"; 3]);
    assert_eq!(of(FieldType::Boolean), ["boolean", "boolean", "tinyint(1)"]);
    assert_eq!(of(FieldType::DateTime), ["datetime", "timestamp without time zone", "datetime(3)"]);
    assert_eq!(of(FieldType::Timestamp), ["datetime", "timestamp with time zone", "datetime(3)"]);
    assert_eq!(of(FieldType::BigInteger), ["bigint"; 3]);
    assert_eq!(
        [SQLITE, POSTGRES, MYSQL].map(|flavor| flavor.column_type(&key())),
        ["integer", "serial", "int unsigned"]
    );
}

#[test]
fn names_are_quoted_and_defaults_are_constants() {
    let hostile = "a\"b`c'; DROP TABLE x";
    let spec = ColumnSpec {
        default: ColumnDefault::Constant(Typed::Text("o'brien \\ \"x\"".to_owned())),
        ..ColumnSpec::new(hostile, FieldType::String)
    };
    let sql = super::tables::create_table_sql(SQLITE, hostile, &[key(), spec.clone()]);
    assert_eq!(
        sql,
        "CREATE TABLE \"a\"\"b`c'; DROP TABLE x\" (\"id\" integer NOT NULL PRIMARY KEY AUTOINCREMENT, \
         \"a\"\"b`c'; DROP TABLE x\" varchar(255) NULL DEFAULT 'o''brien \\ \"x\"')"
    );
    let sql = super::tables::create_table_sql(MARIADB, hostile, &[spec]);
    assert!(sql.contains("`a\"b``c'; DROP TABLE x`") && sql.contains(r#"DEFAULT 'o\'brien \\ \"x\"'"#), "{sql}");
}

#[test]
fn long_constraint_names_stay_distinct() {
    let long = "t".repeat(60);
    let (one, two) = (foreign_key_name(Dialect::Postgres, &long, "a"), foreign_key_name(Dialect::Postgres, &long, "b"));
    assert!(one != two && one.len() <= 63 && one.ends_with("_foreign"), "{one}");
    assert_eq!(foreign_key_name(Dialect::Mysql, "Posts", "Author"), "posts_author_foreign");
}

#[test]
fn a_stored_definition_survives_reading() {
    let statement = "CREATE TABLE \"we ird\" (\n  id INTEGER PRIMARY KEY AUTOINCREMENT, -- the key, (really)\n  \
        n decimal(10, 2) DEFAULT -1 CHECK (n <> ')' AND n > (0)), /* , */ [par ent] int CONSTRAINT p REFERENCES \"o\"\"p\" (id) \
        ON DELETE SET NULL ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED NOT NULL COLLATE NOCASE, \
        g int GENERATED ALWAYS AS (n * 2) STORED, b blob DEFAULT x'00ff' UNIQUE ON CONFLICT REPLACE, \
        CONSTRAINT u UNIQUE (n, id) UNIQUE (`n`), CONSTRAINT f FOREIGN KEY (n) REFERENCES q (n)) WITHOUT ROWID, STRICT";
    let mut definition = sqlite::Definition::read(statement).unwrap();
    assert_eq!(definition.stored_columns(), ["id", "n", "par ent", "b"]);
    let again = sqlite::Definition::read(&definition.create("t")).unwrap();
    assert_eq!(again.create("t"), definition.create("t"));
    for edit in [
        sqlite::Edit::DropForeignKey("par ent".into()),
        sqlite::Edit::DropForeignKey("n".into()),
        sqlite::Edit::DropUnique("n".into()),
        sqlite::Edit::ChangeColumn { name: "n".into(), type_name: None, nullable: false, default: Some(None) },
    ] {
        definition.apply(&edit).unwrap();
    }
    let sql = definition.create("t");
    assert!(!sql.contains("REFERENCES") && sql.contains("NOT NULL COLLATE NOCASE"), "{sql}");
    assert!(sql.contains("CONSTRAINT u UNIQUE (n, id)") && !sql.contains("UNIQUE (`n`)"), "{sql}");
    assert!(sql.contains("n decimal (10, 2) NOT NULL CHECK") && sql.ends_with("WITHOUT ROWID , STRICT"), "{sql}");
    assert!(sqlite::Definition::read("CREATE VIRTUAL TABLE a USING fts5(b)").is_none());
}

async fn open() -> (std::path::PathBuf, Db) {
    let path = std::env::temp_dir().join(format!("waymark-alter-{}.db", uuid::Uuid::new_v4().simple()));
    let pool = Database::connect(ConnectOptions::new(format!("sqlite://{}?mode=rwc", path.display()))).await.unwrap();
    (path, Db::new(pool).await.unwrap())
}

async fn run(db: &Db, sql: &str) {
    db.executor().execute_unprepared(sql).await.unwrap();
}

async fn text(db: &Db, sql: &str) -> String {
    let row = db.executor().query_one(Statement::from_string(db.executor().backend(), sql)).await.unwrap().unwrap();
    row.try_get_by_index::<Option<String>>(0).unwrap().unwrap_or_default()
}

macro_rules! change {
    ($db:expr, $call:ident($($argument:expr),*)) => {{
        let mut change = Change::begin($db).await.unwrap();
        let outcome = $call(&mut change, $($argument),*).await;
        change.finish(outcome).await
    }};
}

#[tokio::test]
async fn rebuilding_keeps_rows_counter_indexes_and_children() {
    let (path, db) = open().await;
    run(&db, "PRAGMA foreign_keys = ON").await;
    let word = ColumnSpec { unique: true, ..ColumnSpec::new("word", FieldType::String) };
    let columns = [key(), word, ColumnSpec::new("up", FieldType::Integer)];
    change!(&db, create_table("parent", &columns)).unwrap();
    change!(&db, create_table("child", &[key(), ColumnSpec::new("parent", FieldType::Integer)])).unwrap();
    let reference = |table: &str, column: &str| Reference {
        table: table.into(),
        column: column.into(),
        target: "parent".into(),
        target_column: "id".into(),
        on_delete: OnDelete::Cascade,
    };
    change!(&db, add_foreign_key(&reference("child", "parent"))).unwrap();
    run(&db, "INSERT INTO parent (id, word) VALUES (1, 'a'), (7, 'b'); DELETE FROM parent WHERE id = 7").await;
    run(&db, "INSERT INTO child (id, parent) VALUES (1, 1); CREATE INDEX by_up ON parent (up)").await;
    run(&db, "CREATE VIEW v AS SELECT word FROM parent").await;

    // The parent is rebuilt: nothing cascades, the child still points to it.
    change!(&db, add_foreign_key(&reference("parent", "up"))).unwrap();
    assert_eq!(text(&db, "SELECT group_concat(id) FROM child").await, "1");
    assert_eq!(text(&db, "SELECT \"table\" FROM pragma_foreign_key_list('child')").await, "parent");
    assert_eq!(text(&db, "SELECT CAST(seq AS text) FROM sqlite_sequence WHERE name = 'parent'").await, "7");
    assert_eq!(text(&db, "SELECT name FROM sqlite_master WHERE name = 'by_up'").await, "by_up");
    assert_eq!(text(&db, "SELECT word FROM v").await, "a");
    assert!(db.executor().execute_unprepared("INSERT INTO parent (word) VALUES ('a')").await.is_err());

    // Rows that point nowhere are refused, and nothing of the change stays.
    run(&db, "CREATE TABLE loose (id integer PRIMARY KEY, p integer); INSERT INTO loose VALUES (1, 99)").await;
    let error = change!(&db, add_foreign_key(&reference("loose", "p"))).unwrap_err();
    assert_eq!(error.code(), Code::InvalidForeignKey);
    assert_eq!(text(&db, "SELECT count(*) || '' FROM pragma_foreign_key_list('loose')").await, "0");

    change!(&db, drop_foreign_key("child", "parent")).unwrap();
    assert_eq!(text(&db, "SELECT count(*) || '' FROM pragma_foreign_key_list('child')").await, "0");
    change!(&db, drop_column("parent", "up")).unwrap();
    assert_eq!(text(&db, "SELECT group_concat(name) FROM pragma_table_info('parent')").await, "id,word");
    assert_eq!(text(&db, "SELECT count(*) || '' FROM sqlite_master WHERE name = 'by_up'").await, "0");
    run(&db, "DELETE FROM parent; INSERT INTO parent (word) VALUES ('z')").await;
    assert_eq!(text(&db, "SELECT id || '' FROM parent").await, "8");
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn columns_change_on_sqlite() {
    let (path, db) = open().await;
    change!(&db, create_table("t", &[key(), ColumnSpec::new("n", FieldType::Integer)])).unwrap();
    run(&db, "INSERT INTO t (n) VALUES (1), (1), (NULL)").await;
    let plain = ColumnSpec::new("n", FieldType::Integer);
    let strict = ColumnSpec { nullable: false, ..plain.clone() };
    let error = change!(&db, change_column("t", &plain, &strict)).unwrap_err();
    assert_eq!(error.code(), Code::ContainsNullValues);
    let error = change!(&db, add_column("t", &ColumnSpec { nullable: false, ..ColumnSpec::new("m", FieldType::Text) }))
        .unwrap_err();
    assert_eq!(error.code(), Code::ContainsNullValues);
    let five = ColumnSpec { default: ColumnDefault::Constant(Typed::Int(5)), ..plain.clone() };
    change!(&db, change_column("t", &plain, &five)).unwrap();
    run(&db, "DELETE FROM t; INSERT INTO t DEFAULT VALUES").await;
    assert_eq!(text(&db, "SELECT n || '' FROM t").await, "5");
    change!(&db, change_column("t", &five, &ColumnSpec { unique: true, nullable: false, ..plain.clone() })).unwrap();
    assert!(db.executor().execute_unprepared("INSERT INTO t (n) VALUES (5)").await.is_err());
    assert!(db.executor().execute_unprepared("INSERT INTO t (n) VALUES (NULL)").await.is_err());
    change!(&db, change_column("t", &ColumnSpec { unique: true, nullable: false, ..plain.clone() }, &plain)).unwrap();
    run(&db, "INSERT INTO t (n) VALUES (5), (NULL)").await;
    let now = ColumnSpec { default: ColumnDefault::Now, ..ColumnSpec::new("at", FieldType::Timestamp) };
    change!(&db, add_column("t", &now)).unwrap();
    assert!(text(&db, "SELECT max(at) FROM t").await.starts_with("20"));
    assert!(change!(&db, add_column("t", &ColumnSpec::new("N", FieldType::Text))).is_err());
    std::fs::remove_file(path).unwrap();
}
