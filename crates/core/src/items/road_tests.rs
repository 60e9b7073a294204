//! Writes along the whole road: nested rows, rights, history. SQLite always, PostgreSQL and MySQL or
//! MariaDB when `WAYMARK_TEST_POSTGRES_URL` and `WAYMARK_TEST_MYSQL_URL` name a server where databases
//! can be made.

use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use sea_orm::{ConnectOptions, ConnectionTrait, Database};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    create, delete,
    events::{EventSink, ItemEvent},
    hooks::Hooks,
    read, update, update_each, upsert_singleton,
};
use crate::{
    access::{Action, FieldSet, Policy, Rule},
    actor::{Actor, Origin, UserActor},
    context::{Ctx, Engine, EngineSettings},
    error::{Code, Result},
    ident::Key,
    query::{Query, ast::Limit, filter, parse},
    store::Db,
};

#[derive(Default)]
struct Heard(Mutex<Vec<ItemEvent>>);

impl EventSink for Heard {
    fn publish(&self, event: ItemEvent) {
        self.0.lock().unwrap().push(event);
    }
}

struct Server {
    engine: Arc<Engine>,
    heard: Arc<Heard>,
    drop: Option<(String, String)>,
    _file: Option<std::path::PathBuf>,
}

const TABLES: &[&str] = &[
    "CREATE TABLE authors (id INTEGER PRIMARY KEY NOT NULL, name varchar(40) NOT NULL, region varchar(20))",
    "CREATE TABLE books (id INTEGER PRIMARY KEY NOT NULL, title varchar(40), pages integer UNIQUE, author integer, \
     pos integer, secret varchar(40), FOREIGN KEY (author) REFERENCES authors (id))",
    "CREATE TABLE home (id INTEGER PRIMARY KEY NOT NULL, title varchar(40))",
];

async fn servers() -> Vec<Server> {
    let name = format!("write_{}", Uuid::new_v4().simple());
    let file = std::env::temp_dir().join(format!("{name}.db"));
    let mut urls = vec![(format!("sqlite://{}?mode=rwc", file.display()), None, Some(file))];
    for variable in ["WAYMARK_TEST_POSTGRES_URL", "WAYMARK_TEST_MYSQL_URL"] {
        let Ok(server) = std::env::var(variable) else { continue };
        Database::connect(&server).await.unwrap().execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
        let url = format!("{}/{name}", server.rsplit_once('/').unwrap().0);
        urls.push((url, Some((server, format!("DROP DATABASE {name}"))), None));
    }
    let mut servers = Vec::new();
    for (url, drop, file) in urls {
        let mut options = ConnectOptions::new(&url);
        options.max_connections(3).sqlx_logging(false);
        let pool = Database::connect(options).await.unwrap();
        waymark_migrations::run(&pool).await.unwrap();
        for table in TABLES {
            let made = match url.split(':').next() {
                Some("postgres") => "serial PRIMARY KEY",
                Some("mysql") => "int AUTO_INCREMENT PRIMARY KEY",
                _ => "INTEGER PRIMARY KEY AUTOINCREMENT",
            };
            pool.execute_unprepared(&table.replace("INTEGER PRIMARY KEY NOT NULL", made)).await.unwrap();
        }
        let heard = Arc::new(Heard::default());
        let db = Db::new(pool).await.unwrap();
        let engine = Engine::open(db, EngineSettings::default(), heard.clone(), Hooks::default()).await.unwrap();
        let system = engine.system_context();
        let relation = json!([{"many_collection": "books", "many_field": "author", "one_collection": "authors",
            "one_field": "books", "sort_field": "pos"}]);
        create(&system, "directus_relations", rows(relation)).await.unwrap();
        let fields = json!([
            {"collection": "authors", "field": "books", "special": "o2m"},
            {"collection": "books", "field": "secret", "special": "conceal"}
        ]);
        create(&system, "directus_fields", rows(fields)).await.unwrap();
        create(&system, "directus_collections", rows(json!([{"collection": "home", "singleton": true}])))
            .await
            .unwrap();
        engine.registry.reload(&engine.db).await.unwrap();
        heard.0.lock().unwrap().clear();
        servers.push(Server { engine, heard, drop, _file: file });
    }
    servers
}

impl Server {
    fn admin(&self) -> Ctx<'_> {
        self.user(true, Policy::unrestricted())
    }

    fn user(&self, admin: bool, policy: Policy) -> Ctx<'_> {
        let user = UserActor { id: Uuid::from_u128(7), role: None, admin, app: admin };
        let mut ctx = self.engine.system_context();
        ctx.actor = Arc::new(Actor::user(user, Origin::default()));
        ctx.policy = Arc::new(policy);
        ctx
    }

    async fn get(&self, collection: &str, query: Value) -> Value {
        let query = parse::from_json(&query, &self.engine.settings.limits).unwrap();
        let query = Query { limit: Some(Limit::Unlimited), ..query };
        let page = read(&self.admin(), collection, &query, None).await.unwrap();
        serde_json::from_str(page.data.get()).unwrap()
    }

    async fn close(self) {
        if let Some((server, statement)) = self.drop {
            let engine = Arc::into_inner(self.engine).unwrap();
            engine.db.close().await.unwrap();
            Database::connect(server).await.unwrap().execute_unprepared(&statement).await.unwrap();
        }
        if let Some(file) = self._file {
            std::fs::remove_file(file).unwrap();
        }
    }
}

