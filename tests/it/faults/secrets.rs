//! Concealed values: masked under every name, and nothing but "set or not" can be asked of them, by
//! nobody, admins included.

use serde_json::json;
use waymark_tests::{Client, Server, each_engine};

use super::{data, encoded, ids, scene};

const MASK: &str = "**********";
const TOKEN: &str = "tok-3f9a1c7e5b2d8f6a";

/// Every way to ask for a value: with `{}` for the field and operands that would match.
fn questions(field: &str, value: &str) -> Vec<String> {
    let start = &value[..3];
    let mut all: Vec<String> = [
        format!("filter[{field}][_eq]={value}"),
        format!("filter[{field}]={value}"),
        format!("filter[{field}][_neq]={value}"),
        format!("filter[{field}][_ieq]={value}"),
        format!("filter[{field}][_nieq]={value}"),
        format!("filter[{field}][_in]={value}"),
        format!("filter[{field}][_nin]={value}"),
        format!("filter[{field}][_between]=a,zzzz"),
        format!("filter[{field}][_nbetween]=a,b"),
        format!("filter[_or][0][{field}][_eq]={value}"),
        format!("filter[_and][0][_or][0][{field}][_starts_with]={start}"),
    ]
    .into();
    for operator in [
        "lt",
        "lte",
        "gt",
        "gte",
        "contains",
        "ncontains",
        "icontains",
        "nicontains",
        "starts_with",
        "nstarts_with",
        "istarts_with",
        "nistarts_with",
        "ends_with",
        "nends_with",
        "iends_with",
        "niends_with",
        "regex",
        "intersects",
    ] {
        all.push(format!("filter[{field}][_{operator}]={start}"));
    }
    for function in ["year", "month", "week", "day", "weekday", "hour", "minute", "second", "count"] {
        all.push(format!("filter[{function}({field})][_gt]=0"));
        all.push(format!("fields=id,{function}({field})"));
        all.push(format!("fields=id,x&alias[x]={function}({field})"));
        all.push(format!("sort={function}({field})"));
        all.push(format!("groupBy={function}({field})"));
    }
    all.extend([
        format!("sort={field}"),
        format!("sort=-{field}"),
        format!("aggregate[countDistinct]={field}"),
        format!("groupBy={field}&aggregate[count]=*&sort=countDistinct.{field}"),
    ]);
    all
}

async fn refused(client: &Client, path: &str, questions: Vec<String>) {
    let mut faults = Vec::new();
    for question in questions {
        let separator = if path.contains('?') { '&' } else { '?' };
        let answer = client.request("GET", &format!("{path}{separator}{question}"), None).await;
        if answer.status != 400 || answer.codes() != ["INVALID_QUERY"] {
            faults.push(format!("{path} {question} → {} {:.200}", answer.status, answer.body.to_string()));
        }
    }
    assert!(faults.is_empty(), "{} answered:\n{}", faults.len(), faults.join("\n"));
}

