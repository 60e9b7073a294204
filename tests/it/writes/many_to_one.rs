//! Objects where the key of another row belongs.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

use super::{change, column, read, scene};

each_engine! {
    async fn a_key_links_null_unlinks_and_an_object_is_written(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/venues", json!([{ "name": "Hall" }, { "name": "Barn", "seats": 5 }])).await;
        let path = "/items/shows?fields=venue.id,venue.name,venue.seats";
        for (venue, expected) in [
            (json!(2), json!({ "id": 2, "name": "Barn", "seats": 5 })),
            (json!("2"), json!({ "id": 2, "name": "Barn", "seats": 5 })),
            (Value::Null, Value::Null),
            (json!({ "name": "Pier" }), json!({ "id": 3, "name": "Pier", "seats": null })),
            (json!({ "id": null, "name": "Dock" }), json!({ "id": 4, "name": "Dock", "seats": null })),
            (json!({ "id": 1 }), json!({ "id": 1, "name": "Hall", "seats": null })),
            (json!({ "id": 1, "seats": 9 }), json!({ "id": 1, "name": "Hall", "seats": 9 })),
            (json!({ "id": 70, "name": "Yard" }), json!({ "id": 70, "name": "Yard", "seats": null })),
        ] {
            let made = admin.must_post(path, json!({ "name": "x", "venue": venue })).await;
            assert_eq!(made["venue"], expected, "{venue}");
        }
        let changed = change(&admin, "/items/shows/1?fields=venue.name,venue.seats", json!({ "venue": { "id": 70, "seats": 1 } })).await;
        assert_eq!(changed, json!({ "venue": { "name": "Yard", "seats": 1 } }));
        assert_eq!(change(&admin, "/items/shows/1?fields=venue", json!({ "venue": null })).await, json!({ "venue": null }));
        assert_eq!(column(&admin, "venues", "name").await, ["Hall", "Barn", "Pier", "Dock", "Yard"]);
    }

    async fn objects_of_a_batch_keep_to_their_rows(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/venues", json!([{ "name": "Hall" }, { "name": "Barn" }])).await;
        let rows = json!([
            { "name": "a", "venue": { "name": "New A" } },
            { "name": "b", "venue": { "id": 2, "seats": 20 } },
            { "name": "c", "venue": 1 },
            { "name": "d", "venue": { "name": "New D" } },
            { "name": "e", "venue": { "id": 50, "name": "Fifty" } },
            { "name": "f", "venue": { "id": 50, "seats": 51 } },
            { "name": "g", "venue": { "id": 2, "seats": 20 } },
            { "name": "h", "venue": { "name": "New A" } },
        ]);
        let made = admin.must_post("/items/shows?fields=name,venue.name,venue.seats", rows).await;
        let venue = |name: &str, seats: Value| json!({ "name": name, "seats": seats });
        let expected = [
            ("a", venue("New A", Value::Null)), ("b", venue("Barn", json!(20))), ("c", venue("Hall", Value::Null)), ("d", venue("New D", Value::Null)),
            ("e", venue("Fifty", json!(51))), ("f", venue("Fifty", json!(51))), ("g", venue("Barn", json!(20))), ("h", venue("New A", Value::Null)),
        ].map(|(name, venue)| json!({ "name": name, "venue": venue }));
        assert_eq!(made, json!(expected));
        let edits = json!([{ "id": 1, "venue": { "id": 1, "seats": 1 } }, { "id": 2, "venue": { "name": "Late" } }, { "id": 3, "venue": null }]);
        change(&admin, "/items/shows", edits).await;
        let after = read(&admin, "/items/shows?fields=venue.name,venue.seats&sort=id&limit=3").await;
        assert_eq!(after, json!([{ "venue": venue("Hall", json!(1)) }, { "venue": venue("Late", Value::Null) }, { "venue": null }]));
    }

    async fn rows_that_share_a_payload_share_its_object(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/shows", json!([{ "name": "a" }, { "name": "b" }])).await;
        change(&admin, "/items/shows", json!({ "keys": [1, 2], "data": { "venue": { "name": "Shared" } } })).await;
        assert_eq!(column(&admin, "shows", "venue").await, [json!(1), json!(1)]);
        assert_eq!(column(&admin, "venues", "name").await, ["Shared"]);
    }

    async fn objects_may_hold_objects_and_lists(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let act = json!({ "name": "Opening", "show": { "name": "Gala", "venue": { "name": "Hall", "shows": [{ "name": "Matinee", "acts": [{ "name": "Clown" }] }] } } });
        let made = admin.must_post("/items/acts?fields=name,show.name,show.venue.name,show.venue.shows.name,show.venue.shows.acts.name&deep[show][venue][shows][_sort]=name", act).await;
        let shows = json!([{ "name": "Gala", "acts": [{ "name": "Opening" }] }, { "name": "Matinee", "acts": [{ "name": "Clown" }] }]);
        assert_eq!(made, json!({ "name": "Opening", "show": { "name": "Gala", "venue": { "name": "Hall", "shows": shows } } }));
    }
}
