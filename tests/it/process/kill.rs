//! A power cut while many write: what was acknowledged is there, and nothing is there by halves.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinSet, time::timeout};
use waymark_tests::{Database, Process, each_engine};

const BATCHES: usize = 200;
const ROWS: usize = 20;
/// Answers to wait for before the cut: enough to mean something, far from all.
const ENOUGH: usize = 25;

each_engine! {
    async fn heavy_batches_are_whole_or_absent_after_a_kill(kind) {
        let database = Database::create(kind).await;
        let server = Process::start(&database, &[]).await;
        let admin = server.admin().await;
        let fields = json!([{ "field": "batch", "type": "integer" }, { "field": "position", "type": "integer" }]);
        admin.create_collection("rows", fields).await;

        let (acknowledge, mut acknowledged) = mpsc::unbounded_channel();
        let mut writers = JoinSet::new();
        for batch in 0..BATCHES {
            let (admin, acknowledge) = (admin.clone(), acknowledge.clone());
            writers.spawn(async move {
                let rows: Vec<Value> = (0..ROWS).map(|row| json!({ "batch": batch, "position": row })).collect();
                let body = Some(("application/json", Value::from(rows).to_string().into_bytes()));
                match admin.attempt("POST", "/items/rows", body).await {
                    Ok(answer) => {
                        assert_eq!(answer.status, 200, "{}", answer.body);
                        acknowledge.send(batch).expect("the test listens");
                    }
                    Err(error) => assert!(!error.is_timeout(), "{error}"),
                }
            });
        }
        drop(acknowledge);
        let mut kept = Vec::new();
        while kept.len() < ENOUGH {
            let batch = timeout(Duration::from_secs(60), acknowledged.recv()).await.expect("answers in time");
            kept.push(batch.expect("more answers"));
        }
        server.kill().await;
        while let Some(writer) = writers.join_next().await {
            writer.expect("no writer met an error answer");
        }
        while let Some(batch) = acknowledged.recv().await {
            kept.push(batch);
        }
        assert!(kept.len() < BATCHES, "the cut came after the last answer");

        let server = Process::serve(&database, &[]).await;
        let query = "/items/rows?groupBy=batch&aggregate[count]=*&aggregate[countDistinct]=position&limit=-1";
        let (status, body) = server.admin().await.get(query).await;
        assert_eq!(status, 200, "{body}");
        let stored = body["data"].as_array().expect("groups");
        for group in stored {
            assert_eq!(number(&group["count"]), ROWS, "a batch by halves: {group}");
            assert_eq!(number(&group["countDistinct"]["position"]), ROWS, "{group}");
        }
        let stored: Vec<usize> = stored.iter().map(|group| number(&group["batch"])).collect();
        for batch in kept {
            assert!(stored.contains(&batch), "batch {batch} was acknowledged and is gone");
        }
    }
}

/// A number, also one that is given as text.
fn number(value: &Value) -> usize {
    let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    text.parse().unwrap_or_else(|_| panic!("{value} is no number"))
}