each_engine! {
    /// GHSA-38hg-ww64-rrwc, GHSA-m5q3-8wgf-x8xf, GHSA-8jpw-gpr4-8cmh, GHSA-p8v3-m643-4xqx.
    async fn nothing_but_its_presence_is_told_of_a_concealed_value(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        for (field, value) in [("code", "otter"), ("born", "1990-05-17"), ("pin", "$argon2id")] {
            let mut questions = questions(field, value);
            if field == "pin" {
                // A hash that is not concealed is shown to readers; so its groups are no secret.
                questions.retain(|question| !question.starts_with("groupBy=pin&"));
            }
            refused(&admin, "/items/plays", questions).await;
        }
        // Through relations, on every side.
        for path in ["filter[play][code][_eq]=otter", "filter[play][code][_contains]=o", "sort=play.code", "filter[play][year(born)][_eq]=1990", "sort=play.year(born)"] {
            refused(&admin, "/items/casts", vec![path.to_owned()]).await;
        }
        refused(&admin, "/items/houses", vec![
            "filter[plays][code][_eq]=otter".to_owned(), "filter[plays][_some][code][_starts_with]=o".to_owned(), "filter[plays][_none][code][_in]=otter".to_owned(),
            "fields=plays.id&deep[plays][_filter][code][_eq]=otter".to_owned(), "fields=plays.id&deep[plays][_sort]=code".to_owned(), "sort=plays.code".to_owned(),
            "filter[notices][item:plays][code][_eq]=otter".to_owned(), "fields=plays.year(born)".to_owned(),
        ]).await;
        // Two share a code, which nobody learns: set or not is all that groups and counts tell.
        assert_eq!(data(&admin, "/items/plays?groupBy=code&aggregate[count]=*&sort=count").await, json!([{ "code": null, "count": 2 }, { "code": MASK, "count": 3 }]));
        assert_eq!(data(&admin, "/items/plays?aggregate[min]=code,born&aggregate[max]=code,born").await,
            json!([{ "min": { "code": MASK, "born": MASK }, "max": { "code": MASK, "born": MASK } }]));
        assert_eq!(data(&admin, "/items/plays?aggregate[count]=code,born").await, json!([{ "count": { "code": 3, "born": 2 } }]));
        assert_eq!(data(&admin, "/items/plays?groupBy=born&aggregate[max]=code&aggregate[count]=*&sort=-count").await,
            json!([{ "born": null, "max": { "code": MASK }, "count": 3 }, { "born": MASK, "max": { "code": MASK }, "count": 2 }]));
        assert_eq!(ids(&admin, "/items/plays?fields=id&sort=id&filter[code][_nnull]=true").await, [1, 2, 3]);
        assert_eq!(ids(&admin, "/items/plays?fields=id&sort=id&filter[born][_empty]=true").await, [2, 4, 5]);
        for term in ["otter", "1990-05-17", "argon2"] {
            assert_eq!(ids(&admin, &format!("/items/plays?fields=id&search={term}")).await, Vec::<i64>::new(), "{term}");
            assert_eq!(data(&admin, &format!("/items/houses?fields=plays.id&sort=id&limit=1&deep[plays][_search]={term}")).await, json!([{ "plays": [] }]), "{term}");
        }
        for path in ["/items/plays/1?fields=x,y&alias[x]=code&alias[y]=born", "/items/casts/1?fields=play.x,play.y&deep[play][_alias][x]=code&deep[play][_alias][y]=born"] {
            let (_, body) = admin.get(path).await;
            let shown = body["data"].get("play").unwrap_or(&body["data"]);
            assert_eq!(shown, &json!({ "x": MASK, "y": MASK }), "{path}: {body}");
        }
    }

    /// The same of users: password, token, second factor; for admins and for users of themselves.
    async fn secrets_of_users_can_not_be_asked_for(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let role = admin.create_role("desk", true).await;
        let user = admin.create_user(Some(&role)).await;
        let path = format!("/users/{}", user.id);
        assert_eq!(admin.patch(&path, json!({ "token": TOKEN })).await.0, 200);
        assert_eq!(admin.patch("/items/plays/1", json!({ "owner": user.id })).await.0, 200);
        for (field, value) in [("token", TOKEN), ("password", "$argon2id"), ("tfa_secret", "JBSWY3DP"), ("external_identifier", "ext"), ("auth_data", "refresh")] {
            refused(&admin, "/users", questions(field, value)).await;
            for question in [format!("filter[owner][{field}][_starts_with]={}", &value[..3]), format!("sort=owner.{field}"), format!("filter[owner][{field}][_eq]={value}")] {
                refused(&admin, "/items/plays", vec![question]).await;
            }
            for question in [format!("filter[users][{field}][_contains]=a"), format!("filter[users][_some][{field}][_eq]={value}"),
                format!("fields=users.id&deep[users][_filter][{field}][_starts_with]=a"), format!("fields=users.id&deep[users][_sort]={field}")] {
                refused(&admin, "/roles", vec![question]).await;
            }
            let (status, body) = admin.get(&format!("/users?aggregate[min]={field}&aggregate[max]={field}&groupBy={field}")).await;
            assert_eq!(status, if field == "auth_data" { 400 } else { 200 }, "{body}");
            assert!(!body.to_string().contains("argon2") && !body.to_string().contains(TOKEN), "{field}: {body}");
        }
        assert_eq!(data(&admin, &format!("{path}?fields=token,password,tfa_secret,a&alias[a]=token")).await,
            json!({ "token": MASK, "password": MASK, "tfa_secret": null, "a": MASK }));
        assert_eq!(data(&admin, "/items/plays/1?fields=owner.token,owner.password,owner.p&deep[owner][_alias][p]=password").await,
            json!({ "owner": { "token": MASK, "password": MASK, "p": MASK } }));
        for term in [TOKEN, "argon2", &TOKEN[4..9]] {
            assert_eq!(data(&admin, &format!("/users?fields=id&search={term}")).await, json!([]), "{term}");
            assert_eq!(admin.get(&format!("/users?fields=id&meta=filter_count&search={term}")).await.1["meta"], json!({ "filter_count": 0 }), "{term}");
        }
        // The token works, and its owner learns no more.
        let own = server.client().with_token(TOKEN);
        assert_eq!(data(&own, "/users/me?fields=id,password,tfa_secret").await, json!({ "id": user.id, "password": MASK, "tfa_secret": null }));
        refused(&own, "/users", questions("password", "$argon2id")).await;
        let search = encoded("argon2");
        assert_eq!(data(&own, &format!("/users?fields=id&search={search}")).await, json!([]));
        assert_eq!(own.get("/users?filter[token][_nnull]=true").await.0, 403, "the minimum of the app has no token");
    }
}
