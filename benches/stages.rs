//! The stages of a read on SQLite, one by one: parse, authorise, plan, decode; and all of it with the
//! statements, for scale. `plan` is the top statement only; `decode` and `read` go through all levels.

use std::{hint::black_box, sync::Arc};

use criterion::{Criterion, criterion_group, criterion_main};
use waymark_benches::scene;
use waymark_core::{
    Ctx,
    actor::Origin,
    auth::identity,
    bench, items,
    query::{Query, QueryLimits, parse},
};

const PLAIN: &str = "limit=25";
const RICH: &str = "fields=id,title,status,published&sort=-published,id&limit=25&\
    filter=%7B%22_and%22%3A%5B%7B%22status%22%3A%7B%22_eq%22%3A%22published%22%7D%7D%2C%7B%22views%22%3A%7B%22_gt%22%3A10%7D%7D%2C\
    %7B%22title%22%3A%7B%22_icontains%22%3A%22river%22%7D%7D%5D%7D";

/// To-one and to-many levels, with a filter, a sort and a limit on the to-many one.
const NESTED: &str = "fields=id,title,slug,published,author.name,comments.text,comments.written\
    &filter[status][_eq]=published&sort=-published,id&limit=25\
    &deep[comments][_filter][approved][_eq]=true&deep[comments][_sort]=-written,id&deep[comments][_limit]=3";
/// What a tenant reads, whose rule leads over a relation.
const OWN: &str = "fields=id,title,slug,views,published,author.name&filter[views][_gt]=100&sort=-published,id&limit=25";

fn stages(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let limits = QueryLimits::default();
    let (engine, _) = runtime.block_on(scene::open("sqlite3", "sqlite::memory:"));
    let context = |caller: &scene::Caller| {
        let actor = runtime.block_on(identity::actor_for_token(&engine, caller.token, Origin::default()));
        runtime.block_on(engine.context(Arc::new(actor.expect("the caller")))).expect("a context")
    };
    let (ctx, tenant) = (context(&scene::READER), context(&scene::TENANT));

    for (name, ctx, collection, raw) in [
        ("plain", &ctx, "articles", PLAIN),
        ("rich", &ctx, "articles", RICH),
        ("nested", &ctx, "posts", NESTED),
        ("tenant", &tenant, "posts", OWN),
    ] {
        criterion.bench_function(&format!("parse/{name}"), |bencher| {
            bencher.iter(|| parse::from_url(black_box(raw), &limits));
        });
        let query = parse::from_url(raw, &limits).expect("a query");
        criterion.bench_function(&format!("authorise/{name}"), |bencher| {
            bencher.iter(|| runtime.block_on(bench::authorise(ctx, collection, black_box(&query))));
        });
        let authorised = runtime.block_on(bench::authorise(ctx, collection, &query)).expect("the right to read");
        criterion.bench_function(&format!("plan/{name}"), |bencher| {
            bencher.iter(|| bench::plan(ctx, black_box(&authorised)));
        });
    }
    for (name, ctx, raw) in [("nested", &ctx, NESTED), ("tenant", &tenant, OWN)] {
        let query = parse::from_url(raw, &limits).expect("a query");
        decode_and_read(criterion, &runtime, ctx, name, "posts", &query);
    }
    for rows in [1, 25, 100] {
        let query = parse::from_url(&format!("limit={rows}"), &limits).expect("a query");
        decode_and_read(criterion, &runtime, &ctx, &rows.to_string(), "articles", &query);
    }
}

fn decode_and_read(
    criterion: &mut Criterion,
    runtime: &tokio::runtime::Runtime,
    ctx: &Ctx<'_>,
    name: &str,
    collection: &str,
    query: &Query,
) {
    let authorised = runtime.block_on(bench::authorise(ctx, collection, query)).expect("the right to read");
    let fetched = runtime.block_on(bench::fetch(ctx, &authorised)).expect("rows");
    criterion.bench_function(&format!("decode/{name}"), |bencher| {
        let mut out = Vec::with_capacity(100_000);
        bencher.iter(|| {
            out.clear();
            bench::decode(black_box(&fetched), &mut out)
        });
    });
    criterion.bench_function(&format!("read/{name}"), |bencher| {
        bencher.iter(|| runtime.block_on(items::read(ctx, collection, black_box(query), None)));
    });
}

criterion_group!(benches, stages);
criterion_main!(benches);
