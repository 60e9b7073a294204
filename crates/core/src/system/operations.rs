//! Rules of `directus_operations`: what led to a deleted operation leads nowhere.

use std::collections::HashSet;

use sea_query::{Expr, ExprTrait, Keyword, Query};
use uuid::Uuid;

use crate::{
    auth::rows,
    context::Ctx,
    error::Result,
    ident::Key,
    items::events::{Change, ItemEvent},
};

const COLLECTION: &str = "directus_operations";
/// Keys of one statement.
const KEYS_PER_STATEMENT: usize = 10_000;

pub(super) async fn before_delete(ctx: &Ctx<'_>, keys: &[Key]) -> Result<()> {
    let operations: Vec<_> = keys.iter().filter_map(super::uuid_key).collect();
    detach(ctx, &operations, &[]).await
}

/// The operations of these flows.
pub(super) async fn of_flows(ctx: &Ctx<'_>, flows: &[Uuid]) -> Result<Vec<Uuid>> {
    let mut operations = Vec::new();
    for flows in flows.chunks(KEYS_PER_STATEMENT) {
        operations.extend(leading_to(ctx, COLLECTION, "flow", flows).await?);
    }
    Ok(operations)
}

/// Clears what leads to operations that are about to go, alone or with their flows. The foreign keys
/// of `resolve` and `reject` would refuse the deletion; a flow's first operation has none.
pub(super) async fn detach(ctx: &Ctx<'_>, operations: &[Uuid], flows: &[Uuid]) -> Result<()> {
    let places = [
        (COLLECTION, "resolve", operations),
        (COLLECTION, "reject", operations),
        ("directus_flows", "operation", flows),
    ];
    for (table, column, going) in places {
        let going: HashSet<&Uuid> = going.iter().collect();
        let mut changed = Vec::new();
        for gone in operations.chunks(KEYS_PER_STATEMENT) {
            let found = leading_to(ctx, table, column, gone).await?;
            if found.is_empty() {
                continue;
            }
            let targets = rows::uuids(ctx.conn.dialect(), gone.iter().copied());
            let update = Query::update()
                .table(table)
                .value(column, Expr::Keyword(Keyword::Null))
                .and_where(Expr::col(column).is_in(targets))
                .to_owned();
            ctx.conn.execute(ctx.conn.build(&update)).await?;
            changed.extend(found.into_iter().filter(|id| !going.contains(id)).map(Key::Uuid));
        }
        if !changed.is_empty() {
            ctx.emit(ItemEvent { collection: table.into(), change: Change::Update, keys: changed });
        }
    }
    Ok(())
}

/// Keys of the rows whose column holds one of these.
async fn leading_to(ctx: &Ctx<'_>, table: &'static str, column: &'static str, targets: &[Uuid]) -> Result<Vec<Uuid>> {
    let dialect = ctx.conn.dialect();
    let select = Query::select()
        .column("id")
        .from(table)
        .and_where(Expr::col(column).is_in(rows::uuids(dialect, targets.iter().copied())))
        .to_owned();
    let mut found = Vec::new();
    for row in ctx.conn.query(ctx.conn.build(&select)).await? {
        found.extend(rows::read_uuid(dialect, &row, "id")?);
    }
    Ok(found)
}
