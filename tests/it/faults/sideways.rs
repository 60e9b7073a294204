//! What a caller may not read can't be learnt from how requests about it are answered.

use serde_json::{Value, json};
use waymark_tests::{Answer, Client, Server, each_engine};

use super::{critic, data, filter, ids, scene};

/// Both requests get the same refusal, to the letter.
async fn alike(client: &Client, method: &str, hidden: &str, missing: &str, body: Option<Value>) {
    let of = |answer: Answer| (answer.status, answer.body);
    let first = of(client.request(method, hidden, body.clone()).await);
    let second = of(client.request(method, missing, body).await);
    assert_eq!(first, second, "{method} {hidden} and {missing}");
    assert_eq!(first.0, 403, "{method} {hidden}: {}", first.1);
}

each_engine! {
    /// GHSA-cph6-524f-3hgr: forbidden and missing can't be told apart: collections, items, fields,
    /// relations, scopes of many-to-any.
    async fn what_is_hidden_is_answered_like_what_is_missing(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, critic) = critic(&server, &admin).await;
        admin.permit(Some(&role), "plays", "read", json!({ "fields": ["id", "title", "house"], "permissions": { "title": { "_neq": "Hamlet" } } })).await;
        admin.permit(Some(&role), "notices", "read", json!({ "fields": ["id", "item", "collection"] })).await;
        for system in ["directus_collections", "directus_fields", "directus_relations"] {
            admin.permit(Some(&role), system, "read", json!({})).await;
        }
        for client in [&critic, &server.client()] {
            for (hidden, missing) in [
                ("/items/houses", "/items/nowhere"), ("/items/houses/1", "/items/nowhere/1"), ("/items/houses?fields=name", "/items/nowhere?fields=name"),
                ("/items/houses?filter[name][_eq]=x", "/items/nowhere?filter[name][_eq]=x"), ("/items/houses?aggregate[count]=*", "/items/nowhere?aggregate[count]=*"),
                ("/items/houses?meta=*", "/items/nowhere?meta=*"), ("/items/houses?filter[x][_eq]=1", "/items/nowhere?filter[x][_eq]=1"),
                ("/items/houses?sort=x", "/items/nowhere?sort=x"), ("/items/houses/x", "/items/nowhere/x"), ("/items/directus_users", "/items/directus_nowhere"),
                ("/collections/houses", "/collections/nowhere"), ("/fields/houses", "/fields/nowhere"), ("/fields/houses/name", "/fields/nowhere/name"),
                ("/relations/casts", "/relations/nowhere"), ("/relations/casts/play", "/relations/nowhere/play"),
                ("/users/11111111-1111-4111-8111-111111111111", "/users/xyz"), ("/roles/00000000-0000-0000-0000-000000000000", "/roles/1"),
            ] {
                alike(client, "GET", hidden, missing, None).await;
            }
            for (method, body) in [("POST", json!({ "name": "x" })), ("SEARCH", json!({ "query": { "filter": { "a": { "_eq": 1 } } } })), ("PATCH", json!({ "keys": [1], "data": { "name": "x" } })),
                ("PATCH", json!({ "query": { "filter": { "name": { "_eq": "x" } } }, "data": {} })), ("DELETE", json!([1])), ("DELETE", json!({ "query": { "filter": { "patron": { "_eq": "x" } } } }))] {
                alike(client, method, "/items/houses", "/items/nowhere", Some(body)).await;
            }
        }
        for (hidden, missing) in [
            ("/items/plays/1", "/items/plays/99"), ("/items/plays/1?fields=title", "/items/plays/zzz?fields=title"),
            ("/items/plays?fields=takings", "/items/plays?fields=nope"), ("/items/plays?filter[takings][_eq]=5", "/items/plays?filter[nope][_eq]=5"),
            ("/items/plays?filter[takings][_eq]=abc", "/items/plays?filter[nope][_eq]=abc"), ("/items/plays?filter[takings][_contains]=5", "/items/plays?filter[nope][_contains]=5"),
            ("/items/plays?filter[premiere][_gt]=$NOW(x)", "/items/plays?filter[nope][_gt]=$NOW(x)"), ("/items/plays?filter[code][_eq]=5", "/items/plays?filter[nope][_eq]=5"),
            ("/items/plays?sort=takings", "/items/plays?sort=nope"), ("/items/plays?sort=code", "/items/plays?sort=nope"),
            ("/items/plays?sort=year(premiere)", "/items/plays?sort=year(nope)"), ("/items/plays?fields=year(premiere)", "/items/plays?fields=year(nope)"),
            ("/items/plays?fields=count(cast)", "/items/plays?fields=count(nope)"), ("/items/plays?filter[count(cast)][_gt]=1", "/items/plays?filter[count(nope)][_gt]=1"),
            ("/items/plays?groupBy=takings", "/items/plays?groupBy=nope"), ("/items/plays?aggregate[sum]=takings", "/items/plays?aggregate[sum]=nope"),
            ("/items/plays?aggregate[sum]=notes", "/items/plays?aggregate[sum]=nope"), ("/items/plays?aggregate[max]=code", "/items/plays?aggregate[max]=nope"),
            ("/items/plays?alias[x]=takings&fields=x", "/items/plays?alias[x]=nope&fields=x"), ("/items/plays?alias[x]=takings", "/items/plays?alias[x]=nope"),
            ("/items/plays?alias[x]=takings&fields=id", "/items/plays?alias[x]=nope&fields=id"), ("/items/plays?alias[x]=code&fields=*", "/items/plays?alias[x]=nope&fields=*"),
            ("/items/plays?filter[house][name][_eq]=Globe", "/items/plays?filter[house][nope][_eq]=Globe"), ("/items/plays?filter[cast][part][_eq]=x", "/items/plays?filter[nope][part][_eq]=x"),
            ("/items/plays?filter[owner][email][_null]=true", "/items/plays?filter[nope][email][_null]=true"), ("/items/plays?filter[cast][_some][part][_eq]=x", "/items/plays?filter[nope][_some][part][_eq]=x"),
            ("/items/plays?sort=house.name", "/items/plays?sort=house.nope"), ("/items/plays?sort=cast.part", "/items/plays?sort=nope.part"),
            ("/items/notices?filter[item:actors][name][_eq]=Bob", "/items/notices?filter[item:nowhere][name][_eq]=Bob"), ("/items/notices?sort=item:actors.name", "/items/notices?sort=item:nowhere.name"),
            ("/items/notices?filter[item:plays][takings][_eq]=1", "/items/notices?filter[item:plays][nope][_eq]=1"),
            ("/collections/houses", "/collections/nowhere"), ("/fields/plays/takings", "/fields/plays/nope"), ("/fields/houses/name", "/fields/nowhere/name"),
            ("/relations/plays/house", "/relations/plays/nope"), ("/relations/notices/item", "/relations/notices/nope"),
        ] {
            alike(&critic, "GET", hidden, missing, None).await;
        }
        for (hidden, missing) in [("/items/notices?fields=item:actors.name&sort=id", "/items/notices?fields=item:nowhere.name&sort=id"), ("/items/notices?fields=id&deep[item:actors][_limit]=1", "/items/notices?fields=id&deep[item:nowhere][_limit]=1")] {
            let (first, second) = (critic.get(hidden).await, critic.get(missing).await);
            assert_eq!(first.0, second.0, "{hidden}: {}", first.1);
        }
    }

    /// GHSA-7wq3-jr35-275c, and the counts beside it: nothing hidden is searched or counted.
    async fn search_and_counts_see_what_the_caller_sees(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, critic) = critic(&server, &admin).await;
        admin.permit(Some(&role), "houses", "read", json!({ "fields": ["id", "name", "plays"], "permissions": { "city": { "_eq": "London" } } })).await;
        admin.permit(Some(&role), "plays", "read", json!({ "fields": ["id", "title"], "permissions": { "title": { "_neq": "Hamlet" } } })).await;
        for (term, found) in [("Burbage", &[][..]), ("Henslowe", &[]), ("London", &[]), ("Burg", &[]), ("Globe", &[1]), ("globe", &[1])] {
            let path = format!("/items/houses?fields=id&meta=*&search={term}");
            assert_eq!(ids(&critic, &path).await, found, "{term}");
            assert_eq!(critic.get(&path).await.1["meta"], json!({ "total_count": 2, "filter_count": found.len() }), "{term}");
        }
        for (term, found) in [("9007199254740993", json!([])), ("5", json!([])), ("Hamlet", json!([])), ("Lear", json!([{ "id": 2 }]))] {
            let path = format!("/items/houses?fields=plays.id&filter[id][_eq]=1&deep[plays][_search]={term}");
            assert_eq!(data(&critic, &path).await, json!([{ "plays": found }]), "{term}");
        }
        // Counted are children that may be seen: of Globe one of two.
        assert_eq!(data(&critic, "/items/houses?fields=count(plays)&sort=id").await, json!([{ "plays_count": 1 }, { "plays_count": 1 }]));
        assert_eq!(ids(&critic, "/items/houses?fields=id&filter[count(plays)][_gt]=1").await, Vec::<i64>::new());
        assert_eq!(ids(&critic, "/items/houses?fields=id&sort=-count(plays),-id").await, [2, 1]);
        assert_eq!(data(&critic, "/items/houses?aggregate[count]=*").await, json!([{ "count": 2 }]));
        assert_eq!(data(&critic, "/items/houses?groupBy=name").await, json!([{ "name": "Globe" }, { "name": "Rose" }]));
        let (_, body) = critic.get("/items/houses?limit=0&meta=total_count,filter_count&filter[name][_eq]=Burg").await;
        assert_eq!(body, json!({ "data": [], "meta": { "total_count": 2, "filter_count": 0 } }));
        for id in [3, 99] {
            let answer = critic.request("SEARCH", "/items/houses", Some(json!({ "keys": [1, id], "query": { "fields": ["id"], "meta": "*" } }))).await;
            assert_eq!(answer.body["data"], json!([{ "id": 1 }]), "{}", answer.body);
        }
    }

    /// `deep` of a relation that may be followed names readable fields only; of one that may not, it
    /// means nothing.
    async fn deep_names_readable_fields_only(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, critic) = critic(&server, &admin).await;
        admin.permit(Some(&role), "houses", "read", json!({ "fields": ["id", "name", "plays", "notices"] })).await;
        admin.permit(Some(&role), "plays", "read", json!({ "fields": ["id", "title", "house", "cast"] })).await;
        for fields in ["plays.title", "plays", "*", "*.*", "plays.*", "x.title&alias[x]=plays"] {
            let relation = if fields.starts_with('x') { "x" } else { "plays" };
            for deep in ["[_filter][takings][_gt]=1", "[_filter][_or][0][takings][_null]=true", "[_sort]=-takings", "[_alias][z]=takings", "[_filter][house][patron][_eq]=x", "[_filter][cast][part][_eq]=Ghost", "[_sort]=year(premiere)"] {
                let answer = critic.request("GET", &format!("/items/houses?fields={fields}&deep[{relation}]{deep}"), None).await;
                assert_eq!((answer.status, answer.codes()), (403, vec!["FORBIDDEN"]), "{fields} {deep}: {}", answer.body);
            }
        }
        for path in ["/items/houses?fields=name,notices.id&deep[notices][_filter][collection][_eq]=plays&sort=id&limit=1", "/items/houses?fields=name&deep[notices][_sort]=nope&sort=id&limit=1"] {
            assert_eq!(data(&critic, path).await, json!([{ "name": "Globe" }]), "{path}");
        }
        // Left without a field, an element is its key.
        assert_eq!(data(&critic, "/items/houses?fields=notices.id&sort=id").await, json!([1, 2, 3]));
        assert_eq!(data(&critic, "/items/houses/1?fields=plays.owner.email,plays.cast.part&deep[plays][_sort]=-id").await, json!({ "plays": [2, 1] }));
        let deep = filter(&json!({ "plays": { "_some": { "title": { "_eq": "Hamlet" } } } }));
        assert_eq!(ids(&critic, &format!("/items/houses?fields=id&{deep}")).await, [1]);
    }
}
