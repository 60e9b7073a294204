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

    async fn sums_are_exact_beyond_64_bits(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        admin.create_collection("stars", json!([{ "field": "grams", "type": "bigInteger" }, { "field": "sky", "type": "string" }])).await;
        let (most, least) = (i64::MAX.to_string(), i64::MIN.to_string());
        admin.must_post("/items/stars", json!([
            { "sky": "a", "grams": most }, { "sky": "a", "grams": most }, { "sky": "a", "grams": 1 },
            { "sky": "b", "grams": least }, { "sky": "b", "grams": least }, { "sky": "b", "grams": "-5000000000" },
            { "sky": "c", "grams": most }, { "sky": "c", "grams": 2 }, { "sky": "c", "grams": "-3" },
            { "sky": "d", "grams": null },
        ])).await;
        let (status, body) = admin.get("/items/stars?aggregate[sum]=grams&aggregate[sumDistinct]=grams&groupBy=sky").await;
        assert_eq!(status, 200, "{body}");
        let sums = |sum: &str, distinct: &str, sky: &str| json!({ "sky": sky, "sum": { "grams": sum }, "sumDistinct": { "grams": distinct } });
        assert_eq!(body["data"], json!([
            sums("18446744073709551615", "9223372036854775808", "a"),
            sums("-18446744078709551616", "-9223372041854775808", "b"),
            sums("9223372036854775806", "9223372036854775806", "c"),
            { "sky": "d", "sum": { "grams": null }, "sumDistinct": { "grams": null } },
        ]), "{body}");
        let (_, body) = admin.get("/items/stars?aggregate[sum]=grams&groupBy=sky&sort=-sum.grams").await;
        let skies: Vec<&str> = body["data"].as_array().expect("groups").iter().filter_map(|group| group["sky"].as_str()).collect();
        assert_eq!(skies, ["d", "a", "c", "b"], "{body}");
    }
}
