//! Rows that are asked by way of their related rows: pages and orders count each once.

use serde_json::json;
use waymark_tests::{Client, Server, each_engine};

use super::scene;

async fn names(client: &Client, query: &str) -> Vec<String> {
    let (status, body) = client.get(&format!("/items/lakes?fields=name&{query}")).await;
    assert_eq!(status, 200, "{query}: {body}");
    let rows = body["data"].as_array().expect("a list");
    rows.iter().map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
}

each_engine! {
    async fn an_offset_skips_parents_not_their_children(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        for filter in ["filter[rivers][_nnull]=true", "filter[rivers][length][_nnull]=true", "filter[rivers][_some][id][_gt]=0"] {
            assert_eq!(names(&admin, &format!("{filter}&sort=id")).await, ["Deep", "Flat"], "{filter}");
            assert_eq!(names(&admin, &format!("{filter}&sort=id&limit=5&offset=1")).await, ["Flat"], "{filter}");
            assert_eq!(names(&admin, &format!("{filter}&sort=id&limit=1&page=2")).await, ["Flat"], "{filter}");
            assert_eq!(names(&admin, &format!("{filter}&sort=-id&offset=2")).await, Vec::<String>::new(), "{filter}");
        }
        admin.permit(None, "lakes", "read", json!({ "permissions": { "rivers": { "_nnull": true } } })).await;
        assert_eq!(names(&server.client(), "sort=id&offset=1").await, ["Flat"]);
    }

    async fn a_level_of_deep_belongs_to_the_name_it_is_given_for(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let query = "fields=rivers.length,all.length&alias[all]=rivers&deep[rivers][_sort]=length&deep[rivers][_limit]=1";
        let (status, body) = admin.get(&format!("/items/lakes/1?{query}")).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(body["data"], json!({ "rivers": [{ "length": 98 }], "all": [{ "length": 460 }, { "length": 98 }] }));
    }

    async fn the_first_child_in_the_order_stands_for_all(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/lakes", json!([{ "name": "Wide", "rivers": [] }, { "name": "Far", "rivers": [] }])).await;
        admin.must_post("/items/rivers", json!([{ "name": "Aar", "length": 8, "lake": 4 }, { "name": "Bug", "length": 500, "lake": 5 }])).await;
        // Lengths: Deep 460 and 98, Flat 7 and null, Dry has no rivers, Wide 8, Far 500.
        assert_eq!(names(&admin, "sort=rivers.length,id").await, ["Flat", "Wide", "Deep", "Far", "Dry"]);
        assert_eq!(names(&admin, "sort=-rivers.length,id").await, ["Flat", "Dry", "Far", "Deep", "Wide"]);
    }
}
