//! Aggregates and groups.

use serde_json::json;
use waymark_tests::{Server, each_engine};

use super::scene;

each_engine! {
    async fn aggregates_count_and_sum_alike(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        for (query, expected) in [
            ("aggregate[count]=*", json!([{ "count": 8 }])),
            ("aggregate[count]=length", json!([{ "count": { "length": 7 } }])),
            ("aggregate[countDistinct]=length", json!([{ "countDistinct": { "length": 6 } }])),
            ("aggregate[sum]=length,flow", json!([{ "sum": { "length": 726, "flow": "169.0" } }])),
            ("aggregate[sumDistinct]=length", json!([{ "sumDistinct": { "length": 628 } }])),
            ("aggregate[min]=length,mapped&aggregate[max]=flow", json!([{ "min": { "length": 1, "mapped": "1990-05-17" }, "max": { "flow": "147.0" } }])),
            ("aggregate[avg]=length&filter[length][_lt]=10", json!([{ "avg": { "length": 4 } }])),
            ("aggregate[sum]=length&filter[length][_gt]=1000", json!([{ "sum": { "length": null } }])),
            ("aggregate[count]=*&filter[length][_gt]=1000", json!([{ "count": 0 }])),
            ("groupBy=lake&aggregate[count]=*&sort=lake", json!([{ "lake": 1, "count": 2 }, { "lake": 2, "count": 2 }, { "lake": null, "count": 4 }])),
            ("groupBy=lake&aggregate[sum]=length&sort=-sum.length&limit=1", json!([{ "lake": 1, "sum": { "length": 558 } }])),
            ("groupBy=year(mapped)&aggregate[count]=*&filter[mapped][_nnull]=true&sort=year(mapped)",
                json!([{ "mapped_year": 1990, "count": 1 }, { "mapped_year": 2001, "count": 2 }])),
        ] {
            let (status, body) = admin.get(&format!("/items/rivers?{query}")).await;
            assert_eq!(status, 200, "{query}: {body}");
            let (mut got, mut expected) = (body["data"].clone(), expected);
            // 4 and 4.0 are the same number.
            for list in [&mut got, &mut expected] {
                if let Some(avg) = list.get_mut(0).and_then(|row| row.get_mut("avg")) {
                    avg["length"] = json!(avg["length"].as_f64());
                }
            }
            assert_eq!(got, expected, "{query}");
        }
    }

    async fn counts_of_a_relation_hold_visible_children_only(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (_, body) = admin.get("/items/lakes?fields=count(rivers)&sort=id").await;
        assert_eq!(body["data"], json!([{ "rivers_count": 2 }, { "rivers_count": 2 }, { "rivers_count": 0 }]), "{body}");
        admin.permit(None, "lakes", "read", json!({})).await;
        admin.permit(None, "rivers", "read", json!({ "permissions": { "length": { "_lt": 99 } } })).await;
        let (_, body) = server.client().get("/items/lakes?fields=count(rivers)&sort=id").await;
        assert_eq!(body["data"], json!([{ "rivers_count": 1 }, { "rivers_count": 1 }, { "rivers_count": 0 }]), "{body}");
    }
}
