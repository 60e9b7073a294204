//! `/flows` and `/operations`: stored, linked, taken apart. What is refused: `errors`; what the
//! schedules read: `scheduled`.

mod errors;
mod scheduled;

use serde_json::{Value, json};
use waymark_tests::{Client, Server, each_engine};

/// Makes an operation of a flow; gives its id.
pub async fn operation(admin: &Client, flow: &str, key: &str, more: Value) -> String {
    let mut body = json!({ "flow": flow, "key": key, "type": "log", "position_x": 1, "position_y": 2 });
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    admin.must_post("/operations", body).await["id"].as_str().expect("an id").to_owned()
}

/// Makes a flow; gives its id.
pub async fn flow(admin: &Client, body: Value) -> String {
    admin.must_post("/flows", body).await["id"].as_str().expect("an id").to_owned()
}

each_engine! {
    async fn a_flow_and_its_operations_are_written_and_read_together(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let body = json!({ "name": "Morning", "trigger": "webhook", "options": { "method": "POST" }, "operations": [
            { "key": "look", "type": "item-read", "position_x": 1, "position_y": 1 },
            { "key": "tell", "type": "log", "position_x": 2, "position_y": 1, "options": { "message": "seen" } },
        ] });
        let made = admin.must_post("/flows?fields=*,operations.id,operations.key,user_created.email&deep[operations][_sort]=key", body).await;
        assert_eq!((&made["status"], &made["accountability"], &made["operation"]), (&json!("active"), &json!("all"), &Value::Null), "{made}");
        assert_eq!(made["user_created"]["email"], json!("admin@example.com"));
        assert!(made["date_created"].as_str().is_some_and(|date| date.ends_with('Z')), "{made}");
        let id = made["id"].as_str().expect("an id");
        let (look, tell) = (made["operations"][0]["id"].clone(), made["operations"][1]["id"].clone());

        // The first operation, what follows it, and one more that is made on the way.
        let chain = json!({ "operation": { "id": look, "resolve": tell, "reject": { "key": "sorry", "type": "log", "position_x": 3, "position_y": 3, "flow": id } } });
        let (status, body) = admin.patch(&format!("/flows/{id}?fields=operation.key,operation.resolve.key,operation.reject.key,operations.key&deep[operations][_sort]=key"), chain).await;
        let wanted = json!({ "operation": { "key": "look", "resolve": { "key": "tell" }, "reject": { "key": "sorry" } }, "operations": [{ "key": "look" }, { "key": "sorry" }, { "key": "tell" }] });
        assert_eq!((status, &body["data"]), (200, &wanted), "{body}");

        // What is left out of the list is deleted, and nothing leads to it any more.
        let (status, body) = admin.patch(&format!("/flows/{id}?fields=operation.key,operation.resolve,operation.reject,operations.key"), json!({ "operations": [look] })).await;
        let wanted = json!({ "operation": { "key": "look", "resolve": null, "reject": null }, "operations": [{ "key": "look" }] });
        assert_eq!((status, &body["data"]), (200, &wanted), "{body}");
        let (_, history) = admin.get(&format!("/items/directus_revisions?filter[item][_eq]={id}&sort=id&fields=activity.action")).await;
        let actions: Vec<_> = history["data"].as_array().into_iter().flatten().map(|row| row["activity"]["action"].clone()).collect();
        assert!(actions.first() == Some(&json!("create")) && actions.get(1) == Some(&json!("update")) || history["errors"].is_array(), "{history}");
    }

    async fn many_are_made_changed_found_and_deleted(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let made = admin.must_post("/flows?fields=id,name", json!([{ "name": "a" }, { "name": "b" }, { "name": "c", "trigger": "manual" }])).await;
        let made = made.as_array().expect("three");
        let ids = ["a", "b", "c"].map(|name| made.iter().find(|flow| flow["name"] == name).and_then(|flow| flow["id"].as_str()).expect("an id"));
        let (status, body) = admin.patch("/flows?fields=color", json!({ "keys": ids, "data": { "color": "#123456" } })).await;
        assert_eq!((status, &body["data"]), (200, &json!([{ "color": "#123456" }, { "color": "#123456" }, { "color": "#123456" }])));
        let (status, body) = admin.patch("/flows?fields=icon", json!({ "query": { "filter": { "trigger": { "_null": true } } }, "data": { "icon": "bolt" } })).await;
        assert_eq!((status, &body["data"]), (200, &json!([{ "icon": "bolt" }, { "icon": "bolt" }])));
        let (status, body) = admin.patch("/flows?fields=name&sort=name", json!([{ "id": ids[0], "name": "z" }, { "id": ids[1], "name": "y" }])).await;
        assert_eq!((status, &body["data"]), (200, &json!([{ "name": "y" }, { "name": "z" }])));
        let (status, body) = admin.search("/flows", json!({ "filter": { "icon": { "_eq": "bolt" } }, "fields": ["name"], "sort": ["-name"] })).await;
        assert_eq!((status, &body["data"]), (200, &json!([{ "name": "z" }, { "name": "y" }])));
        let (status, body) = admin.delete("/flows", json!([ids[0], ids[1]])).await;
        assert_eq!(status, 204, "{body}");
        let (_, body) = admin.get("/flows?aggregate[count]=*").await;
        assert_eq!(body["data"][0]["count"], json!(1));
        // By a query that has to name what it means.
        assert_eq!(admin.delete("/flows", json!({ "query": { "filter": { "name": { "_eq": "c" } } } })).await.0, 204);
        assert_eq!(admin.get("/flows").await.1["data"], json!([]));
    }

    async fn a_deleted_operation_leaves_no_link_and_a_deleted_flow_no_operation(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let (one, other) = (flow(&admin, json!({ "name": "one" })).await, flow(&admin, json!({ "name": "other" })).await);
        let last = operation(&admin, &one, "last", json!({})).await;
        let middle = operation(&admin, &one, "middle", json!({ "resolve": last, "reject": last })).await;
        let first = operation(&admin, &one, "first", json!({ "resolve": middle })).await;
        // A ring, and a link from another flow.
        assert_eq!(admin.patch(&format!("/operations/{last}"), json!({ "resolve": first })).await.0, 200);
        let stranger = operation(&admin, &other, "stranger", json!({ "reject": first })).await;
        assert_eq!(admin.patch(&format!("/flows/{one}"), json!({ "operation": first })).await.0, 200);

        assert_eq!(admin.delete(&format!("/operations/{middle}"), Value::Null).await.0, 204);
        let (_, body) = admin.get(&format!("/operations/{first}?fields=resolve,reject")).await;
        assert_eq!(body["data"], json!({ "resolve": null, "reject": null }));

        let (status, body) = admin.delete(&format!("/flows/{one}"), Value::Null).await;
        assert_eq!(status, 204, "{body}");
        let (_, body) = admin.get("/operations?fields=id,resolve,reject").await;
        assert_eq!(body["data"], json!([{ "id": stranger, "resolve": null, "reject": null }]));
        // The first operation of a flow may be another flow's.
        let borrowed = operation(&admin, &other, "borrowed", json!({})).await;
        let borrower = flow(&admin, json!({ "name": "borrower", "operation": borrowed })).await;
        assert_eq!(admin.delete("/operations", json!([borrowed])).await.0, 204);
        let (_, body) = admin.get(&format!("/flows/{borrower}?fields=operation")).await;
        assert_eq!(body["data"], json!({ "operation": null }));
    }

    async fn rules_hold_for_flows_as_for_everything(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        let mine = flow(&admin, json!({ "name": "mine", "color": "green" })).await;
        let hidden = flow(&admin, json!({ "name": "hidden" })).await;
        operation(&admin, &mine, "step", json!({})).await;
        let role = admin.create_role("keeper", true).await;
        let user = admin.create_user(Some(&role)).await;
        let keeper = server.client().login(&user.email, &user.password).await;
        assert_eq!(keeper.get("/flows").await.0, 403);
        let green = json!({ "color": { "_eq": "green" } });
        admin.permit(Some(&role), "directus_flows", "read", json!({ "fields": ["id", "name", "operations"], "permissions": green })).await;
        admin.permit(Some(&role), "directus_flows", "update", json!({ "fields": ["name"], "permissions": green })).await;
        assert_eq!(keeper.get("/flows?fields=name,operations.key").await.1["data"], json!([{ "name": "mine" }]));
        assert_eq!(keeper.get("/flows?fields=options").await.0, 403);
        assert_eq!(keeper.patch(&format!("/flows/{mine}?fields=name"), json!({ "name": "ours" })).await.1["data"], json!({ "name": "ours" }));
        assert_eq!(keeper.patch(&format!("/flows/{mine}"), json!({ "trigger": "manual" })).await.0, 403);
        assert_eq!(keeper.patch(&format!("/flows/{hidden}"), json!({ "name": "x" })).await.0, 403);
        assert_eq!(keeper.delete(&format!("/flows/{mine}"), Value::Null).await.0, 403);
        assert_eq!(keeper.post("/operations", json!({ "flow": mine, "key": "k", "type": "log", "position_x": 1, "position_y": 1 })).await.0, 403);
    }
}

/// A store of schedules that keeps missed occurrences. Nobody is there, and nobody has to be: flows are judged without.
const KEEPING: &[(&str, &str)] = &[("SCHEDULE_STORE", "nats"), ("MESSENGER_NATS", "nats://127.0.0.1:1")];
