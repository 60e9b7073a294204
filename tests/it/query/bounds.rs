//! Limits: of lists, nested lists and groups, by default and by settings; and what `meta` belongs to.

use serde_json::{Value, json};
use waymark_tests::{Client, Server, each_engine};

use crate::faults::{data, ids, scene};

async fn count(client: &Client, path: &str) -> usize {
    data(client, path).await.as_array().map_or(0, Vec::len)
}

each_engine! {
    async fn the_largest_limit_binds_every_level(kind) {
        let server = Server::start_with(kind, &[("QUERY_LIMIT_DEFAULT", "3"), ("QUERY_LIMIT_MAX", "4")]).await;
        let admin = server.admin().await;
        scene(&admin).await;
        for (query, rows) in [("", 3), ("?limit=-1", 4), ("?limit=4", 4), ("?limit=2", 2), ("?limit=", 0), ("?groupBy=id", 3), ("?groupBy=id&limit=-1", 4), ("?page=2&limit=3", 2), ("?limit=-1&offset=3", 2)] {
            assert_eq!(count(&admin, &format!("/items/plays{query}")).await, rows, "{query}");
        }
        assert_eq!(data(&admin, "/items/plays?aggregate[count]=*").await, json!([{ "count": 5 }]));
        let more: Vec<Value> = (0..6).map(|number| json!({ "play": 1, "part": format!("page {number}") })).collect();
        admin.must_post("/items/casts?fields=id", json!(more)).await;
        for (deep, rows) in [("", 3), ("&deep[cast][_limit]=-1", 4), ("&deep[cast][_limit]=4", 4)] {
            assert_eq!(data(&admin, &format!("/items/plays/1?fields=cast.id{deep}")).await["cast"].as_array().map(Vec::len), Some(rows), "{deep}");
        }
        for path in ["/items/plays?limit=5", "/items/plays?fields=cast.id&deep[cast][_limit]=5", "/items/plays?groupBy=id&limit=5", "/users?limit=5"] {
            let answer = admin.request("GET", path, None).await;
            assert_eq!((answer.status, answer.codes()), (400, vec!["INVALID_QUERY"]), "{path}: {}", answer.body);
        }
        assert_eq!(admin.search("/items/plays", json!({ "limit": 5 })).await.0, 400);
        assert_eq!(admin.search("/items/plays", json!({ "fields": ["cast.id"], "deep": { "cast": { "_limit": 5 } } })).await.0, 400);
        // Lists of permissions have no bound.
        let role = admin.create_role("many", false).await;
        for collection in ["houses", "plays", "actors", "casts", "notices", "directus_users"] {
            admin.permit(Some(&role), collection, "read", json!({})).await;
        }
        assert_eq!(count(&admin, &format!("/permissions?filter[role][_eq]={role}")).await, 6);
    }

    async fn meta_stands_beside_lists_that_ask_for_it(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        for (query, meta) in [
            ("meta=total_count", json!({ "total_count": 5 })), ("meta[]=filter_count&meta[]=total_count", json!({ "total_count": 5, "filter_count": 2 })),
            ("meta=*&limit=0", json!({ "total_count": 5, "filter_count": 2 })), ("meta=filter_count&page=7", json!({ "filter_count": 2 })),
        ] {
            assert_eq!(admin.get(&format!("/items/plays?filter[takings][_eq]=5&{query}")).await.1["meta"], meta, "{query}");
        }
        for path in ["/items/plays", "/items/plays?meta=", "/items/plays/1?meta=*", "/collections?meta=*", "/fields?meta=*", "/fields/plays?meta=*", "/relations?meta=*"] {
            let (status, body) = admin.get(path).await;
            assert_eq!((status, body.get("meta")), (200, None), "{path}");
        }
        for path in ["/users?meta=total_count", "/roles?meta=*", "/permissions?meta=*"] {
            let (status, body) = admin.get(path).await;
            assert!(status == 200 && body["meta"]["total_count"].is_number(), "{path}: {body}");
        }
        let (_, body) = admin.search("/items/plays", json!({ "meta": ["filter_count"], "search": "lear", "limit": 0 })).await;
        assert_eq!(body, json!({ "data": [], "meta": { "filter_count": 1 } }));
    }

    async fn a_list_keeps_its_order_from_page_to_page(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        // Equal keys: the primary key decides, so that no row is shown twice or never.
        for sort in ["takings", "-takings", "house.city", "-year(premiere)", "cast.part", "count(cast)", "-house.name,takings"] {
            let mut seen = Vec::new();
            for page in 1..=5 {
                seen.extend(ids(&admin, &format!("/items/plays?fields=id&limit=1&page={page}&sort={sort}")).await);
            }
            assert_eq!(seen, ids(&admin, &format!("/items/plays?fields=id&sort={sort}")).await, "{sort}");
            seen.sort_unstable();
            assert_eq!(seen, [1, 2, 3, 4, 5], "{sort}");
        }
        assert_eq!(admin.patch("/collections/plays", json!({ "meta": { "sort_field": "takings" } })).await.0, 200);
        assert_eq!(ids(&admin, "/items/plays?fields=id").await, [2, 5, 3, 1, 4]);
        assert_eq!(ids(&admin, "/items/plays?fields=id&sort=").await, [2, 5, 3, 1, 4]);
        assert_eq!(ids(&admin, "/items/plays?fields=id&sort=title").await, [5, 3, 1, 2, 4]);
    }
}
