//! Aggregates and groups under rules.

use serde_json::json;
use waymark_tests::{Server, each_engine};

use super::{critic, data, scene};

each_engine! {
    /// Threads 8510, 16148, 23180, 23021: rules with relations bind aggregates, groups and counts
    /// instead of breaking them.
    async fn aggregates_hold_visible_rows_only(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, critic) = critic(&server, &admin).await;
        let london = json!({ "house": { "city": { "_eq": "London" } } });
        admin.permit(Some(&role), "plays", "read", json!({ "fields": ["id", "title", "takings", "house", "cast"], "permissions": london })).await;
        admin.permit(Some(&role), "casts", "read", json!({ "permissions": { "actor": { "age": { "_lt": 45 } } } })).await;
        admin.permit(Some(&role), "actors", "read", json!({ "fields": ["id", "name"] })).await;
        for (query, expected) in [
            ("aggregate[count]=*", json!([{ "count": 3 }])),
            ("aggregate[countDistinct]=takings", json!([{ "countDistinct": { "takings": 2 } }])),
            ("aggregate[min]=takings&aggregate[sum]=takings&filter[title][_neq]=Hamlet", json!([{ "min": { "takings": "5" }, "sum": { "takings": "10" } }])),
            ("groupBy=house&aggregate[count]=id", json!([{ "house": 1, "count": { "id": 2 } }, { "house": 2, "count": { "id": 1 } }])),
            ("groupBy=house&aggregate[count]=id&filter[cast][part][_eq]=Fool", json!([{ "house": 1, "count": { "id": 1 } }])),
            // Lear is played by Cid, whose part may not be seen.
            ("aggregate[count]=*&filter[cast][part][_eq]=Lear", json!([{ "count": 0 }])),
            ("fields=id,count(cast)&sort=id", json!([{ "id": 1, "cast_count": 2 }, { "id": 2, "cast_count": 1 }, { "id": 5, "cast_count": 0 }])),
            ("fields=id&sort=-count(cast),id", json!([{ "id": 1 }, { "id": 2 }, { "id": 5 }])),
            ("aggregate[count]=*&search=Faust", json!([{ "count": 0 }])),
            ("aggregate[count]=*&search=Lear", json!([{ "count": 1 }])),
        ] {
            assert_eq!(data(&critic, &format!("/items/plays?{query}")).await, expected, "{query}");
        }
        // The rule goes through fields and collections that the caller can't read; the caller can't.
        for query in ["filter[house][city][_eq]=London&aggregate[count]=*", "groupBy=premiere", "aggregate[max]=premiere", "aggregate[sum]=price",
            "fields=count(nope)", "filter[count(nope)][_gt]=0", "aggregate[count]=id&groupBy=title,premiere", "aggregate[count]=id&sort=premiere&groupBy=premiere",
            "groupBy=year(premiere)", "filter[cast][actor][age][_gt]=1&aggregate[count]=*"] {
            let answer = critic.request("GET", &format!("/items/plays?{query}"), None).await;
            assert_eq!((answer.status, answer.codes()), (403, vec!["FORBIDDEN"]), "{query}: {}", answer.body);
        }
    }

    /// Threads 23189, 10062, 17142: groups sort by their aggregates; the collection's own order has
    /// nothing to do with them.
    async fn groups_sort_by_what_they_hold(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (status, body) = admin.patch("/collections/plays", json!({ "meta": { "sort_field": "premiere" } })).await;
        assert_eq!(status, 200, "{body}");
        for (query, expected) in [
            ("groupBy=takings&aggregate[count]=*&sort=-count,takings&limit=2", json!([{ "takings": "5", "count": 2 }, { "takings": "7", "count": 1 }])),
            ("groupBy=house&aggregate[sum]=takings&sort=sum.takings&filter[house][_in]=2,3", json!([{ "house": 2, "sum": { "takings": "5" } }, { "house": 3, "sum": { "takings": "7" } }])),
            ("groupBy=house&aggregate[sum]=takings&sort=-sum.takings&filter[house][_in]=2,3&limit=1", json!([{ "house": 3, "sum": { "takings": "7" } }])),
            ("groupBy=house&filter[house][_nnull]=true", json!([{ "house": 1 }, { "house": 2 }, { "house": 3 }])),
            ("groupBy=house&sort=-house", json!([{ "house": null }, { "house": 3 }, { "house": 2 }, { "house": 1 }])),
            ("groupBy=house,takings&filter[house][_eq]=2", json!([{ "house": 2, "takings": "5" }])),
            ("groupBy=house,house&filter[house][_eq]=2&aggregate[count]=id,title,id", json!([{ "house": 2, "count": { "id": 1, "title": 1 } }])),
            ("groupBy=year(premiere),month(premiere)&filter[premiere][_nnull]=true&aggregate[count]=*",
                json!([{ "premiere_year": 1999, "premiere_month": 12, "count": 1 }, { "premiere_year": 2000, "premiere_month": 1, "count": 1 }])),
        ] {
            assert_eq!(data(&admin, &format!("/items/plays?{query}")).await, expected, "{query}");
        }
        for query in ["groupBy=house&sort=title", "groupBy=house&aggregate[sum]=takings&sort=sum.price", "aggregate[count]=*&sort=title", "groupBy=house&sort=count"] {
            let answer = admin.request("GET", &format!("/items/plays?{query}"), None).await;
            assert_eq!((answer.status, answer.codes()), (400, vec!["INVALID_QUERY"]), "{query}: {}", answer.body);
        }
    }
}
