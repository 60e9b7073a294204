//! MySQL and MariaDB. Sessions run in UTC, so zoned parts need no conversion.

use sea_orm::sea_query::{Expr, ExprTrait, Func};

use super::{like, pattern};
use crate::{access::resolved::TextPlace, query::ast::Function};

/// Bit columns come back as numbers; everything else the decoder reads by itself.
pub(super) fn selectable(column: Expr, data_type: &str) -> Expr {
    if data_type == "bit" { column.add(0) } else { column }
}

/// A text that compares byte by byte, whatever character set and collation the column has.
pub(super) fn exact(column: Expr) -> Expr {
    Expr::cust_with_expr("CONVERT(? USING utf8mb4) COLLATE utf8mb4_bin", column)
}

pub(super) fn text_test(column: Expr, place: TextPlace, needle: &str, ignore_case: bool) -> Expr {
    if ignore_case {
        // Both sides are folded by the database, so that both are folded alike.
        let pattern = Expr::cust_with_expr("LOWER(CONVERT(? USING utf8mb4))", Expr::val(pattern(place, needle)));
        return Expr::cust_with_exprs("(? LIKE ? ESCAPE '!')", [Expr::from(Func::lower(exact(column))), pattern]);
    }
    exact(column).like(like(place, needle))
}

pub(super) fn part(function: Function, column: Expr) -> Expr {
    let template = match function {
        Function::Year => "YEAR(?)",
        Function::Month => "MONTH(?)",
        // Mode 3: ISO weeks.
        Function::Week => "WEEK(?, 3)",
        Function::Day => "DAYOFMONTH(?)",
        Function::Weekday => "(DAYOFWEEK(?) - 1)",
        Function::Hour => "HOUR(?)",
        Function::Minute => "MINUTE(?)",
        Function::Second => "SECOND(?)",
        Function::Count => {
            return Expr::cust_with_exprs(
                "(CASE WHEN JSON_TYPE(?) = 'ARRAY' THEN JSON_LENGTH(?) WHEN ? IS NULL THEN NULL ELSE -1 END)",
                [column.clone(), column.clone(), column],
            );
        }
    };
    Expr::cust_with_expr(template, column)
}
