//! Hooks: what the embedding program may see, change and refuse, and that it holds on every door.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use waymark_core::{
    Ctx, Error, Result,
    ident::Key,
    items::{
        events::Change,
        hooks::{Hooks, ItemAction, ItemHook, Point},
    },
    query::{
        Query,
        ast::{Filter, Operator, PathStep},
    },
};
use waymark_tests::{Client, Database, Server, each_engine};

/// Takes part everywhere, and writes down what it was asked.
#[derive(Default)]
struct Recorder {
    heard: Mutex<Vec<String>>,
}

impl Recorder {
    fn hear(&self, text: String) {
        self.heard.lock().expect("one at a time").push(text);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.heard.lock().expect("one at a time"))
    }
}

#[async_trait]
impl ItemHook for Recorder {
    fn points(&self) -> Vec<Point> {
        vec![Point::Query, Point::Read, Point::Create, Point::Update, Point::Delete, Point::Committed]
    }

    /// Drafts stay in the drawer, whoever asks.
    async fn query(&self, _: &Ctx<'_>, collection: &str, mut query: Query) -> Result<Query> {
        if collection == "letters" {
            let step = PathStep { name: "draft".to_owned(), scope: None, function: None };
            let filed = Filter::Field { step, inner: Box::new(Filter::Is(Operator::Null, true.into())) };
            query.filter = Some(Filter::All(query.filter.into_iter().chain([filed]).collect()));
        }
        Ok(query)
    }

    /// Adds a member to letters, and takes one out.
    async fn read(&self, _: &Ctx<'_>, collection: &str, mut rows: Vec<Value>) -> Result<Vec<Value>> {
        if collection == "letters" {
            rows.retain(|row| row["subject"] != "burnt");
            for row in &mut rows {
                if let Some(row) = row.as_object_mut() {
                    row.insert("seal".to_owned(), "red".into());
                }
            }
        }
        Ok(rows)
    }

    async fn create(
        &self,
        ctx: &Ctx<'_>,
        collection: &str,
        mut payload: Map<String, Value>,
    ) -> Result<Map<String, Value>> {
        if payload.get("subject").is_some_and(|subject| subject == "poison") {
            return Err(Error::invalid_payload("Not through this office."));
        }
        if let Some(Value::String(subject)) = payload.get_mut("subject") {
            *subject = subject.trim().to_owned();
        }
        if ctx.actor.is_admin() {
            self.hear(format!("create {collection}"));
        }
        Ok(payload)
    }

    async fn update(
        &self,
        _: &Ctx<'_>,
        collection: &str,
        keys: &[Key],
        mut payload: Map<String, Value>,
    ) -> Result<Map<String, Value>> {
        if collection == "letters" {
            payload.insert("handled".to_owned(), json!(keys.len()));
        }
        Ok(payload)
    }

    async fn delete(&self, _: &Ctx<'_>, collection: &str, keys: &[Key]) -> Result<()> {
        if collection == "letters" && keys.contains(&Key::Int(1)) {
            return Err(Error::invalid_payload("The first letter stays."));
        }
        Ok(())
    }

    fn committed(&self, action: &ItemAction) {
        let ItemAction { event, actor, payloads } = action;
        let what = match event.change {
            Change::Create => "created",
            Change::Update => "updated",
            Change::Delete => "deleted",
        };
        let keys: Vec<String> = event.keys.iter().map(ToString::to_string).collect();
        let payloads = Value::Array(payloads.iter().cloned().map(Value::Object).collect());
        if actor.user_id().is_some() && !event.collection.starts_with("directus_") {
            self.hear(format!("{what} {} {} {payloads}", event.collection, keys.join(",")));
        }
    }
}

/// Speaks after the other, in one collection only.
struct Second;

#[async_trait]
impl ItemHook for Second {
    fn points(&self) -> Vec<Point> {
        vec![Point::Read]
    }

    async fn read(&self, _: &Ctx<'_>, _: &str, mut rows: Vec<Value>) -> Result<Vec<Value>> {
        for row in &mut rows {
            if let Some(seal) = row.get_mut("seal") {
                *seal = "broken".into();
            }
        }
        Ok(rows)
    }
}

async fn office(kind: waymark_tests::Kind) -> (Server, Client, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let hooks = Hooks::default().on("letters", Arc::new(Second)).on_all(recorder.clone());
    let server = Server::start_hooked(Arc::new(Database::create(kind).await), &[], hooks).await;
    let admin = server.admin().await;
    let fields = json!([{ "field": "subject", "type": "string" }, { "field": "draft", "type": "boolean" }, { "field": "handled", "type": "integer" },
        { "field": "writer", "type": "integer" }, { "field": "code", "type": "hash", "meta": { "special": ["hash", "conceal"] } }]);
    admin.create_collection("letters", fields).await;
    admin.create_collection("writers", json!([{ "field": "subject", "type": "string" }])).await;
    admin
        .must_post("/fields/writers", json!({ "field": "letters", "type": "alias", "meta": { "special": ["o2m"] } }))
        .await;
    admin.must_post("/relations", json!({ "collection": "letters", "field": "writer", "related_collection": "writers", "meta": { "one_field": "letters" } })).await;
    recorder.take();
    (server, admin, recorder)
}

