//! What somebody with the link of a share may read: one item and what belongs to it, as far as the
//! share's role may. The token is signed here: logging in to shares has no route yet.

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use uuid::Uuid;
use waymark_tests::{Client, Server, each_engine};

/// Trails of parks with stops and wardens; blocks of a trail are texts or pictures (many-to-any).
async fn scene(admin: &Client) {
    let text = |name: &str| json!({ "field": name, "type": "string" });
    let key = |name: &str| json!({ "field": name, "type": "integer" });
    for (name, fields) in [
        ("parks", json!([text("name")])),
        ("wardens", json!([text("name"), text("phone")])),
        ("trails", json!([text("name"), text("secret"), key("park"), key("warden")])),
        ("stops", json!([text("name"), key("trail")])),
        ("texts", json!([text("body")])),
        ("pictures", json!([text("caption")])),
        ("blocks", json!([key("trail"), text("item"), text("collection")])),
    ] {
        admin.create_collection(name, fields).await;
    }
    for (many, field, one, alias) in [
        ("trails", "park", "parks", "trails"),
        ("trails", "warden", "wardens", "trails"),
        ("stops", "trail", "trails", "stops"),
        ("blocks", "trail", "trails", "blocks"),
    ] {
        admin
            .must_post(
                &format!("/fields/{one}"),
                json!({ "field": alias, "type": "alias", "meta": { "special": ["o2m"] } }),
            )
            .await;
        admin.must_post("/relations", json!({ "collection": many, "field": field, "related_collection": one, "meta": { "one_field": alias } })).await;
    }
    let any = json!({ "collection": "blocks", "field": "item", "related_collection": null,
        "meta": { "one_collection_field": "collection", "one_allowed_collections": ["texts", "pictures"] } });
    admin.must_post("/relations", any).await;
    admin.must_post("/items/parks", json!([{ "name": "North" }, { "name": "South" }])).await;
    admin.must_post("/items/wardens", json!([{ "name": "Ada", "phone": "1" }, { "name": "Bo", "phone": "2" }])).await;
    admin.must_post("/items/texts", json!([{ "body": "one" }, { "body": "two" }])).await;
    admin.must_post("/items/pictures", json!([{ "caption": "lake" }, { "caption": "hill" }])).await;
    let trail = |name: &str, park: i32, warden: i32, stops: &[&str], blocks: Value| {
        let stops: Vec<Value> = stops.iter().map(|name| json!({ "name": name })).collect();
        json!({ "name": name, "secret": "s", "park": park, "warden": warden, "stops": stops, "blocks": blocks })
    };
    let block = |collection: &str, item: i32| json!({ "collection": collection, "item": item });
    admin
        .must_post(
            "/items/trails",
            json!([
                trail("Ridge", 1, 1, &["gate", "view"], json!([block("texts", 1), block("pictures", 2)])),
                trail("River", 1, 2, &["ford"], json!([block("texts", 2)])),
                trail("Dune", 2, 1, &["beach"], json!([])),
            ]),
        )
        .await;
}

/// A share of the first trail for a role, as a logged-in caller; and its id.
async fn share(server: &Server, role: Option<&str>, dates: (&str, &str)) -> (Client, Uuid) {
    let id = Uuid::new_v4();
    let role_sql = role.map_or("NULL".to_owned(), |role| format!("'{role}'"));
    let (start, end) = dates;
    server.database.execute(&format!(
        "INSERT INTO directus_shares (id, name, collection, item, role, date_start, date_end) VALUES ('{id}', 'a link', 'trails', '1', {role_sql}, {start}, {end})"
    )).await;
    (server.client().with_token(token(json!({ "share": id }))), id)
}

fn token(more: Value) -> String {
    let mut claims = json!({ "role": null, "app_access": false, "admin_access": false, "iss": "waymark", "exp": 4_100_000_000_u64,
        "share_scope": { "collection": "trails", "item": "1" } });
    claims.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
    encode(&Header::new(Algorithm::HS256), &claims, &EncodingKey::from_secret(b"waymark-test-secret").expect("a key"))
        .expect("a token")
}

async fn names(client: &Client, path: &str) -> Vec<String> {
    let (status, body) = client.get(path).await;
    assert_eq!(status, 200, "{path}: {body}");
    let rows = body["data"].as_array().expect("a list").iter();
    rows.map(|row| row.as_object().and_then(|row| row.values().next()).unwrap_or(row))
        .map(|value| value.as_str().unwrap_or("").to_owned())
        .collect()
}