fn rows(value: Value) -> Vec<Map<String, Value>> {
    value.as_array().unwrap().iter().map(row).collect()
}

fn row(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn code<T: std::fmt::Debug>(result: Result<T>) -> Code {
    result.unwrap_err().code()
}

#[tokio::test]
async fn nested_rows_and_history() {
    for server in servers().await {
        let ctx = server.admin();
        let payload =
            json!([{"id": 1, "name": "Ines", "books": [{"id": 11, "title": "a", "secret": "s"}, {"id": 12}]}]);
        assert_eq!(create(&ctx, "authors", rows(payload)).await.unwrap(), [Key::Int(1)]);
        // An object where a key belongs; then the key of the author is known.
        let payload = json!([{"id": 13, "author": {"name": "Jonas"}}, {"id": 14, "author": {"id": 1, "region": "n"}}]);
        create(&ctx, "books", rows(payload)).await.unwrap();
        let all = json!({"fields": ["id", "author"], "sort": ["id"]});
        let expected = json!([{"id":11,"author":1},{"id":12,"author":1},{"id":13,"author":2},{"id":14,"author":1}]);
        assert_eq!(server.get("books", all.clone()).await, expected);

        // The full list: 13 is adopted, 11 changed, 12 and 14 let go, one is new.
        let payload = json!({"books": [13, {"id": 11, "title": "b"}, {"id": 15, "title": "new"}]});
        update(&ctx, "authors", &[Key::Int(1)], row(&payload)).await.unwrap();
        let expected = json!([{"id":11,"author":1},{"id":12,"author":null},{"id":13,"author":1},
            {"id":14,"author":null},{"id":15,"author":1}]);
        assert_eq!(server.get("books", all.clone()).await, expected);

        // The detailed form: numbered behind the others, and only what is linked can be let go.
        let payload = json!({"books": {"create": [{"id": 16}, {"id": 17}], "update": [{"id": 12, "pos": 5}], "delete": [13, 14]}});
        update(&ctx, "authors", &[Key::Int(1)], row(&payload)).await.unwrap();
        let query = json!({"fields": ["id", "author", "pos"], "sort": ["id"], "filter": {"id": {"_gt": 11}}});
        let expected = json!([{"id":12,"author":1,"pos":5},{"id":13,"author":null,"pos":null},
            {"id":14,"author":null,"pos":null},{"id":15,"author":1,"pos":null},{"id":16,"author":1,"pos":1},
            {"id":17,"author":1,"pos":2}]);
        assert_eq!(server.get("books", query).await, expected);

        // Refusals leave nothing behind.
        for (payload, expected) in [
            (json!({"books": "all"}), Code::InvalidPayload),
            (json!({"books": {"rename": []}}), Code::InvalidPayload),
            (json!({"books": [999]}), Code::Forbidden),
            (json!({"books": [{"id": 11, "author": 2}]}), Code::InvalidPayload),
            (json!({"name": "X", "books": {"create": [{"id": 18}, {"pages": "no"}]}}), Code::InvalidPayload),
        ] {
            assert_eq!(code(update(&ctx, "authors", &[Key::Int(1)], row(&payload)).await), expected, "{payload}");
        }
        assert_eq!(server.get("books", json!({"filter": {"id": {"_eq": 18}}})).await, json!([]));
        assert_eq!(code(update(&ctx, "authors", &[Key::Int(77)], row(&json!({"name": "x"}))).await), Code::Forbidden);
        delete(&ctx, "books", &[Key::Int(17), Key::Int(77)]).await.unwrap();

        // History: who, what, and the child's revision below its parent's.
        let query = json!({"fields": ["id", "collection", "item", "parent", "delta"], "sort": ["id"], "limit": -1});
        let revisions = server.get("directus_revisions", query).await;
        let revisions = revisions.as_array().unwrap();
        let author = revisions.iter().find(|row| row["collection"] == "authors").unwrap();
        let book = revisions.iter().find(|row| row["item"] == "11").unwrap();
        assert_eq!(book["parent"], author["id"]);
        assert_eq!(book["delta"], json!({"id": 11, "title": "a", "secret": "**********", "author": 1}));
        assert_eq!(author["delta"]["books"][0]["secret"], "**********");
        let query = json!({"fields": ["action", "item", "user"], "filter": {"action": {"_eq": "delete"}}});
        let expected = json!([{"action": "delete", "item": "17", "user": Uuid::from_u128(7).to_string()}]);
        assert_eq!(server.get("directus_activity", query).await, expected);
        let heard = std::mem::take(&mut *server.heard.0.lock().unwrap());
        assert!(heard.iter().any(|event| &*event.collection == "authors"));
        drop(ctx);
        server.close().await;
    }
}

#[tokio::test]
async fn rights_hold_for_every_part() {
    for server in servers().await {
        let ctx = server.admin();
        let payload =
            json!([{"id": 1, "name": "Ines", "region": "north"}, {"id": 2, "name": "Jonas", "region": "south"}]);
        create(&ctx, "authors", rows(payload)).await.unwrap();
        let limits = &server.engine.settings.limits;
        let only = |names: &[&str]| FieldSet::Some(names.iter().map(|name| (*name).to_owned()).collect());
        let north = filter::parse(&json!({"region": {"_eq": "north"}}), filter::Source::Rule, limits).unwrap();
        let mut rules = IndexMap::new();
        let presets = row(&json!({"pos": 9}));
        let validation = Some(json!({"pages": {"_lte": 10}}));
        let rule = Rule { fields: only(&["id", "pages", "author"]), presets, validation, rows: None };
        rules.insert(("books".into(), Action::Create), Arc::new(rule));
        let rule = Rule { fields: only(&["name"]), rows: Some(north), ..Rule::default() };
        rules.insert(("authors".into(), Action::Update), Arc::new(rule));
        let caller = server.user(false, Policy::from_rules(rules, Vec::new(), Vec::new()));

        create(&caller, "books", rows(json!([{"id": 1, "pages": 3, "author": {"id": 1, "name": "Inés"}}])))
            .await
            .unwrap();
        for (payload, expected) in [
            (json!([{"id": 2}, {"id": 3, "title": "t"}]), Code::Forbidden),
            (json!([{"id": 2, "nowhere": 1}]), Code::Forbidden),
            (json!([{"id": 2}, {"id": 3, "pages": "11"}]), Code::FailedValidation),
            (json!([{"id": 2, "author": {"id": 2, "name": "x"}}]), Code::Forbidden),
            (json!([{"id": 2, "author": {"id": 1, "region": "x"}}]), Code::Forbidden),
            (json!([{"id": 2, "author": {"name": "new"}}]), Code::Forbidden),
        ] {
            assert_eq!(code(create(&caller, "books", rows(payload.clone())).await), expected, "{payload}");
        }
        let query = json!({"fields": ["id", "pages", "pos", "author.name"]});
        let expected = json!([{"id": 1, "pages": 3, "pos": 9, "author": {"name": "Inés"}}]);
        assert_eq!(server.get("books", query).await, expected);
        let both = [Key::Int(1), Key::Int(2)];
        assert_eq!(code(update(&caller, "authors", &both, row(&json!({"name": "x"}))).await), Code::Forbidden);
        assert_eq!(code(delete(&caller, "authors", &both).await), Code::Forbidden);
        assert_eq!(code(delete(&caller, "books", &[Key::Int(1)]).await), Code::Forbidden);
        let payload = rows(json!([{"id": 1, "name": "Ann"}]));
        assert_eq!(update_each(&caller, "authors", payload).await.unwrap(), [Key::Int(1)]);
        drop((ctx, caller));
        server.close().await;
    }
}

#[tokio::test]
async fn constraints_have_codes() {
    for server in servers().await {
        let ctx = server.admin();
        create(&ctx, "authors", rows(json!([{"id": 1, "name": "Ines"}]))).await.unwrap();
        create(&ctx, "books", rows(json!([{"id": 1, "pages": 1, "author": 1}]))).await.unwrap();
        for (payload, expected, field) in [
            (json!([{"id": 2, "pages": 5}, {"id": 3, "pages": 1}]), Code::RecordNotUnique, Some("pages")),
            (json!([{"id": 1}]), Code::RecordNotUnique, Some("id")),
            (json!([{"id": 2, "author": 99}]), Code::InvalidForeignKey, None),
        ] {
            let error = create(&ctx, "books", rows(payload.clone())).await.unwrap_err();
            let problem = error.problems().next().unwrap();
            assert_eq!((problem.code, &problem.extensions["collection"]), (expected, &json!("books")), "{payload}");
            if let Some(field) = field {
                assert_eq!(problem.extensions["field"], field, "{payload}");
            }
        }
        assert_eq!(code(delete(&ctx, "authors", &[Key::Int(1)]).await), Code::RecordStillReferenced);
        assert_eq!(upsert_singleton(&ctx, "home", row(&json!({"title": "a"}))).await.unwrap(), Key::Int(1));
        assert_eq!(upsert_singleton(&ctx, "home", row(&json!({"title": "b"}))).await.unwrap(), Key::Int(1));
        assert_eq!(server.get("home", json!({})).await, json!({"id": 1, "title": "b"}));
        drop(ctx);
        server.close().await;
    }
}
