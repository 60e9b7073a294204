//! The first rows of each row above, in one statement: by an index, parent after parent, or by numbering
//! the rows of all parents.

use sea_orm::sea_query::{
    Alias, Expr, ExprTrait, Func, JoinType, Order as Direction, OverStatement, Query, SelectStatement, WindowStatement,
};

use super::{
    dialect,
    select::{Builder, RowLayout, Select, SortKey, bounds},
};
use crate::{
    access::resolved::Level,
    ident::Key,
    query::ast::Limit,
    schema::Field,
    store::{Dialect, render::Render},
};

/// The keys as a table of one column, where the rows of each key are best looked up one key after the
/// other: that takes an index on the field, else each key reads the whole table. SQLite and MariaDB don't
/// know LATERAL.
pub(super) fn rows_of(dialect: Dialect, field: &Field, keys: &[Key]) -> Option<Expr> {
    let indexed = field.column.as_ref().is_some_and(|column| column.indexed);
    if dialect != Dialect::Postgres || !indexed {
        return None;
    }
    let (array, keys) = dialect::array(field, keys)?;
    Some(Func::cast_as(Expr::val(keys), array).into())
}

impl<'q> Builder<'q> {
    /// Looks up the rows of each key by an index and keeps the first ones. `keys` is an array.
    pub(super) fn by_index(
        mut self,
        mut statement: SelectStatement,
        row: RowLayout,
        key: Expr,
        keys: Expr,
        sort: Vec<SortKey>,
        level: &Level,
    ) -> Select<'q> {
        let (parents, found) = (Alias::new("parents"), Alias::new("found"));
        // The one column of such a table has the name of the table.
        statement.and_where(key.eq(Expr::col((parents.clone(), parents.clone()))));
        let (mut outer, renders) = self.around(&mut statement);
        for (position, (expr, direction, nullable)) in sort.into_iter().enumerate() {
            let name = Alias::new(format!("s{position}"));
            statement.expr_as(expr, name.clone());
            self.order(&mut statement, Expr::col(name.clone()), direction.clone(), nullable);
            // What a join gives has no order of its own.
            self.order(&mut outer, Expr::col((found.clone(), name)), direction, nullable);
        }
        bounds(&mut statement, self.dialect, level.limit, level.offset);
        outer.from_function(Func::cust("UNNEST").arg(keys), parents).join_lateral(
            JoinType::InnerJoin,
            statement,
            found,
            Expr::cust("TRUE"),
        );
        Select { statement: outer, renders, row, children: self.children }
    }

    /// Numbers the rows of each parent and keeps a window of them.
    pub(super) fn numbered(
        mut self,
        mut statement: SelectStatement,
        row: RowLayout,
        key: &Expr,
        sort: Vec<SortKey>,
        level: &Level,
    ) -> Select<'q> {
        let mut window = WindowStatement::new();
        window.add_partition_by(key.clone());
        for (expr, direction, nullable) in sort {
            match dialect::nulls(self.dialect, nullable, &direction) {
                Some(nulls) => window.order_by_expr_with_nulls(expr, direction, nulls),
                None => window.order_by_expr(expr, direction),
            };
        }
        let (mut outer, renders) = self.around(&mut statement);
        statement.expr_window_as(Expr::cust("ROW_NUMBER()"), window, Alias::new("place"));
        let place = || Expr::col(Alias::new("place"));
        outer.from_subquery(statement, Alias::new("numbered")).and_where(place().gt(level.offset));
        if let Limit::Rows(rows) = level.limit {
            // No engine numbers rows beyond its largest integer.
            outer.and_where(place().lte(Ord::min(level.offset.saturating_add(rows), i64::MAX as u64)));
        }
        outer.order_by_expr(place(), Direction::Asc);
        Select { statement: outer, renders, row, children: self.children }
    }

    /// Names the columns of a statement, for one around it that passes them on.
    fn around(&mut self, statement: &mut SelectStatement) -> (SelectStatement, Vec<Render>) {
        let mut outer = Query::select();
        let mut renders = Vec::with_capacity(self.columns.len());
        for (position, (expr, render)) in std::mem::take(&mut self.columns).into_iter().enumerate() {
            let name = Alias::new(format!("c{position}"));
            statement.expr_as(expr, name.clone());
            outer.expr(Expr::col(name));
            renders.push(render);
        }
        (outer, renders)
    }
}
