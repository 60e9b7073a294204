//! The query language over HTTP: filters, sort, paging, search, aliases, aggregates.

mod aggregate;
mod filter;
mod related_rows;

use serde_json::json;
use waymark_tests::{Client, Kind, Server, each_engine};

/// Rivers with lakes; the names try the wildcards of LIKE.
async fn scene(admin: &Client) {
    admin
        .create_collection(
            "lakes",
            json!([{ "field": "name", "type": "string" }, { "field": "depth", "type": "integer" }]),
        )
        .await;
    admin
        .create_collection(
            "rivers",
            json!([
                { "field": "name", "type": "string" },
                { "field": "length", "type": "integer" },
                { "field": "flow", "type": "decimal", "schema": { "numeric_precision": 8, "numeric_scale": 1 } },
                { "field": "mapped", "type": "date" },
                { "field": "salty", "type": "boolean" },
                { "field": "lake", "type": "integer" },
                { "field": "secret", "type": "string", "meta": { "special": ["conceal"] } },
            ]),
        )
        .await;
    admin
        .must_post("/fields/lakes", json!({ "field": "rivers", "type": "alias", "meta": { "special": ["o2m"] } }))
        .await;
    let relation = json!({ "collection": "rivers", "field": "lake", "related_collection": "lakes", "meta": { "one_field": "rivers" } });
    admin.must_post("/relations", relation).await;
    admin
        .must_post(
            "/items/lakes",
            json!([{ "name": "Deep", "depth": 300 }, { "name": "Flat", "depth": 3 }, { "name": "Dry", "depth": null }]),
        )
        .await;
    admin.must_post("/items/rivers", json!([
        { "name": "Mur", "length": 460, "flow": "147.0", "mapped": "1990-05-17", "salty": false, "lake": 1, "secret": "otter" },
        { "name": "mürz", "length": 98, "flow": "21.5", "mapped": "2001-12-31", "salty": false, "lake": 1, "secret": "trout" },
        { "name": "100%", "length": 7, "salty": true, "lake": 2 },
        { "name": "a_b", "length": null, "mapped": "2001-01-01", "lake": 2 },
        { "name": "axb", "length": 12 },
        { "name": "", "length": 1 },
        { "name": null, "length": 98 },
        { "name": "back\\slash", "length": 50, "flow": "0.5" },
    ])).await;
}

/// The ids of a list.
async fn ids(client: &Client, query: &str) -> Vec<i64> {
    let (status, body) = client.get(&format!("/items/rivers?{query}")).await;
    assert_eq!(status, 200, "{query}: {body}");
    body["data"].as_array().expect("a list").iter().map(|row| row["id"].as_i64().expect("an id")).collect()
}

