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

/// A sum of whole numbers. SQLite's own fails when it comes beyond 64 bits, be it on the way only:
/// so billions and rests are summed apart. A sum beyond 64 bits is a text of its digits.
const WHOLE_SUM: &str = "(CASE WHEN typeof({high}) = 'real' THEN TOTAL(?) \
    WHEN typeof({high} * 1000000000 + {low}) = 'integer' THEN {high} * 1000000000 + {low} \
    ELSE ({high} + {low} / 1000000000 + (CASE WHEN {high} > 0 AND {low} % 1000000000 < 0 THEN -1 WHEN {high} < 0 AND {low} % 1000000000 > 0 THEN 1 ELSE 0 END)) \
    || printf('%09d', (CASE WHEN {high} > 0 THEN ({low} % 1000000000 + 1000000000) % 1000000000 \
    ELSE (1000000000 - {low} % 1000000000) % 1000000000 END)) END)";

fn whole_sum_of(value: &str) -> String {
    let sums = WHOLE_SUM.replace("{high}", "SUM(? / 1000000000)").replace("{low}", "SUM(? % 1000000000)");
    sums.replace('?', value)
}

pub(super) fn whole_sum(column: Expr) -> Expr {
    let template = whole_sum_of("?");
    let columns = vec![column; template.matches('?').count()];
    Expr::cust_with_exprs(template, columns)
}

pub(super) fn whole_distinct_sum(column: Expr) -> Expr {
    let template = format!("(SELECT {} FROM json_each(json_group_array(DISTINCT ?)))", whole_sum_of("value"));
    Expr::cust_with_expr(template, column)
}

/// Sums that are texts of digits sort by their value.
pub(super) fn sum_order(sum: Expr) -> Expr {
    Expr::cust_with_expr("(? + 0)", sum)
}
