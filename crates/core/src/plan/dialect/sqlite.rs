//! SQLite. Dates may stand as ISO text (ours), as text with a blank (the database's own defaults)
//! or as epoch milliseconds (other writers); they compare in one normal form.

use sea_orm::sea_query::{Expr, ExprTrait, Func};

use crate::{access::resolved::TextPlace, query::ast::Function, schema::FieldType};

fn format(kind: FieldType) -> Option<&'static str> {
    match kind {
        FieldType::Date => Some("%Y-%m-%d"),
        FieldType::DateTime => Some("%Y-%m-%dT%H:%M:%f"),
        FieldType::Timestamp => Some("%Y-%m-%dT%H:%M:%fZ"),
        _ => None,
    }
}

pub(super) fn comparable(column: Expr, kind: FieldType) -> Expr {
    match format(kind) {
        Some(format) => strftime(format, column),
        None => column,
    }
}

pub(super) fn comparable_value(value: Expr, kind: FieldType) -> Expr {
    match format(kind) {
        Some(format) => Expr::cust_with_exprs("strftime(?, ?)", [Expr::val(format), value]),
        None => value,
    }
}

fn strftime(format: &str, column: Expr) -> Expr {
    Expr::cust_with_exprs(
        "(CASE typeof(?) WHEN 'integer' THEN strftime(?, ? / 1000.0, 'unixepoch') ELSE strftime(?, ?) END)",
        [column.clone(), Expr::val(format), column.clone(), Expr::val(format), column],
    )
}

pub(super) fn part(function: Function, column: Expr, kind: FieldType) -> Expr {
    let format = match function {
        Function::Year => "%Y",
        Function::Month => "%m",
        Function::Week => "%V",
        Function::Day => "%d",
        Function::Weekday => "%w",
        Function::Hour => "%H",
        Function::Minute => "%M",
        Function::Second => "%S",
        Function::Count => {
            return Expr::cust_with_exprs(
                "(CASE WHEN json_type(?) = 'array' THEN json_array_length(?) WHEN ? IS NULL THEN NULL ELSE -1 END)",
                [column.clone(), column.clone(), column],
            );
        }
    };
    let text = if kind == FieldType::Time {
        Expr::cust_with_exprs("strftime(?, ?)", [Expr::val(format), column])
    } else {
        strftime(format, column)
    };
    text.cast_as("integer")
}

pub(super) fn text_test(column: Expr, place: TextPlace, needle: &str, ignore_case: bool) -> Expr {
    // LIKE ignores the case of ASCII letters here, so exact tests don't use it.
    let (column, needle) = if ignore_case {
        (Expr::from(Func::lower(column)), needle.to_ascii_lowercase())
    } else {
        (column, needle.to_owned())
    };
    let length = i64::try_from(needle.chars().count()).unwrap_or(i64::MAX);
    match place {
        TextPlace::Anywhere => Expr::cust_with_exprs("instr(?, ?)", [column, Expr::val(needle)]).gt(0),
        TextPlace::Start => Expr::cust_with_exprs("substr(?, 1, ?)", [column, Expr::val(length)]).eq(needle),
        TextPlace::End => Expr::cust_with_exprs("substr(?, -?)", [column, Expr::val(length)]).eq(needle),
        TextPlace::Whole => column.eq(needle),
    }
}
