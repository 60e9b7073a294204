//! Numbers, dates and JSON come out as they went in.

use serde_json::json;
use waymark_tests::{Database, Process, Server, each_engine};

use super::{critic, data, filter, ids, scene};

each_engine! {
    /// Threads 12051, 20291, 15663, 20287, 8147, 24348: large integers and long decimals stay exact in
    /// answers, filters and aggregates.
    async fn large_numbers_stay_exact(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        assert_eq!(data(&admin, "/items/plays/1?fields=takings,price").await, json!({ "takings": "9007199254740993", "price": "1234567890.12345" }));
        for (query, found) in [
            ("filter[takings][_eq]=9007199254740993", &[1][..]),
            ("filter[takings][_eq]=9007199254740992", &[]),
            ("filter[takings][_eq]=9007199254740994", &[]),
            ("filter[takings][_gt]=9007199254740992", &[1]),
            ("filter[takings][_gt]=9007199254740993", &[]),
            ("filter[takings][_in]=9007199254740993,7", &[1, 3]),
            ("filter[takings][_nin]=9007199254740992,7", &[1, 2, 5]),
            ("filter[takings][_between]=9007199254740993,9007199254740993", &[1]),
            ("filter[price][_eq]=1234567890.12345", &[1]),
            ("filter[price][_eq]=1234567890.12346", &[]),
            ("filter[price][_gt]=1234567890.12344", &[1]),
            ("filter[price][_eq]=0.1", &[2]),
            ("filter[price][_in]=0.1,0.2", &[2, 3]),
            ("search=9007199254740993", &[1]),
            ("search=9007199254740992", &[]),
        ] {
            assert_eq!(ids(&admin, &format!("/items/plays?fields=id&sort=id&{query}")).await, found, "{query}");
        }
        let body = json!({ "fields": ["id"], "filter": { "takings": { "_eq": 9_007_199_254_740_993_u64 } } });
        assert_eq!(admin.search("/items/plays", body).await.1["data"], json!([{ "id": 1 }]));
        assert_eq!(data(&admin, "/items/plays?aggregate[sum]=takings,price&aggregate[max]=takings,price&aggregate[min]=price&filter[id][_lt]=4").await, json!([{
            "sum": { "takings": "9007199254741005", "price": "1234567890.42345" },
            "max": { "takings": "9007199254740993", "price": "1234567890.12345" },
            "min": { "price": "0.10000" },
        }]));
        assert_eq!(data(&admin, "/items/plays?groupBy=takings&filter[id][_in]=1,3&sort=takings").await, json!([{ "takings": "7" }, { "takings": "9007199254740993" }]));
    }

    /// Threads 7383, 10093, 6818, 9645, 6857: a date is a day and a wall clock has no zone, wherever the
    /// server stands; moments are told in UTC.
    async fn no_date_moves_with_the_zone_of_the_server(kind) {
        let database = Database::create(kind).await;
        let process = Process::start(&database, &[("TZ", "America/Los_Angeles")]).await;
        let admin = process.admin().await;
        admin.create_collection("shows", json!([
            { "field": "day", "type": "date" }, { "field": "local", "type": "dateTime" },
            { "field": "instant", "type": "timestamp" }, { "field": "clock", "type": "time" },
        ])).await;
        let sent = json!({ "day": "2024-03-10", "local": "2024-03-10T02:30:00", "instant": "2024-03-10T00:30:00Z", "clock": "23:59:59" });
        let expected = json!({ "id": 1, "day": "2024-03-10", "local": "2024-03-10T02:30:00", "instant": "2024-03-10T00:30:00.000Z", "clock": "23:59:59" });
        assert_eq!(admin.must_post("/items/shows", sent).await, expected);
        assert_eq!(data(&admin, "/items/shows/1").await, expected);
        for filter in ["[day][_eq]=2024-03-10", "[local][_eq]=2024-03-10T02:30:00", "[instant][_eq]=2024-03-10T01:30:00%2B01:00", "[hour(instant)][_eq]=0",
            "[day(day)][_eq]=10", "[hour(local)][_eq]=2", "[day(instant)][_eq]=10", "[clock][_gte]=23:59:59", "[instant][_lt]=$NOW", "[day][_lt]=$NOW(-1%20day)"] {
            assert_eq!(ids(&admin, &format!("/items/shows?filter{filter}")).await, [1], "{filter}");
        }
        assert_eq!(data(&admin, "/items/shows?fields=year(day),day(day),hour(local),hour(instant)").await,
            json!([{ "day_year": 2024, "day_day": 10, "local_hour": 2, "instant_hour": 0 }]));
    }

    /// Threads 19438, 7267, 15049, 27684: JSON is JSON on every engine, its length is counted for lists,
    /// and what can't be asked of it is refused.
    async fn json_is_json_everywhere(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        assert_eq!(data(&admin, "/items/plays?fields=notes&sort=id&limit=3").await, json!([{ "notes": { "acts": 5 } }, { "notes": [1, 2, 3] }, { "notes": null }]));
        assert_eq!(data(&admin, "/items/casts?fields=play.notes&sort=id&limit=1").await, json!([{ "play": { "notes": { "acts": 5 } } }]));
        assert_eq!(ids(&admin, &format!("/items/casts?fields=id&sort=id&{}", filter(&json!({ "play": { "notes": { "_nnull": true } } })))).await, [1, 2, 3, 4]);
        assert_eq!(ids(&admin, "/items/plays?fields=id&sort=id&filter[notes][_null]=true").await, [3, 4, 5]);
        // An object has no length: shown, it is refused; elsewhere it counts as none.
        assert_eq!(data(&admin, "/items/plays?fields=count(notes)&sort=id&filter[id][_in]=2,3").await, json!([{ "notes_count": 3 }, { "notes_count": null }]));
        for (query, found) in [("sort=id&filter[count(notes)][_gt]=2", &[2][..]), ("sort=id&filter[count(notes)][_lt]=3", &[]), ("sort=id&filter[count(notes)][_neq]=9", &[2]),
            ("filter[id][_lt]=4&sort=count(notes),-id", &[2, 3, 1]), ("filter[id][_lt]=4&sort=-count(notes),id", &[1, 3, 2])] {
            assert_eq!(ids(&admin, &format!("/items/plays?fields=id&{query}")).await, found, "{query}");
        }
        assert_eq!(data(&admin, "/items/plays?groupBy=count(notes)&aggregate[count]=*").await, json!([{ "notes_count": 3, "count": 1 }, { "notes_count": null, "count": 4 }]));
        for query in ["filter[notes][_contains]=acts", "filter[notes][_eq]=1", "groupBy=notes", "aggregate[min]=notes", "sort=notes", "aggregate[countDistinct]=notes", "fields=count(notes)"] {
            let answer = admin.request("GET", &format!("/items/plays?{query}"), None).await;
            assert_eq!((answer.status, answer.codes()), (400, vec!["INVALID_QUERY"]), "{query}: {}", answer.body);
        }
        let (_, _, critic) = critic(&server, &admin).await;
        assert_eq!(critic.get("/items/plays?filter[notes][_contains]=acts").await.0, 403);
    }
}
