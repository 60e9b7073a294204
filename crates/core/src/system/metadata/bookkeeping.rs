//! What else has to be forgotten when a field or a collection goes.

use sea_query::{Alias, Condition, Expr, ExprTrait, Query};

use super::{delete, equal, set_null, texts};
use crate::{error::Result, store::Executor};

/// A field is gone: takes it out of everything stored that names it.
///
/// # Errors
/// When the database refuses.
pub async fn forget_field(rows: Executor<'_>, collection: &str, field: &str) -> Result<()> {
    for column in ["archive_field", "sort_field"] {
        set_null(rows, "directus_collections", column, equal(&[("collection", collection), (column, field)])).await?;
    }
    set_null(rows, "directus_fields", "group", equal(&[("collection", collection), ("group", field)])).await?;
    set_null(rows, "directus_relations", "one_field", equal(&[("one_collection", collection), ("one_field", field)]))
        .await?;
    set_null(
        rows,
        "directus_relations",
        "sort_field",
        equal(&[("many_collection", collection), ("sort_field", field)]),
    )
    .await?;
    delete(rows, "directus_relations", equal(&[("many_collection", collection), ("many_field", field)])).await?;
    take_out_of_permissions(rows, collection, field).await?;
    delete(rows, "directus_fields", equal(&[("collection", collection), ("field", field)])).await
}

/// Rows that list their fields lose the name; a list that becomes empty is NULL (no fields). `*` stays.
async fn take_out_of_permissions(rows: Executor<'_>, collection: &str, field: &str) -> Result<()> {
    let mut query = Query::select();
    query
        .expr(Expr::col(Alias::new("id")).cast_as(Alias::new(super::values::text_type(rows.dialect()))))
        .column(Alias::new("fields"))
        .from(Alias::new("directus_permissions"))
        .cond_where(equal(&[("collection", collection)]))
        .and_where(Expr::col(Alias::new("fields")).is_not_null());
    for (id, fields) in texts(rows, &query).await? {
        let Some(shorter) = without(&fields, field) else { continue };
        let value = if shorter.is_empty() { Expr::null() } else { Expr::val(shorter) };
        let mut update = Query::update();
        update
            .table(Alias::new("directus_permissions"))
            .value(Alias::new("fields"), value)
            .and_where(Expr::col(Alias::new("id")).eq(id.parse::<i64>().unwrap_or_default()));
        rows.execute(rows.build(&update)).await?;
    }
    Ok(())
}

/// The list without the name; `None` when it isn't in it.
fn without(list: &str, name: &str) -> Option<String> {
    let names: Vec<&str> = list.split(',').filter(|item| !item.is_empty()).collect();
    let kept: Vec<&str> = names.iter().copied().filter(|item| item.trim() != name).collect();
    (kept.len() < names.len()).then(|| kept.join(","))
}

/// A collection is gone: its metadata and what was recorded of it.
///
/// # Errors
/// When the database refuses.
pub async fn forget_collection(rows: Executor<'_>, collection: &str) -> Result<()> {
    let of_it = || equal(&[("collection", collection)]);
    delete(rows, "directus_fields", of_it()).await?;
    delete(rows, "directus_presets", of_it()).await?;
    forget_history(rows, collection).await?;
    delete(rows, "directus_permissions", of_it()).await?;
    for side in ["many_collection", "one_collection"] {
        delete(rows, "directus_relations", equal(&[(side, collection)])).await?;
    }
    take_out_of_allowed(rows, collection).await?;
    forget_row(rows, collection).await
}

/// The row itself; children of a folder stand free then.
///
/// # Errors
/// When the database refuses.
async fn forget_row(rows: Executor<'_>, collection: &str) -> Result<()> {
    set_null(rows, "directus_collections", "group", equal(&[("group", collection)])).await?;
    // By foreign key on most engines; SQLite doesn't enforce them in a change of the data model.
    let shares = Query::select()
        .column(Alias::new("id"))
        .from(Alias::new("directus_shares"))
        .cond_where(equal(&[("collection", collection)]))
        .take();
    let sessions = Condition::all().add(Expr::col(Alias::new("share")).in_subquery(shares));
    delete(rows, "directus_sessions", sessions).await?;
    delete(rows, "directus_shares", equal(&[("collection", collection)])).await?;
    delete(rows, "directus_collections", equal(&[("collection", collection)])).await
}

async fn forget_history(rows: Executor<'_>, collection: &str) -> Result<()> {
    let id = || Alias::new("id");
    let activities = Query::select()
        .column(id())
        .from(Alias::new("directus_activity"))
        .cond_where(equal(&[("collection", collection)]))
        .take();
    let doomed = || {
        Condition::any()
            .add(Expr::col(Alias::new("collection")).eq(collection))
            .add(Expr::col(Alias::new("activity")).in_subquery(activities.clone()))
    };
    // Revisions of other collections may have been part of one of this: MySQL wants the inner
    // select of the same table wrapped.
    let inner = Query::select().column(id()).from(Alias::new("directus_revisions")).cond_where(doomed()).take();
    let wrapped = Query::select().column(id()).from_subquery(inner, Alias::new("doomed")).take();
    let children = Condition::all().add(Expr::col(Alias::new("parent")).in_subquery(wrapped));
    set_null(rows, "directus_revisions", "parent", children).await?;
    delete(rows, "directus_revisions", doomed()).await?;
    delete(rows, "directus_activity", equal(&[("collection", collection)])).await
}

/// Many-to-any relations can't point to it any more.
async fn take_out_of_allowed(rows: Executor<'_>, collection: &str) -> Result<()> {
    let allowed = || Expr::col(Alias::new("one_allowed_collections"));
    let mut query = Query::select();
    query
        .expr(Expr::col(Alias::new("id")).cast_as(Alias::new(super::values::text_type(rows.dialect()))))
        .column(Alias::new("one_allowed_collections"))
        .from(Alias::new("directus_relations"))
        .and_where(allowed().is_not_null());
    for (id, list) in texts(rows, &query).await? {
        let Some(shorter) = without(&list, collection) else { continue };
        let mut update = Query::update();
        update
            .table(Alias::new("directus_relations"))
            .value(Alias::new("one_allowed_collections"), shorter)
            .and_where(Expr::col(Alias::new("id")).eq(id.parse::<i64>().unwrap_or_default()));
        rows.execute(rows.build(&update)).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn names_leave_lists() {
        assert_eq!(without("a,b,c", "b").as_deref(), Some("a,c"));
        assert_eq!(without("b", "b").as_deref(), Some(""));
        assert_eq!(without("*", "b"), None);
        assert_eq!(without("ab", "b"), None);
    }
}
