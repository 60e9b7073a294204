//! Filters, sorts and nested lists through relations.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

use super::{critic, data, filter, ids, scene};

each_engine! {
    /// Threads 15437, 23294 (PR 23272): what a filter goes through is cut by the rules of its rows.
    async fn a_relation_filter_matches_only_readable_rows(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, critic) = critic(&server, &admin).await;
        for collection in ["houses", "plays", "actors"] {
            admin.permit(Some(&role), collection, "read", json!({})).await;
        }
        admin.permit(Some(&role), "casts", "read", json!({ "permissions": { "part": { "_neq": "Ghost" } } })).await;
        let ghost = json!({ "part": { "_eq": "Ghost" } });
        // (filter, what the admin finds, what the critic finds)
        for (rule, all, visible) in [
            (json!({ "cast": ghost }), &[1][..], &[][..]),
            (json!({ "cast": { "_some": ghost } }), &[1], &[]),
            (json!({ "cast": { "_none": ghost } }), &[2, 3, 4, 5], &[1, 2, 3, 4, 5]),
            (json!({ "cast": { "actor": { "name": { "_eq": "Bob" } } } }), &[1, 3], &[3]),
            (json!({ "cast": { "_some": { "actor": { "name": { "_eq": "Bob" } } } } }), &[1, 3], &[3]),
            (json!({ "cast": { "_none": { "actor": { "name": { "_eq": "Bob" } } } } }), &[2, 4, 5], &[1, 2, 4, 5]),
            (json!({ "cast": { "_eq": 2 } }), &[1], &[]),
            (json!({ "cast": { "_in": [2, 5] } }), &[1, 3], &[3]),
            (json!({ "count(cast)": { "_eq": 2 } }), &[1, 2], &[2]),
            (json!({ "house": { "plays": { "cast": ghost } } }), &[1, 2], &[]),
            (json!({ "house": { "plays": { "_none": { "cast": { "_some": ghost } } } } }), &[3, 4, 5], &[1, 2, 3, 4, 5]),
            (json!({ "_or": [{ "cast": ghost }, { "id": { "_eq": 4 } }] }), &[1, 4], &[4]),
            (json!({ "cast": { "actor": { "casts": ghost } } }), &[1, 3], &[]),
        ] {
            let path = format!("/items/plays?fields=id&sort=id&meta=filter_count&{}", filter(&rule));
            assert_eq!(ids(&admin, &path).await, all, "admin: {rule}");
            assert_eq!(ids(&critic, &path).await, visible, "critic: {rule}");
            let (_, body) = critic.get(&path).await;
            assert_eq!(body["meta"]["filter_count"], json!(visible.len()), "{rule}");
        }
    }

    /// Thread 26094: conditions of `_none` hold together for one row.
    async fn none_with_two_conditions_asks_for_rows_that_meet_both(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        for (rule, found) in [
            // Bob, 40, is the ghost.
            (json!({ "cast": { "_none": { "part": { "_eq": "Ghost" }, "actor": { "age": { "_gt": 35 } } } } }), &[2, 3, 4, 5][..]),
            (json!({ "cast": { "_none": { "part": { "_eq": "Ghost" }, "actor": { "age": { "_gt": 45 } } } } }), &[1, 2, 3, 4, 5]),
            (json!({ "cast": { "_none": { "_or": [{ "part": { "_eq": "Ghost" } }, { "actor": { "age": { "_gt": 45 } } }] } } }), &[3, 4, 5]),
            (json!({ "cast": { "_none": { "actor": { "name": { "_eq": "Bob" }, "age": { "_eq": 40 } } } } }), &[2, 4, 5]),
            (json!({ "cast": { "_some": { "part": { "_eq": "Lear" } }, "_none": { "part": { "_eq": "Ghost" } } } }), &[2]),
        ] {
            assert_eq!(ids(&admin, &format!("/items/plays?fields=id&sort=id&{}", filter(&rule))).await, found, "{rule}");
        }
    }

    /// Thread 21169: conditions on one path mean one related row; `_some` twice may mean two.
    async fn conditions_on_one_path_meet_in_one_related_row(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (hamlet, bob) = (json!({ "part": { "_eq": "Hamlet" } }), json!({ "actor": { "name": { "_eq": "Bob" } } }));
        for (rule, found) in [
            (json!({ "cast": { "_and": [hamlet, bob] } }), &[][..]),
            (json!({ "cast": { "part": { "_eq": "Hamlet" }, "actor": { "name": { "_eq": "Bob" } } } }), &[]),
            (json!({ "cast": { "_some": { "_and": [hamlet, bob] } } }), &[]),
            (json!({ "cast": { "part": { "_eq": "Ghost" }, "actor": { "name": { "_eq": "Bob" } } } }), &[1]),
            (json!({ "_and": [{ "cast": { "_some": hamlet } }, { "cast": { "_some": bob } }] }), &[1]),
            (json!({ "cast": { "_or": [hamlet, bob] } }), &[1, 3]),
        ] {
            assert_eq!(ids(&admin, &format!("/items/plays?fields=id&sort=id&{}", filter(&rule))).await, found, "{rule}");
        }
    }

    /// Threads 23395, 3721: what is joined for a filter or a sort multiplies nothing.
    async fn parents_are_listed_and_counted_once(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let grown = filter(&json!({ "cast": { "actor": { "age": { "_gte": 30 } } } }));
        let (_, body) = admin.get(&format!("/items/plays?fields=id&sort=-cast.actor.age,id&meta=*&{grown}")).await;
        assert_eq!(body["data"], json!([{ "id": 2 }, { "id": 1 }, { "id": 3 }]), "{body}");
        assert_eq!(body["meta"], json!({ "total_count": 5, "filter_count": 3 }));
        assert_eq!(data(&admin, &format!("/items/plays?aggregate[count]=*,id&aggregate[sum]=house&{grown}")).await,
            json!([{ "count": { "*": 3, "id": 3 }, "sum": { "house": 5 } }]));
        assert_eq!(ids(&admin, &format!("/items/plays?fields=id&limit=2&page=2&sort=cast.actor.age,id&{grown}")).await, [3]);
        // Sorted by the first child in that order: 30, 30, 40 and nobody.
        assert_eq!(ids(&admin, "/items/plays?fields=id&sort=cast.actor.age,id").await, [1, 2, 3, 4, 5]);
        assert_eq!(ids(&admin, "/items/plays?fields=id&sort=-cast.actor.age,id").await, [4, 5, 2, 1, 3]);
    }

    /// Threads 16203, 12479: an alias is the relation under another name, rules, `deep` and all; and
    /// reading asks for the right to read, whatever the right to create says.
    async fn an_aliased_relation_obeys_the_rules_of_its_rows(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, critic) = critic(&server, &admin).await;
        admin.permit(Some(&role), "houses", "read", json!({ "fields": ["id", "name", "plays"] })).await;
        admin.permit(Some(&role), "plays", "read", json!({ "fields": ["id", "title", "takings", "house"], "permissions": { "title": { "_neq": "Hamlet" } } })).await;
        admin.permit(Some(&role), "plays", "create", json!({ "fields": ["title"], "permissions": { "title": { "_eq": "none" } } })).await;
        admin.permit(Some(&role), "houses", "create", json!({ "fields": ["city"] })).await;
        let path = "/items/houses?sort=id&fields=name,all.title,rich.title&alias[all]=plays&alias[rich]=plays&deep[rich][_filter][takings][_gt]=5";
        assert_eq!(data(&critic, path).await, json!([
            { "name": "Globe", "all": [{ "title": "Lear" }], "rich": [] },
            { "name": "Rose", "all": [{ "title": "Edward" }], "rich": [] },
            { "name": "Burg", "all": [{ "title": "Faust" }], "rich": [{ "title": "Faust" }] },
        ]));
        let keys = data(&critic, "/items/houses?sort=id&fields=all&alias[all]=plays&limit=1").await;
        assert_eq!(keys, json!([{ "all": [2] }]));
        assert_eq!(ids(&critic, "/items/plays?fields=id&sort=-takings&filter[takings][_gt]=1&filter[house][name][_neq]=Rose").await, [3, 2]);
        assert_eq!(data(&critic, "/items/plays?fields=site.name&alias[site]=house&filter[id][_eq]=2").await, json!([{ "site": { "name": "Globe" } }]));
    }

    /// Threads 3172, 11663, 12382, 12588, 6900: bounds of nested lists are per parent, -1 is no bound.
    async fn each_parent_has_its_own_bound_of_children(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let crowd: Vec<Value> = (0..330).map(|number| json!({ "play": 1 + number / 110, "part": format!("crowd {number}") })).collect();
        admin.must_post("/items/casts?fields=id", json!(crowd)).await;
        let counts = |plays: &Value| -> Vec<usize> {
            plays.as_array().expect("a list").iter().map(|play| play["cast"].as_array().map_or(0, Vec::len)).collect()
        };
        for (deep, expected) in [
            ("", [100, 100, 100, 0, 0]),
            ("&deep[cast][_limit]=-1", [112, 112, 111, 0, 0]),
            ("&deep[cast][_limit]=2", [2, 2, 2, 0, 0]),
            ("&deep[cast][_limit]=0", [0, 0, 0, 0, 0]),
            ("&deep[cast][_limit]=50&deep[cast][_page]=3", [12, 12, 11, 0, 0]),
            ("&deep[cast][_offset]=100", [12, 12, 11, 0, 0]),
            ("&deep[cast][_limit]=-1&deep[cast][_offset]=100", [12, 12, 11, 0, 0]),
            ("&deep[cast][_limit]=-1&deep[cast][_filter][actor][_nnull]=true", [2, 2, 1, 0, 0]),
        ] {
            for fields in ["cast.part", "cast"] {
                let path = format!("/items/plays?sort=id&fields={fields}{deep}");
                assert_eq!(counts(&data(&admin, &path).await), expected, "{path}");
            }
        }
    }

    /// Threads 12748, 14190: every element of a many-to-any list has its item, but hidden ones.
    async fn items_of_any_collection_are_all_there(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let more: Vec<Value> = (0..120).map(|number| json!({ "house": 3, "collection": if number % 2 == 0 { "plays" } else { "actors" }, "item": (1 + number % 3).to_string() })).collect();
        admin.must_post("/items/notices?fields=id", json!(more)).await;
        let houses = data(&admin, "/items/houses?sort=id&fields=notices.item:plays.title,notices.item:actors.name&deep[notices][_limit]=-1").await;
        assert_eq!(houses[0]["notices"], json!([{ "item": { "title": "Hamlet" } }, { "item": { "name": "Bob" } }, { "item": { "title": "Lear" } }]));
        let many = houses[2]["notices"].as_array().expect("a list");
        assert_eq!(many.len(), 120);
        assert!(many.iter().all(|notice| notice["item"].is_object()), "{many:?}");

        let (role, _, critic) = critic(&server, &admin).await;
        admin.permit(Some(&role), "houses", "read", json!({})).await;
        admin.permit(Some(&role), "notices", "read", json!({})).await;
        admin.permit(Some(&role), "plays", "read", json!({ "fields": ["id", "title"], "permissions": { "title": { "_neq": "Hamlet" } } })).await;
        let (_, body) = critic.get("/items/houses/1?fields=notices.item.*").await;
        // A hidden play and a collection that may not be read at all: nothing.
        assert_eq!(body["data"]["notices"], json!([{ "item": null }, { "item": null }, { "item": { "id": 2, "title": "Lear" } }]), "{body}");
        for (scope, expected) in [("item:plays", &[1][..]), ("item:actors", &[]), ("item:nowhere", &[])] {
            let field = if scope == "item:plays" { "title" } else { "name" };
            let rule = filter(&json!({ "notices": { scope: { field: { "_nnull": true } } } }));
            let (status, body) = critic.get(&format!("/items/houses?fields=id&limit=1&sort=id&{rule}")).await;
            if expected.is_empty() {
                assert_eq!((status, &body["errors"][0]["extensions"]["code"]), (403, &json!("FORBIDDEN")), "{scope}: {body}");
            } else {
                assert_eq!(body["data"], json!([{ "id": 1 }]), "{scope}: {body}");
            }
        }
        let rule = filter(&json!({ "notices": { "item:plays": { "title": { "_eq": "Hamlet" } } } }));
        assert_eq!(ids(&critic, &format!("/items/houses?fields=id&{rule}")).await, Vec::<i64>::new());
        assert_eq!(ids(&admin, &format!("/items/houses?fields=id&sort=id&{rule}")).await, [1, 3]);
    }

    /// Threads 11743, 18111, 15338: sort through relations on every level; null is last ascending and
    /// first descending.
    async fn sorts_through_relations_hold_on_every_level(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        assert_eq!(ids(&admin, "/items/plays?fields=id&sort=house.name,-title").await, [3, 2, 1, 5, 4]);
        assert_eq!(ids(&admin, "/items/plays?fields=id&sort=-house.name,title").await, [4, 5, 1, 2, 3]);
        let (_, body) = admin.get("/items/actors?sort=id&fields=casts.play.title&deep[casts][_sort]=-play.title").await;
        assert_eq!(body["data"][0]["casts"], json!([{ "play": { "title": "Lear" } }, { "play": { "title": "Hamlet" } }]), "{body}");
        assert_eq!(body["data"][1]["casts"], json!([{ "play": { "title": "Hamlet" } }, { "play": { "title": "Faust" } }]), "{body}");
        // More than one key counts, below as above.
        let (_, body) = admin.get("/items/actors?sort=id&fields=casts.id&deep[casts][_sort]=play.house.city,-play.title").await;
        assert_eq!(body["data"], json!([{ "casts": [{ "id": 3 }, { "id": 1 }] }, { "casts": [{ "id": 2 }, { "id": 5 }] }, { "casts": [{ "id": 4 }] }]), "{body}");
        // A sort key behind a hidden row is absent.
        let (role, _, critic) = critic(&server, &admin).await;
        admin.permit(Some(&role), "plays", "read", json!({})).await;
        admin.permit(Some(&role), "houses", "read", json!({ "permissions": { "name": { "_neq": "Burg" } } })).await;
        assert_eq!(ids(&critic, "/items/plays?fields=id&sort=house.name,id").await, [1, 2, 5, 3, 4]);
        assert_eq!(ids(&critic, "/items/plays?fields=id&sort=-house.name,id").await, [3, 4, 5, 1, 2]);
    }
}