each_engine! {
    async fn a_share_shows_one_item_and_what_belongs_to_it(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let role = admin.create_role("walker", false).await;
        for collection in ["trails", "stops", "blocks", "texts", "pictures"] {
            admin.permit(Some(&role), collection, "read", json!({})).await;
        }
        admin.permit(Some(&role), "wardens", "read", json!({ "fields": ["id", "name", "trails"] })).await;
        admin.permit(Some(&role), "trails", "update", json!({})).await;
        admin.permit(Some(&role), "stops", "create", json!({})).await;
        let (guest, id) = share(&server, Some(&role), ("NULL", "NULL")).await;
        assert_eq!(names(&guest, "/items/trails?fields=name").await, ["Ridge"]);
        assert_eq!(names(&guest, "/items/stops?fields=name&sort=name").await, ["gate", "view"]);
        assert_eq!(names(&guest, "/items/wardens?fields=name").await, ["Ada"]);
        assert_eq!(names(&guest, "/items/texts?fields=body").await, ["one"]);
        assert_eq!(names(&guest, "/items/pictures?fields=caption").await, ["hill"]);
        // The warden's other trail does not belong to the item, by any way.
        let (_, body) = guest.get("/items/wardens?fields=name,trails.name").await;
        assert_eq!(body["data"], json!([{ "name": "Ada", "trails": [{ "name": "Ridge" }] }]), "{body}");
        let (_, body) = guest.get("/items/trails/1?fields=name,stops.name,blocks.item:texts.body&deep[stops][_sort]=name").await;
        assert_eq!(body["data"]["stops"], json!([{ "name": "gate" }, { "name": "view" }]), "{body}");
        for path in ["/items/trails/2", "/items/stops/3", "/items/parks", "/items/parks/1", "/items/wardens?fields=phone", "/users", "/roles", "/items/texts/2"] {
            let answer = guest.request("GET", path, None).await;
            assert_eq!((answer.status, answer.codes()), (403, vec!["FORBIDDEN"]), "{path}: {}", answer.body);
        }
        for (method, path, body) in [
            ("PATCH", "/items/trails/1", json!({ "name": "mine" })), ("POST", "/items/stops", json!({ "name": "x", "trail": 1 })), ("DELETE", "/items/trails/1", Value::Null),
        ] {
            let answer = guest.request(method, path, (!body.is_null()).then_some(body)).await;
            assert_eq!((answer.status, answer.codes()), (403, vec!["FORBIDDEN"]), "{method} {path}: {}", answer.body);
        }
        let (_, me) = guest.get("/users/me").await;
        assert_eq!(me["data"], json!({ "share": id, "role": { "id": role, "admin_access": false, "app_access": false } }));
    }

    async fn a_share_shows_no_more_than_its_role_may_read(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let role = admin.create_role("walker", true).await;
        admin.permit(Some(&role), "stops", "read", json!({ "permissions": { "name": { "_eq": "gate" } }, "fields": ["name"] })).await;
        let (guest, _) = share(&server, Some(&role), ("NULL", "NULL")).await;
        // No right on the item itself: its key. No way to the stops then; and nothing of the app's minimum but descriptions.
        let (_, body) = guest.get("/items/trails?fields=*").await;
        assert_eq!(body["data"], json!([1]), "{body}");
        assert_eq!(guest.get("/items/stops").await.0, 403);
        assert_eq!(guest.get("/roles").await.0, 403);
        assert_eq!(guest.get("/collections").await.0, 200);
        // With the way open the role's row filter still holds.
        admin.permit(Some(&role), "trails", "read", json!({ "fields": ["id", "stops"] })).await;
        assert_eq!(guest.get("/items/stops").await.0, 403, "the field that leads to the trail is not readable");
        let (status, rows) = admin.get("/permissions?filter[collection][_eq]=stops&fields=id").await;
        assert_eq!(status, 200);
        let path = format!("/permissions/{}", rows["data"][0]["id"]);
        assert_eq!(admin.patch(&path, json!({ "fields": ["name", "trail"] })).await.0, 200);
        assert_eq!(names(&guest, "/items/stops?fields=name").await, ["gate"]);
        assert_eq!(guest.get("/items/trails?fields=secret").await.0, 403);
        // Rows that the role may not see lead nowhere: with the trail hidden its stops are hidden as well.
        let (_, rules) = admin.get("/permissions?filter[collection][_eq]=trails&fields=id").await;
        let trails = format!("/permissions/{}", rules["data"][0]["id"]);
        assert_eq!(admin.patch(&trails, json!({ "permissions": { "name": { "_neq": "Ridge" } } })).await.0, 200);
        assert_eq!(names(&guest, "/items/stops?fields=name").await, Vec::<String>::new());
        assert_eq!(admin.patch(&trails, json!({ "permissions": {} })).await.0, 200);
        // What the role may read is read anew for each request.
        assert_eq!(admin.delete(&path, Value::Null).await.0, 204);
        assert_eq!(guest.get("/items/stops").await.0, 403);
    }

    async fn a_share_counts_within_its_dates_and_while_it_exists(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.permit(None, "trails", "read", json!({ "fields": ["id", "name"] })).await;
        let (open, id) = share(&server, None, ("'2001-01-01 00:00:00'", "'2037-01-01 00:00:00'")).await;
        assert_eq!(names(&open, "/items/trails?fields=name").await, ["Ridge"]);
        let (early, _) = share(&server, None, ("'2037-01-01 00:00:00'", "NULL")).await;
        let (late, _) = share(&server, None, ("NULL", "'2001-01-01 00:00:00'")).await;
        for guest in [&early, &late, &server.client().with_token(token(json!({ "share": Uuid::new_v4() })))] {
            let answer = guest.request("GET", "/items/trails", None).await;
            assert_eq!((answer.status, answer.codes()), (401, vec!["INVALID_CREDENTIALS"]), "{}", answer.body);
        }
        for claims in [json!({ "share": "nonsense" }), json!({ "share": null })] {
            let answer = server.client().with_token(token(claims)).request("GET", "/items/trails", None).await;
            assert_eq!((answer.status, answer.codes()), (403, vec!["INVALID_TOKEN"]), "{}", answer.body);
        }
        server.database.execute(&format!("DELETE FROM directus_shares WHERE id = '{id}'")).await;
        assert_eq!(open.get("/items/trails").await.0, 401);
    }

    async fn follow_is_a_relation_without_an_alias(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let filter = |step: &str, inner: Value| format!("/items/wardens?fields=name&sort=id&filter={}", json!({ step: inner }));
        assert_eq!(names(&admin, &filter("$FOLLOW(trails,warden)", json!({ "name": { "_eq": "River" } }))).await, ["Bo"]);
        assert_eq!(names(&admin, &filter("$FOLLOW(trails,warden)", json!({ "_none": { "park": { "name": { "_eq": "South" } } } }))).await, ["Bo"]);
        assert_eq!(names(&admin, &filter("$FOLLOW(trails,warden)", json!({ "_nnull": true }))).await, ["Ada", "Bo"]);
        let path = format!("/items/texts?fields=body&filter={}", json!({ "$FOLLOW(blocks,item,collection)": { "trail": { "name": { "_eq": "River" } } } }));
        assert_eq!(names(&admin, &path).await, ["two"]);
        let role = admin.create_role("walker", false).await;
        let user = admin.create_user(Some(&role)).await;
        admin.permit(Some(&role), "wardens", "read", json!({})).await;
        let walker = server.client().login(&user.email, &user.password).await;
        let long = format!("$FOLLOW(trails,{})", "x".repeat(500));
        for (caller, step, code) in [
            (&admin, "$FOLLOW(trails,park)", (400, "INVALID_QUERY")),
            (&admin, "$FOLLOW(nothing,warden)", (400, "INVALID_QUERY")),
            (&admin, "$FOLLOW(trails)", (400, "INVALID_QUERY")),
            (&admin, "$FOLLOW(trails,warden", (400, "INVALID_QUERY")),
            (&admin, "$FOLLOW(trails,name)", (400, "INVALID_QUERY")),
            (&admin, long.as_str(), (400, "INVALID_QUERY")),
            (&walker, "$FOLLOW(trails,warden)", (403, "FORBIDDEN")),
            (&walker, "$FOLLOW(nothing,warden)", (403, "FORBIDDEN")),
        ] {
            let answer = caller.request("GET", &filter(step, json!({ "name": { "_eq": "River" } })), None).await;
            assert_eq!((answer.status, answer.codes()), (code.0, vec![code.1]), "{step}: {}", answer.body);
        }
        // Hidden rows do not match.
        admin.permit(Some(&role), "trails", "read", json!({ "permissions": { "name": { "_neq": "River" } } })).await;
        assert_eq!(names(&walker, &filter("$FOLLOW(trails,warden)", json!({ "_nnull": true }))).await, ["Ada"]);
    }
}