each_engine! {
    async fn nothing_sorts_last_ascending_and_first_descending(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        assert_eq!(ids(&admin, "sort=length,id").await, [6, 3, 5, 8, 2, 7, 1, 4]);
        assert_eq!(ids(&admin, "sort=-length,-id").await, [4, 1, 7, 2, 8, 5, 3, 6]);
        assert_eq!(ids(&admin, "sort=lake.depth,id&filter[length][_gt]=6").await, [3, 1, 2, 5, 7, 8]);
        assert_eq!(ids(&admin, "sort=-year(mapped),id&filter[mapped][_nnull]=true").await, [2, 4, 1]);
    }

    async fn pages_cut_the_sorted_list(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        assert_eq!(ids(&admin, "limit=3").await, [1, 2, 3]);
        assert_eq!(ids(&admin, "limit=3&page=3").await, [7, 8]);
        assert_eq!(ids(&admin, "limit=3&page=2&offset=1").await, [4, 5, 6]);
        assert_eq!(ids(&admin, "limit=2&offset=6").await, [7, 8]);
        assert_eq!(ids(&admin, "offset=6").await, [7, 8]);
        assert_eq!(ids(&admin, "limit=-1&offset=7").await, [8]);
        assert_eq!(ids(&admin, "limit=0").await, Vec::<i64>::new());
        assert_eq!(ids(&admin, "page=99").await, Vec::<i64>::new());
    }

    async fn meta_counts_what_the_caller_may_see(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (_, body) = admin.get("/items/rivers?meta=*&limit=1&filter[length][_lt]=50").await;
        assert_eq!(body["meta"], json!({ "total_count": 8, "filter_count": 3 }), "{body}");
        admin.permit(None, "rivers", "read", json!({ "fields": ["id", "name", "length"], "permissions": { "length": { "_lte": 98 } } })).await;
        let (_, body) = server.client().get("/items/rivers?meta=*&limit=1&filter[length][_lt]=50").await;
        assert_eq!(body["meta"], json!({ "total_count": 6, "filter_count": 3 }), "{body}");
        let (_, body) = server.client().get("/items/rivers?meta=filter_count&limit=0&search=98").await;
        assert_eq!(body["meta"], json!({ "filter_count": 2 }), "{body}");
    }

    async fn search_is_literal_ignores_case_and_skips_what_is_hidden(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        assert_eq!(ids(&admin, "search=MUR").await, [1]);
        if kind != Kind::Sqlite {
            // SQLite folds the case of ASCII only.
            assert_eq!(ids(&admin, "search=M%C3%9CRZ").await, [2]);
        }
        assert_eq!(ids(&admin, "search=%25").await, [3]);
        assert_eq!(ids(&admin, "search=_").await, [4]);
        assert_eq!(ids(&admin, "search=%5C").await, [8]);
        assert_eq!(ids(&admin, "search=98").await, [2, 7]);
        assert_eq!(ids(&admin, "search=otter").await, Vec::<i64>::new());
        admin.permit(None, "rivers", "read", json!({ "fields": ["id", "length", "secret"] })).await;
        let public = server.client();
        assert_eq!(ids(&public, "search=mur").await, Vec::<i64>::new());
        assert_eq!(ids(&public, "search=otter").await, Vec::<i64>::new());
        assert_eq!(ids(&public, "search=98").await, [2, 7]);
    }

    async fn a_concealed_value_is_masked_under_every_name(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let mask = json!("**********");
        let (_, body) = admin.get("/items/rivers/1?fields=secret,x&alias[x]=secret").await;
        assert_eq!(body["data"], json!({ "secret": mask, "x": mask }));
        let (_, body) = admin.get("/items/lakes/1?fields=rivers.x,rivers.secret&deep[rivers][_alias][x]=secret&deep[rivers][_limit]=1").await;
        assert_eq!(body["data"]["rivers"][0], json!({ "x": mask, "secret": mask }), "{body}");
        for query in ["aggregate[max]=secret", "aggregate[min]=secret", "groupBy=secret&aggregate[count]=*", "sort=secret", "groupBy=secret"] {
            let (status, body) = admin.get(&format!("/items/rivers?{query}")).await;
            assert!(status == 200 || status == 400, "{query}: {status} {body}");
            assert!(!body.to_string().contains("otter"), "{query}: {body}");
        }
        let (status, _) = admin.patch("/items/rivers/1", json!({ "secret": mask })).await;
        assert_eq!(status, 200);
        assert_eq!(ids(&admin, "filter[secret][_nempty]=true").await, [1, 2]);
    }

    async fn alias_and_deep_shape_a_relation_twice(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (status, body) = admin.get("/items/lakes?fields=name,long.name,short.length&alias[long]=rivers&alias[short]=rivers\
            &deep[long][_filter][length][_gt]=90&deep[short][_sort]=length&deep[short][_limit]=1&sort=id&limit=2").await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(body["data"], json!([
            { "name": "Deep", "long": [{ "name": "Mur" }, { "name": "mürz" }], "short": [{ "length": 98 }] },
            { "name": "Flat", "long": [], "short": [{ "length": 7 }] },
        ]));
    }

    async fn search_bodies_and_urls_ask_alike(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let query = json!({ "filter": { "length": { "_between": [10, 100] } }, "sort": ["-length", "id"], "fields": ["id"], "limit": 3 });
        let (status, body) = admin.search("/items/rivers", query).await;
        assert_eq!((status, body), (200, json!({ "data": [{ "id": 2 }, { "id": 7 }, { "id": 8 }] })));
        assert_eq!(ids(&admin, "filter[length][_between]=10,100&sort=-length,id&fields=id&limit=3").await, [2, 7, 8]);
        let answer = admin.request("SEARCH", "/items/rivers", Some(json!({ "keys": [5, 3, 99], "query": { "fields": ["id"] } }))).await;
        assert_eq!((answer.status, answer.body), (200, json!({ "data": [{ "id": 3 }, { "id": 5 }] })));
        assert_eq!(admin.request("SEARCH", "/items/rivers", None).await.body["data"].as_array().map(Vec::len), Some(8));
    }
}
