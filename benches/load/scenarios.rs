//! What is asked: each request of ours with that of the hand-written server whose answer has the same
//! bytes.

use waymark_benches::{
    articles,
    scene::{Caller, READER, TENANT},
};

use crate::client::{get, post};

/// Posts with their author and each with its latest approved comments.
const NESTED: &str = "/items/posts?fields=id,title,slug,published,author.name,comments.text,comments.written\
    &filter[status][_eq]=published&sort=-published,id&limit=25\
    &deep[comments][_filter][approved][_eq]=true&deep[comments][_sort]=-written,id&deep[comments][_limit]=3";
/// Posts with the names of their tags.
const TAGS: &str = "/items/posts?fields=id,title,tags.tags_id.name&sort=id&limit=25";
/// Posts by status and month.
const TOTALS: &str = "/items/posts?aggregate[count]=*&aggregate[sum]=views&groupBy=status,month(published)\
    &sort=status,month(published)";
/// What a tenant sees of the posts.
const OWN: &str = "/items/posts?fields=id,title,slug,views,published,author.name&filter[views][_gt]=100\
    &sort=-published,id&limit=25";
/// A new purchase, read back without its key.
const PURCHASE: &str = "/items/purchases?fields=reference,note,buyer.name,lines.product,lines.quantity";
const NEW_PURCHASE: &str = r#"{"reference":"2026-0117","note":"By the back door, please","placed":"2026-03-01T10:00:00Z","buyer":7,"lines":[{"product":"Rope, 20 m","quantity":1},{"product":"Lantern","quantity":2},{"product":"Oilskin","quantity":2},{"product":"Tea","quantity":6},{"product":"Boat hook","quantity":1}]}"#;

/// Requests of one kind.
pub struct Scenario {
    pub name: &'static str,
    /// Who asks ours.
    pub caller: &'static Caller,
    ours: Vec<Ask>,
    bare: Vec<Ask>,
}

struct Ask {
    path: String,
    body: Option<&'static str>,
}

impl Scenario {
    /// The requests as bytes; the hand-written server is asked without a token.
    pub fn requests(&self, token: Option<&str>) -> Vec<Vec<u8>> {
        let asks = if token.is_some() { &self.ours } else { &self.bare };
        asks.iter()
            .map(|ask| match ask.body {
                Some(body) => post(&ask.path, token, body),
                None => get(&ask.path, token),
            })
            .collect()
    }
}

/// All scenarios; `tenant` is the tenant's id.
pub fn all(tenant: &str) -> Vec<Scenario> {
    let points = || -> Vec<Ask> { (1..=articles::ROWS).map(|id| format!("/items/articles/{id}")).map(read).collect() };
    let same = |path: &str| (vec![read(path)], vec![read(path)]);
    let pair = |ours: &str, bare: &str| (vec![read(ours)], vec![read(bare)]);
    let write = |path: &str| vec![Ask { path: path.to_owned(), body: Some(NEW_PURCHASE) }];
    [
        ("point", &READER, (points(), points())),
        ("list 25", &READER, same("/items/articles?limit=25")),
        ("list 100", &READER, same("/items/articles?limit=100")),
        ("nested", &READER, pair(NESTED, "/posts/nested?limit=25")),
        ("m2m", &READER, pair(TAGS, "/posts/tags?limit=25")),
        ("aggregate", &READER, pair(TOTALS, "/posts/totals")),
        ("tenant", &TENANT, pair(OWN, &format!("/posts/of/{tenant}?limit=25"))),
        ("create", &READER, (write(PURCHASE), write("/purchases"))),
    ]
    .into_iter()
    .map(|(name, caller, (ours, bare))| Scenario { name, caller, ours, bare })
    .collect()
}

fn read(path: impl Into<String>) -> Ask {
    Ask { path: path.into(), body: None }
}
