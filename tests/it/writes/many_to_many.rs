//! Lists through a junction: elements are rows of the junction, the far item stands inside.

use serde_json::{Value, json};
use waymark_tests::{Client, Server, each_engine};

use super::{change, column, read, scene};

async fn tags(admin: &Client, show: u32) -> Vec<String> {
    let show = read(admin, &format!("/items/shows/{show}?fields=tags.tag.name&deep[tags][_sort]=id")).await;
    let tags = show["tags"].as_array().expect("a list");
    tags.iter().map(|row| row["tag"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

each_engine! {
    async fn far_items_are_linked_made_and_changed_through_the_junction(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/tags", json!([{ "name": "loud" }, { "name": "long" }])).await;
        admin.must_post("/items/shows", json!({ "name": "one", "tags": [{ "tag": 1 }, { "tag": { "name": "new" } }, { "tag": { "id": 2, "name": "longer" } }, { "tag": { "id": 30, "name": "thirty" } }] })).await;
        assert_eq!(tags(&admin, 1).await, ["loud", "new", "longer", "thirty"]);
        assert_eq!(column(&admin, "tags", "name").await, ["loud", "longer", "new", "thirty"]);
        for (list, expected) in [
            (json!([1, { "id": 2, "tag": { "id": 3, "name": "newer" } }, { "tag": 30 }]), &["loud", "newer", "thirty"][..]),
            (json!({ "create": [{ "tag": { "name": "more" } }], "update": [{ "id": 1, "tag": 2 }], "delete": [2] }), &["longer", "thirty", "more"]),
            (json!([{ "tag": { "id": 1 } }]), &["loud"]),
            (json!([]), &[]),
        ] {
            change(&admin, "/items/shows/1", json!({ "tags": list })).await;
            assert_eq!(tags(&admin, 1).await, expected, "{list}");
        }
        assert_eq!(column(&admin, "tags", "name").await, ["loud", "longer", "newer", "thirty", "more"], "far items stay");
    }

    async fn many_parents_get_their_own_junction_rows(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let shows: Vec<Value> = (0..4).map(|show| json!({ "name": show.to_string(), "tags": { "create": [{ "tag": { "name": format!("{show}a") } }, { "tag": { "name": format!("{show}b") } }] } })).collect();
        admin.must_post("/items/shows", json!(shows)).await;
        for show in 0..4 {
            assert_eq!(tags(&admin, show + 1).await, [format!("{show}a"), format!("{show}b")]);
        }
        assert_eq!(column(&admin, "shows_tags", "place").await, [1, 2, 1, 2, 1, 2, 1, 2].map(Value::from));
        assert_eq!(column(&admin, "tags", "id").await.len(), 8);
    }

    async fn translations_make_their_languages_by_code(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/items/languages", json!({ "code": "en", "name": "English" })).await;
        let words = json!([{ "language": "en", "name": "Hello" }, { "language": { "code": "de", "name": "German" }, "name": "Hallo" }, { "language": { "code": "en" }, "name": "Hi" }]);
        let made = admin.must_post("/items/shows?fields=words.name,words.language.name&deep[words][_sort]=id", json!({ "words": words })).await;
        let word = |name: &str, language: &str| json!({ "name": name, "language": { "name": language } });
        assert_eq!(made["words"], json!([word("Hello", "English"), word("Hallo", "German"), word("Hi", "English")]));
        let codes = read(&admin, "/items/languages?fields=code&sort=code").await;
        assert_eq!(codes, json!([{ "code": "de" }, { "code": "en" }]));
        change(&admin, "/items/shows/1", json!({ "words": [{ "id": 2, "name": "Servus", "language": { "code": "de", "name": "Deutsch" } }] })).await;
        let shown = read(&admin, "/items/shows/1?fields=words.name,words.language.name").await;
        assert_eq!(shown["words"], json!([word("Servus", "Deutsch")]));
    }
}
