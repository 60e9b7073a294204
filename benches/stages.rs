//! The stages of a read on SQLite, one by one: parse, authorise, plan, decode; and all of it with the
//! statement, for scale.

use std::{hint::black_box, sync::Arc};

use criterion::{Criterion, criterion_group, criterion_main};
use waymark_benches::scene;
use waymark_core::{
    actor::Origin,
    auth::identity,
    bench, items,
    query::{QueryLimits, parse},
};

const PLAIN: &str = "limit=25";
const RICH: &str = "fields=id,title,status,published&sort=-published,id&limit=25&\
    filter=%7B%22_and%22%3A%5B%7B%22status%22%3A%7B%22_eq%22%3A%22published%22%7D%7D%2C%7B%22views%22%3A%7B%22_gt%22%3A10%7D%7D%2C\
    %7B%22title%22%3A%7B%22_icontains%22%3A%22river%22%7D%7D%5D%7D";

fn stages(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let limits = QueryLimits::default();
    let (engine, _) = runtime.block_on(scene::open("sqlite3", "sqlite::memory:"));
    let actor = runtime.block_on(identity::actor_for_token(&engine, scene::TOKEN, Origin::default()));
    let ctx = runtime.block_on(engine.context(Arc::new(actor.expect("the reader")))).expect("a context");

    for (name, raw) in [("plain", PLAIN), ("rich", RICH)] {
        criterion.bench_function(&format!("parse/{name}"), |bencher| {
            bencher.iter(|| parse::from_url(black_box(raw), &limits));
        });
        let query = parse::from_url(raw, &limits).expect("a query");
        criterion.bench_function(&format!("authorise/{name}"), |bencher| {
            bencher.iter(|| runtime.block_on(bench::authorise(&ctx, "articles", black_box(&query))));
        });
        let authorised = runtime.block_on(bench::authorise(&ctx, "articles", &query)).expect("the right to read");
        criterion.bench_function(&format!("plan/{name}"), |bencher| {
            bencher.iter(|| bench::plan(&ctx, black_box(&authorised)));
        });
    }
    for rows in [1, 25, 100] {
        let query = parse::from_url(&format!("limit={rows}"), &limits).expect("a query");
        let authorised = runtime.block_on(bench::authorise(&ctx, "articles", &query)).expect("the right to read");
        let fetched = runtime.block_on(bench::fetch(&ctx, &authorised)).expect("rows");
        criterion.bench_function(&format!("decode/{rows}"), |bencher| {
            let mut out = Vec::with_capacity(100_000);
            bencher.iter(|| {
                out.clear();
                bench::decode(black_box(&fetched), &mut out)
            });
        });
        criterion.bench_function(&format!("read/{rows}"), |bencher| {
            bencher.iter(|| runtime.block_on(items::read(&ctx, "articles", black_box(&query), None)));
        });
    }
}

criterion_group!(benches, stages);
criterion_main!(benches);
