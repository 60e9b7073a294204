//! `export=`: every format on every engine, headers, bounds, rights. Memory: `memory`; readers that go away:
//! `abandoned`.

mod abandoned;
mod memory;

use serde_json::{Value, json};
use waymark_tests::{Client, Server, each_engine};

/// Harbours with boats; one boat has no harbour.
async fn scene(admin: &Client) {
    admin
        .create_collection(
            "harbours",
            json!([{ "field": "name", "type": "string" }, { "field": "depth", "type": "decimal", "schema": { "numeric_precision": 6, "numeric_scale": 2 } }]),
        )
        .await;
    admin
        .create_collection(
            "boats",
            json!([
                { "field": "name", "type": "string" },
                { "field": "sails", "type": "integer" },
                { "field": "afloat", "type": "boolean" },
                { "field": "papers", "type": "json" },
                { "field": "marks", "type": "csv" },
                { "field": "pin", "type": "string", "meta": { "special": ["conceal"] } },
                { "field": "harbour", "type": "integer" },
            ]),
        )
        .await;
    let alias = json!({ "field": "boats", "type": "alias", "meta": { "special": ["o2m"] } });
    admin.must_post("/fields/harbours", alias).await;
    let relation = json!({ "collection": "boats", "field": "harbour", "related_collection": "harbours", "meta": { "one_field": "boats" } });
    admin.must_post("/relations", relation).await;
    admin.must_post("/items/harbours", json!([{ "name": "Föhr", "depth": "4.50" }, { "name": "Øst" }])).await;
    admin
        .must_post(
            "/items/boats",
            json!([
                { "name": "Ann", "sails": 2, "afloat": true, "papers": { "flag": "NO", "crew": [1, 2] }, "marks": ["a", "b"], "pin": "77", "harbour": 1 },
                { "name": "say \"Bee\", \\ & <tag>\nline", "sails": -1, "afloat": false, "papers": ["x"], "harbour": 1 },
                { "name": "Cid", "papers": null },
            ]),
        )
        .await;
}

/// The file of an export, with its type.
async fn file(client: &Client, path: &str) -> (String, String) {
    let answer = client.request("GET", path, None).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    let header = |name: &str| answer.headers[name].to_str().expect("text").to_owned();
    assert!(header("content-disposition").starts_with("attachment; filename=\""), "{path}");
    assert_eq!(header("cache-control"), "no-store");
    let body = match answer.body {
        Value::String(text) => text,
        Value::Null => String::new(),
        json => json.to_string(),
    };
    (body, header("content-type"))
}

