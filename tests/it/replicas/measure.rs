//! Measurements, not tests: what a change takes to the other replicas, and what a store that is away does to answers.
//!
//! ```text
//! scripts/services run --only postgres -- cargo nextest run --workspace --run-ignored only --success-output final \
//!     -E 'test(replicas::measure)'
//! ```

use std::time::{Duration, Instant};

use serde_json::json;
use waymark_rig::Proxy;
use waymark_tests::{Client, Database, Kind, Process, Processes, Store, StoreKind, each_store, until};

const CHANGES: usize = 500;
const REQUESTS: usize = 400;
const NONE: Duration = Duration::ZERO;

/// The share of a sorted list, in milliseconds.
fn at(sorted: &[Duration], share: f64) -> f64 {
    let index = ((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len()) - 1;
    sorted[index].as_secs_f64() * 1e3
}

/// How long until all of them answer so.
async fn seen(clients: &[Client], path: &str, wanted: u16) -> Duration {
    let started = Instant::now();
    for client in clients {
        until(path, || async { client.get(path).await.0 == wanted }).await;
    }
    started.elapsed()
}

each_store! {
    #[ignore = "prints how long changes take to the other replicas"]
    async fn heavy_changes_reach_the_others(store) {
        let replicas = Processes::start(Kind::Postgres, store, 3, &[("CACHE_SYSTEM_TTL", "1h"), ("LOG_LEVEL", "error")]).await;
        let [one, two, three] = replicas.processes.as_slice() else { panic!("three processes") };
        let admin = one.admin().await;
        let others = [two.admin().await, three.admin().await];
        for admin in [&admin, &others[0], &others[1]] {
            until("they know each other", || async {
                admin.get("/server/health").await.1["checks"]["messenger:replicas"][0]["observedValue"] == 3
            })
            .await;
        }
        admin.create_collection("harbours", json!([{ "field": "name", "type": "string" }])).await;
        let role = admin.create_role("Pilots", false).await;
        let user = admin.create_user(Some(&role)).await;
        let other = admin.create_user(Some(&role)).await;
        let suspended = [two.client().login(&other.email, &other.password).await, three.client().login(&other.email, &other.password).await];
        let far = [two.client().login(&user.email, &user.password).await, three.client().login(&user.email, &user.password).await];
        seen(&others, "/items/harbours", 200).await;

        let mut schema = Vec::new();
        let mut rights = Vec::new();
        let mut users = Vec::new();
        let mut rule = None;
        for change in 0..CHANGES {
            match change % 3 {
                0 => {
                    let field = format!("f{change}");
                    admin.must_post("/fields/harbours", json!({ "field": field, "type": "integer" })).await;
                    schema.push(seen(&others, &format!("/items/harbours?fields={field}"), 200).await);
                }
                1 => match rule.take() {
                    None => {
                        let made = json!({ "role": role, "collection": "harbours", "action": "read", "fields": ["*"] });
                        rule = Some(admin.must_post("/permissions", made).await["id"].clone());
                        rights.push(seen(&far, "/items/harbours?fields=name", 200).await);
                    }
                    Some(id) => {
                        assert_eq!(admin.delete("/permissions", json!([id])).await.0, 204);
                        rights.push(seen(&far, "/items/harbours?fields=name", 403).await);
                    }
                },
                _ => {
                    let (status, wanted) = if change % 2 == 0 { ("suspended", 401) } else { ("active", 200) };
                    assert_eq!(admin.patch(&format!("/users/{}", other.id), json!({ "status": status })).await.0, 200);
                    // The access token counts again when its user does.
                    users.push(seen(&suspended, "/users/me", wanted).await);
                }
            }
        }
        for (what, mut times) in [("schema", schema), ("permissions", rights), ("user status", users)] {
            times.sort_unstable();
            println!(
                "{store:?} {what}: {} changes, seen by both others after p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
                times.len(), at(&times, 0.5), at(&times, 0.99), at(&times, 1.0)
            );
        }
    }

    #[ignore = "prints what answers take while the store is away"]
    async fn heavy_answers_while_the_store_is_away(kind) {
        let mut store = Store::start(kind).await;
        let proxy = Proxy::start(store.address()).await;
        let settings = store.settings_by(proxy.address());
        let mut settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        settings.push(("LOG_LEVEL", "error"));
        let database = Database::create(Kind::Postgres).await;
        let server = Process::start(&database, &settings).await;
        let admin = server.admin().await;
        let role = admin.create_role("Pilots", false).await;
        until("everything is well", || async { admin.get("/server/health").await.1["status"] == "ok" }).await;
        answers(kind, "healthy, to warm up", &admin, &role, NONE).await;
        answers(kind, "healthy", &admin, &role, NONE).await;
        proxy.stall();
        answers(kind, "stalled for 20 s", &admin, &role, Duration::from_secs(20)).await;
        proxy.restore();
        until("everything is well", || async { admin.get("/server/health").await.1["status"] == "ok" }).await;
        answers(kind, "healthy again", &admin, &role, NONE).await;
        store.kill();
        answers(kind, "killed", &admin, &role, NONE).await;
        store.restart().await;
        answers(kind, "while it comes back", &admin, &role, NONE).await;
        for _ in 0..5 {
            proxy.drop_all();
            answers(kind, "connections dropped", &admin, &role, NONE).await;
        }
    }
}

/// Reads and writes in turn; each write publishes. For at least so long.
async fn answers(store: StoreKind, state: &str, admin: &Client, role: &str, least: Duration) {
    let path = format!("/roles/{role}");
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    while writes.len() < REQUESTS || begun.elapsed() < least {
        let number = writes.len();
        let started = Instant::now();
        assert_eq!(admin.get(&path).await.0, 200);
        reads.push(started.elapsed());
        let started = Instant::now();
        assert_eq!(admin.patch(&path, json!({ "description": number.to_string() })).await.0, 200);
        writes.push(started.elapsed());
    }
    for (what, mut times) in [("reads", reads), ("writes", writes)] {
        times.sort_unstable();
        println!(
            "{store:?} {state}: {what} p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
            at(&times, 0.5),
            at(&times, 0.99),
            at(&times, 1.0)
        );
    }
}
