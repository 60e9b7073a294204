//! What stands in an answer: fields, wildcards, aliases, functions, nested levels.

use serde_json::json;
use waymark_tests::{Server, each_engine};

use crate::faults::{critic, data, scene};

each_engine! {
    async fn fields_give_what_they_name_and_nothing_else(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let globe = json!({ "id": 1, "name": "Globe", "city": "London", "patron": "Burbage", "plays": [1, 2], "notices": [1, 2, 4] });
        for (query, expected) in [
            ("", globe.clone()),
            ("?fields=", globe.clone()),
            ("?fields=*", globe.clone()),
            ("?fields[]=name&fields[]=city,id", json!({ "name": "Globe", "city": "London", "id": 1 })),
            ("?fields=%20name%20,%20id", json!({ "name": "Globe", "id": 1 })),
            ("?fields=name,name,*&alias[name]=name", globe),
            // Keys needed for joining are not shown.
            ("?fields=plays.title", json!({ "plays": [{ "title": "Hamlet" }, { "title": "Lear" }] })),
            ("?fields=plays.cast.actor.name", json!({ "plays": [{ "cast": [{ "actor": { "name": "Ann" } }, { "actor": { "name": "Bob" } }] },
                { "cast": [{ "actor": { "name": "Ann" } }, { "actor": { "name": "Cid" } }] }] })),
            ("?fields=plays.house,plays.house.name", json!({ "plays": [{ "house": { "name": "Globe" } }, { "house": { "name": "Globe" } }] })),
            ("?fields=notices.item", json!({ "notices": [{ "item": "1" }, { "item": "2" }, { "item": "2" }] })),
            ("?fields=notices.item.id", json!({ "notices": [{ "item": { "id": 1 } }, { "item": { "id": 2 } }, { "item": { "id": 2 } }] })),
            ("?fields=notices.item:plays.title,notices.item:actors.age", json!({ "notices": [{ "item": { "title": "Hamlet" } }, { "item": { "age": 40 } }, { "item": { "title": "Lear" } }] })),
            // Unknown names mean nothing to those who may read every field.
            ("?fields=id,nope,nope.deeper,name.deeper,plays.nope", json!({ "id": 1, "plays": [{}, {}] })),
            ("?fields=id,count(plays),all&alias[all]=count(notices)", json!({ "id": 1, "plays_count": 2, "all": 3 })),
            ("?fields=plays.year(premiere),plays.count(cast)", json!({ "plays": [{ "premiere_year": 1999, "cast_count": 2 }, { "premiere_year": 2000, "cast_count": 2 }] })),
        ] {
            assert_eq!(data(&admin, &format!("/items/houses/1{query}")).await, expected, "{query}");
        }
        assert_eq!(data(&admin, "/items/plays?fields=title,house.name&sort=-id&limit=2").await,
            json!([{ "title": "Edward", "house": { "name": "Rose" } }, { "title": "Tempest", "house": null }]));
        let stars = data(&admin, "/items/casts/5?fields=*.*.*").await;
        assert_eq!((&stars["actor"]["casts"][0]["part"], &stars["play"]["house"]["name"], &stars["play"]["house"]["plays"]), (&json!("Ghost"), &json!("Burg"), &json!([3])), "{stars}");
        assert_eq!(data(&admin, "/items/casts/5?fields=*.*").await["play"]["house"], json!(3));
        assert_eq!(data(&admin, "/items/casts/5?fields=x.title,y,part&alias[x]=play&alias[y]=play").await, json!({ "x": { "title": "Faust" }, "y": 3, "part": "Faust" }));
        assert_eq!(data(&admin, "/items/casts/5?fields=*&alias[role]=part").await, json!({ "id": 5, "play": 3, "actor": 2, "part": "Faust", "role": "Faust" }));
    }

    async fn a_missing_or_foreign_target_is_null(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/notices", json!([{ "house": 2, "collection": "plays", "item": "999" }, { "house": 2, "collection": "houses", "item": "1" }, { "house": 2 }])).await;
        assert_eq!(data(&admin, "/items/notices?fields=id,item.id&sort=id&filter[house][_eq]=2").await,
            json!([{ "id": 3, "item": { "id": 5 } }, { "id": 5, "item": null }, { "id": 6, "item": null }, { "id": 7, "item": null }]));
        assert_eq!(data(&admin, "/items/plays/1?fields=house.name&deep[house][_filter][city][_eq]=Vienna").await, json!({ "house": null }));
        assert_eq!(data(&admin, "/items/notices/1?fields=item.title&deep[item:plays][_filter][title][_eq]=Lear").await, json!({ "item": null }));
        assert_eq!(data(&admin, "/items/notices/4?fields=item.title&deep[item:plays][_filter][title][_eq]=Lear").await, json!({ "item": { "title": "Lear" } }));
    }

    async fn deep_works_on_every_level_in_every_spelling(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let first = json!([{ "plays": [{ "title": "Lear", "cast": [{ "part": "Lear" }] }] }]);
        let brackets = "deep[plays][_sort]=-title&deep[plays][_limit]=1&deep[plays][cast][_sort]=-part&deep[plays][cast][_limit]=1";
        let text = json!({ "plays": { "_sort": ["-title"], "_limit": 1, "cast": { "_sort": "-part", "_limit": "1" } } });
        for deep in [brackets.to_owned(), format!("deep={}", crate::bad_input::encoded(&text.to_string()))] {
            assert_eq!(data(&admin, &format!("/items/houses?fields=plays.title,plays.cast.part&sort=id&limit=1&{deep}")).await, first, "{deep}");
        }
        let (_, body) = admin.search("/items/houses", json!({ "fields": ["plays.title", "plays.cast.part"], "sort": "id", "limit": 1, "deep": text })).await;
        assert_eq!(body["data"], first);
        for (deep, titles) in [
            ("[_page]=2&deep[plays][_limit]=1", json!([{ "title": "Lear" }])),
            ("[_offset]=1", json!([{ "title": "Lear" }])),
            ("[_limit]=0", json!([])),
            ("[_search]=ham", json!([{ "title": "Hamlet" }])),
            ("[_filter][cast][part][_eq]=Fool", json!([{ "title": "Lear" }])),
            ("[_filter][house][plays][_some][title][_eq]=Lear", json!([{ "title": "Hamlet" }, { "title": "Lear" }])),
            ("[_sort]=takings,-id", json!([{ "title": "Lear" }, { "title": "Hamlet" }])),
            // No effect: fields stand in `fields`, plain values beside the levels mean nothing.
            ("[_fields]=id", json!([{ "title": "Hamlet" }, { "title": "Lear" }])),
            ("[limit]=1", json!([{ "title": "Hamlet" }, { "title": "Lear" }])),
        ] {
            assert_eq!(data(&admin, &format!("/items/houses/1?fields=plays.title&deep[plays]{deep}")).await, json!({ "plays": titles }), "{deep}");
        }
        // An alias is bound by its own name; both sides are shaped apart.
        assert_eq!(data(&admin, "/items/houses/1?fields=a.title,plays.id&alias[a]=plays&deep[a][_limit]=1&deep[a][_sort]=-title&deep[plays][_limit]=1").await,
            json!({ "a": [{ "title": "Lear" }], "plays": [{ "id": 1 }] }));
        // What is created or changed is read back in the shape that is asked for.
        assert_eq!(admin.must_post("/items/plays?fields=title,house.plays.title&deep[house][plays][_limit]=1", json!({ "title": "Timon", "house": 3 })).await,
            json!({ "title": "Timon", "house": { "plays": [{ "title": "Faust" }] } }));
    }

    async fn a_wildcard_shows_what_may_be_read(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, critic) = critic(&server, &admin).await;
        admin.permit(Some(&role), "houses", "read", json!({ "fields": ["name", "plays", "notices"] })).await;
        admin.permit(Some(&role), "plays", "read", json!({ "fields": ["title", "house", "cast", "owner"] })).await;
        assert_eq!(data(&critic, "/items/houses/1").await, json!({ "name": "Globe", "plays": [1, 2] }));
        assert_eq!(data(&critic, "/items/houses/1?fields=*.*").await, json!({ "name": "Globe", "plays": [{ "title": "Hamlet", "house": 1, "owner": null }, { "title": "Lear", "house": 1, "owner": null }] }));
        assert_eq!(data(&critic, "/items/plays/1?fields=*.*").await, json!({ "title": "Hamlet", "house": { "name": "Globe", "plays": [1, 2] } }));
        assert_eq!(data(&critic, "/items/plays/1?fields=*,n&alias[n]=title").await, json!({ "title": "Hamlet", "house": 1, "owner": null, "n": "Hamlet" }));
        assert_eq!(critic.get("/items/plays/1?fields=id").await.0, 403, "the key is a field like others when asked for");
        assert_eq!(data(&critic, "/items/plays?filter[id][_eq]=2&sort=-id&fields=title").await, json!([{ "title": "Lear" }]));
    }
}