each_engine! {
    async fn a_list_can_be_had_in_every_format(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (csv, form) = file(&admin, "/items/boats?export=csv&fields=id,name,sails,afloat,marks,pin,harbour.name,harbour.depth&sort=id").await;
        assert_eq!(form, "text/csv; charset=utf-8");
        let wanted = "\"id\",\"name\",\"sails\",\"afloat\",\"marks\",\"pin\",\"harbour.name\",\"harbour.depth\",\"harbour\"\n\
            1,\"Ann\",2,true,\"[\"\"a\"\",\"\"b\"\"]\",\"**********\",\"Föhr\",\"4.50\",\n\
            2,\"say \"\"Bee\"\", \\ & <tag>\nline\",-1,false,,,\"Föhr\",\"4.50\",\n3,\"Cid\",,,,,,,";
        assert_eq!(csv, wanted);
        let (csv, _) = file(&admin, "/items/boats?export=csv&fields=id,papers&sort=id").await;
        assert_eq!(csv, "\"id\",\"papers.flag\",\"papers.crew\",\"papers\"\n1,\"NO\",\"[1,2]\",\n2,,,\"[\"\"x\"\"]\"\n3,,,");
        let (json_text, form) = file(&admin, "/items/boats?export=json&fields=*,harbour.*&sort=id").await;
        assert_eq!(form, "application/json; charset=utf-8");
        let plain = admin.get("/items/boats?fields=*,harbour.*&sort=id").await.1;
        assert_eq!(serde_json::from_str::<Value>(&json_text).expect("JSON"), plain["data"]);
        let (xml, form) = file(&admin, "/items/boats?export=xml&fields=id,name,harbour.name&sort=id&filter[id][_gt]=1").await;
        assert_eq!(form, "text/xml; charset=utf-8");
        let wanted = "<data><item><id>2</id><name>say &quot;Bee&quot;, \\ &amp; &lt;tag&gt;\nline</name><harbour><name>Föhr</name></harbour></item>\
            <item><id>3</id><name>Cid</name><harbour/></item></data>";
        assert!(xml.starts_with("<?xml version=\"1.0\"") && xml.ends_with(wanted), "{xml}");
        let (yaml, form) = file(&admin, "/items/harbours?export=yaml&fields=id,name,depth,boats.name&sort=id").await;
        assert_eq!(form, "text/yaml; charset=utf-8");
        assert!(yaml.starts_with("- id: 1\n  name: Föhr\n  depth: \"4.50\"\n  boats:\n"), "{yaml}");
        assert!(yaml.ends_with("- id: 2\n  name: Øst\n  depth: null\n  boats: []\n"), "{yaml}");
    }

    async fn levels_below_meta_and_paging_are_as_in_the_plain_answer(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        for query in [
            "fields=name,boats.name,boats.harbour.name&sort=-name",
            "fields=name,boats&deep[boats][_sort]=-id&deep[boats][_limit]=1",
            "fields=*.*&limit=1&page=2&sort=id",
            "fields=boats&filter[boats][_null]=true",
            "aggregate[count]=*&groupBy=name&sort=name",
            "limit=0", "limit=0&fields=*.*", "search=nothing at all",
        ] {
            let (text, _) = file(&admin, &format!("/items/harbours?export=json&{query}")).await;
            let plain = admin.get(&format!("/items/harbours?{query}")).await.1;
            assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), plain["data"], "{query}");
        }
        for (format, empty) in [("csv", ""), ("yaml", "[]"), ("json", "[]")] {
            assert_eq!(file(&admin, &format!("/items/harbours?export={format}&limit=0")).await.0, empty);
        }
        let answer = admin.request("SEARCH", "/items/boats", Some(json!({ "keys": [3, 1], "query": { "export": "csv", "fields": ["name"], "sort": ["id"] } }))).await;
        assert_eq!((answer.status, &answer.body), (200, &json!("\"name\"\n\"Ann\"\n\"Cid\"")));
    }

    async fn one_item_a_singleton_and_other_envelopes_can_be_exported(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/collections", json!({ "collection": "notice", "schema": {}, "meta": { "singleton": true }, "fields": [
            { "field": "id", "type": "integer", "schema": { "is_primary_key": true, "has_auto_increment": true } }, { "field": "text", "type": "string" } ] })).await;
        assert_eq!(admin.patch("/items/notice", json!({ "text": "low tide" })).await.0, 200);
        assert_eq!(file(&admin, "/items/boats/1?export=csv&fields=name,sails").await.0, "\"name\",\"sails\"\n\"Ann\",2");
        assert_eq!(file(&admin, "/items/notice?export=yaml&fields=text").await.0, "text: low tide\n");
        let (text, _) = file(&admin, "/users/me?export=json&fields=email").await;
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), json!({ "email": "admin@example.com" }));
        let answer = admin.request("GET", "/collections/boats?export=xml", None).await;
        assert!(answer.headers["content-disposition"].to_str().expect("text").contains("directus_collections "));
        assert!(answer.body.as_str().is_some_and(|xml| xml.contains("<collection>boats</collection>")), "{}", answer.body);
        // A write is answered as ever.
        let (status, body) = admin.post("/items/boats?export=csv&fields=name", json!({ "name": "Dot" })).await;
        assert_eq!((status, &body), (200, &json!({ "data": { "name": "Dot" } })));
    }

    async fn an_export_shows_what_its_reader_may_see_and_fails_like_any_read(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let role = admin.create_role("lookout", false).await;
        let user = admin.create_user(Some(&role)).await;
        admin.permit(Some(&role), "boats", "read", json!({ "fields": ["id", "name", "harbour"], "permissions": { "sails": { "_gt": 0 } } })).await;
        let lookout = server.client().login(&user.email, &user.password).await;
        assert_eq!(file(&lookout, "/items/boats?export=csv").await.0, "\"id\",\"name\",\"harbour\"\n1,\"Ann\",1");
        assert_eq!(file(&lookout, "/items/boats?export=csv&fields=name,harbour.name").await.0, "\"name\"\n\"Ann\"");
        for (path, code) in [
            ("/items/boats?export=csv&fields=sails", (403, "FORBIDDEN")),
            ("/items/harbours?export=csv", (403, "FORBIDDEN")),
            ("/items/harbours?export=xml&fields=boats.name", (403, "FORBIDDEN")),
            ("/items/nothing?export=json", (403, "FORBIDDEN")),
            ("/items/boats/2?export=json", (403, "FORBIDDEN")),
            ("/items/boats?export=pdf", (400, "INVALID_QUERY")),
            ("/items/boats?export[]=csv", (400, "INVALID_QUERY")),
            ("/items/boats?export=CSV", (400, "INVALID_QUERY")),
            ("/items/boats?export=csv&filter[name][_about]=1", (400, "INVALID_QUERY")),
        ] {
            let answer = lookout.request("GET", path, None).await;
            assert_eq!((answer.status, answer.codes()), (code.0, vec![code.1]), "{path}: {}", answer.body);
            assert!(!answer.headers.contains_key("content-disposition"), "{path}");
        }
    }
}