each_engine! {
    async fn a_read_hook_shapes_rows_on_every_door(kind) {
        let (_server, admin, _) = office(kind).await;
        let (status, body) = admin.post("/items/letters?fields=id,subject", json!([{ "subject": " a " }, { "subject": "burnt" }, { "subject": "b", "draft": true }])).await;
        assert_eq!((status, &body["data"]), (200, &json!([{ "id": 1, "subject": "a", "seal": "broken" }])), "{body}");
        let wanted = json!({ "subject": "a", "seal": "broken" });
        assert_eq!(admin.get("/items/letters?fields=subject").await.1["data"], json!([wanted]));
        assert_eq!(admin.get("/items/letters/1?fields=subject").await.1["data"], wanted);
        assert_eq!(admin.search("/items/letters", json!({ "fields": ["subject"] })).await.1["data"], json!([wanted]));
        let export = admin.request("GET", "/items/letters?fields=subject&export=csv", None).await;
        assert_eq!(export.body, "\"subject\",\"seal\"\n\"a\",\"broken\"");
        for hidden in [2, 3] {
            assert_eq!(admin.get(&format!("/items/letters/{hidden}?fields=subject")).await.0, 403, "{hidden}");
        }
        // The query hook holds for counts and for by-query writes.
        assert_eq!(admin.get("/items/letters?meta=filter_count&limit=0").await.1["meta"]["filter_count"], 2);
        let (status, body) = admin.patch("/items/letters", json!({ "query": {}, "data": { "subject": "c" } })).await;
        assert_eq!((status, body["data"].as_array().map(Vec::len)), (200, Some(2)), "{body}");
    }

    async fn write_hooks_change_and_refuse_and_see_nested_rows(kind) {
        let (server, admin, recorder) = office(kind).await;
        let body = json!({ "subject": " w ", "letters": [{ "subject": " x " }, { "subject": "y" }] });
        assert_eq!(admin.post("/items/writers?fields=subject", body).await.1["data"], json!({ "subject": "w" }));
        assert_eq!(server.database.text("SELECT subject FROM letters WHERE id = 1").await, "x");
        let heard = recorder.take();
        assert_eq!(heard.iter().filter(|text| text.starts_with("create ")).count(), 3, "{heard:?}");
        let poisoned = json!({ "subject": "z", "letters": [{ "subject": "fine" }, { "subject": "poison" }] });
        let answer = admin.request("POST", "/items/writers", Some(poisoned)).await;
        assert_eq!((answer.status, answer.codes()), (400, vec!["INVALID_PAYLOAD"]), "{}", answer.body);
        assert_eq!(server.database.number("SELECT COUNT(*) FROM writers").await, 1);
        let told = recorder.take();
        assert!(!told.iter().any(|text| text.starts_with("created")), "nothing was committed: {told:?}");
        assert_eq!(admin.patch("/items/letters", json!({ "keys": [1, 2], "data": { "subject": "n" } })).await.0, 200);
        assert_eq!(server.database.number("SELECT COUNT(*) FROM letters WHERE handled = 2").await, 2);
        let answer = admin.request("DELETE", "/items/letters", Some(json!([1, 2]))).await;
        assert_eq!((answer.status, answer.codes()), (400, vec!["INVALID_PAYLOAD"]), "{}", answer.body);
        assert_eq!(server.database.number("SELECT COUNT(*) FROM letters").await, 2);
        assert_eq!(admin.delete("/items/letters/2", Value::Null).await.0, 204);
    }

    async fn actions_are_told_after_the_commit_with_what_was_written(kind) {
        let (_server, admin, recorder) = office(kind).await;
        assert_eq!(admin.post("/items/letters", json!({ "subject": "s", "code": "open sesame" })).await.0, 200);
        let heard = recorder.take();
        let created = heard.iter().find(|text| text.starts_with("created letters 1 ")).unwrap_or_else(|| panic!("{heard:?}"));
        assert!(created.contains("\"subject\":\"s\"") && created.contains("$argon2") && !created.contains("sesame"), "{created}");
        assert_eq!(admin.patch("/items/letters/1", json!({ "subject": "t" })).await.0, 200);
        assert_eq!(recorder.take(), ["updated letters 1 [{\"subject\":\"t\",\"handled\":1}]"]);
        assert_eq!(admin.patch("/items/letters/1", json!({ "writer": "nobody" })).await.0, 400);
        assert_eq!(recorder.take(), Vec::<String>::new());
    }

    async fn a_hook_gives_nobody_rights(kind) {
        let (server, admin, _) = office(kind).await;
        admin.must_post("/items/letters", json!({ "subject": "s" })).await;
        let role = admin.create_role("clerk", false).await;
        let user = admin.create_user(Some(&role)).await;
        let clerk = server.client().login(&user.email, &user.password).await;
        // The query hook filters by a field the clerk may not read: refused, not shown.
        admin.permit(Some(&role), "letters", "read", json!({ "fields": ["id", "subject"] })).await;
        assert_eq!(clerk.get("/items/letters").await.0, 403);
        // The update hook writes a field the clerk may not write.
        admin.permit(Some(&role), "letters", "update", json!({ "fields": ["subject"] })).await;
        assert_eq!(clerk.patch("/items/letters/1", json!({ "subject": "mine" })).await.0, 403);
        assert_eq!(server.database.text("SELECT subject FROM letters").await, "s");
    }
}
