//! What differs between the dialects. Nothing outside this folder matches on them to write SQL.

mod among;
pub mod bind;
mod mysql;
mod postgres;
pub mod returning;
pub mod sequence;
pub mod session;
mod sqlite;

pub(crate) use among::{among, array};
pub use bind::bind;
use sea_orm::sea_query::{Expr, ExprTrait, Func, LikeExpr, NullOrdering, Order, SelectStatement};

use crate::{
    access::resolved::TextPlace,
    query::ast::Function,
    schema::{Field, FieldType},
    store::{Dialect, render::Render},
};

/// How a field is selected, and how what comes back is rendered.
pub(crate) fn read(dialect: Dialect, column: Expr, field: &Field) -> (Expr, Render) {
    let render = Render::of(field);
    if render == Render::Masked {
        return (secret_is_set(column, field), render);
    }
    let data_type = field.column.as_ref().map_or("", |column| column.data_type.as_str());
    match dialect {
        Dialect::Postgres => (postgres::selectable(column, field.kind, data_type), render),
        Dialect::Mysql => (mysql::selectable(column, data_type), render),
        Dialect::Sqlite => (column, render),
    }
}

/// Whether a concealed field holds something; its value never leaves the database.
fn secret_is_set(column: Expr, field: &Field) -> Expr {
    let set = column.clone().is_not_null();
    if matches!(field.kind, FieldType::String | FieldType::Text | FieldType::Hash) {
        set.and(column.ne(""))
    } else {
        set
    }
}

/// A column in the form in which it compares, also with values others wrote.
pub(crate) fn comparable(dialect: Dialect, column: Expr, kind: FieldType) -> Expr {
    match dialect {
        Dialect::Sqlite => sqlite::comparable(column, kind),
        Dialect::Postgres | Dialect::Mysql => column,
    }
}

/// A bound value in the form that [`comparable`] gives columns.
pub(crate) fn comparable_value(dialect: Dialect, value: Expr, kind: FieldType) -> Expr {
    match dialect {
        Dialect::Sqlite => sqlite::comparable_value(value, kind),
        Dialect::Postgres | Dialect::Mysql => value,
    }
}

/// Equality of texts where the column's own collation would ignore case or accents: beside the
/// comparison that can use an index, an exact one. `None` when the column compares exactly.
pub(crate) fn exact(dialect: Dialect, column: Expr, field: &Field) -> Option<Expr> {
    let text = matches!(field.kind, FieldType::String | FieldType::Text | FieldType::Csv | FieldType::Hash);
    if !text || !field.column.as_ref().is_some_and(|column| column.case_insensitive) {
        return None;
    }
    match dialect {
        Dialect::Mysql => Some(mysql::exact(column)),
        Dialect::Sqlite => Some(Expr::cust_with_expr("? COLLATE BINARY", column)),
        Dialect::Postgres => None,
    }
}

/// A part of a date or time (years four-digit, ISO weeks, Sunday = 0, UTC), or the length of a list:
/// -1 when the JSON value is no list.
pub(crate) fn part(dialect: Dialect, function: Function, column: Expr, field: &Field) -> Expr {
    match dialect {
        Dialect::Sqlite => sqlite::part(function, column, field.kind),
        Dialect::Postgres => postgres::part(function, column, field),
        Dialect::Mysql => mysql::part(function, column),
    }
}

/// Looks for a text in a column; wildcards in the needle are plain characters.
pub(crate) fn text_test(
    dialect: Dialect,
    column: Expr,
    field: Option<&Field>,
    place: TextPlace,
    needle: &str,
    ignore_case: bool,
) -> Expr {
    let plain_text = field.is_some_and(|field| {
        matches!(field.kind, FieldType::String | FieldType::Text | FieldType::Csv | FieldType::Hash)
    });
    match dialect {
        Dialect::Sqlite => sqlite::text_test(column, place, needle, ignore_case),
        Dialect::Postgres => {
            let column = if plain_text { column } else { column.cast_as("text") };
            if ignore_case {
                // ILIKE folds Unicode as the database's locale does.
                return Expr::cust_with_exprs("($1 ILIKE $2 ESCAPE '!')", [column, Expr::val(pattern(place, needle))]);
            }
            column.like(like(place, needle))
        }
        Dialect::Mysql => mysql::text_test(column, place, needle, ignore_case),
    }
}

fn like(place: TextPlace, needle: &str) -> LikeExpr {
    LikeExpr::new(pattern(place, needle)).escape('!')
}

/// The LIKE pattern of a needle, with its wildcards escaped by `!`.
fn pattern(place: TextPlace, needle: &str) -> String {
    let mut pattern = String::with_capacity(needle.len() + 2);
    if matches!(place, TextPlace::Anywhere | TextPlace::End) {
        pattern.push('%');
    }
    for character in needle.chars() {
        if matches!(character, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(character);
    }
    if matches!(place, TextPlace::Anywhere | TextPlace::Start) {
        pattern.push('%');
    }
    pattern
}

/// Where nulls stand: last ascending, first descending, as PostgreSQL has it by itself.
pub(crate) fn nulls(dialect: Dialect, nullable: bool, order: &Order) -> Option<NullOrdering> {
    if dialect == Dialect::Postgres || !nullable {
        return None;
    }
    Some(if matches!(order, Order::Desc) { NullOrdering::First } else { NullOrdering::Last })
}

/// What a subquery selects to get the first value of its rows in an order with nulls last ascending and
/// first descending. MariaDB loses the order of a correlated subquery whose sort key is a subquery itself, so
/// there it is an aggregate.
pub(crate) fn first(dialect: Dialect, value: Expr, descending: bool) -> Expr {
    match (dialect, descending) {
        (Dialect::Sqlite | Dialect::Postgres, _) => value,
        (Dialect::Mysql, false) => Expr::cust_with_exprs("MIN(?)", [value]),
        (Dialect::Mysql, true) => {
            let all = "CASE WHEN COUNT(*) > COUNT(?) THEN NULL ELSE MAX(?) END";
            Expr::cust_with_exprs(all, [value.clone(), value])
        }
    }
}

/// The sort key of such a subquery: the place of what it selects. None where it is an aggregate.
pub(crate) fn first_place(dialect: Dialect) -> Option<Expr> {
    (dialect != Dialect::Mysql).then(|| Expr::cust("1"))
}

/// A subquery whose rows are only asked whether there are any. SQLite (3.51) turns such a subquery
/// into a join, and then OFFSET counts each related row instead of each row; a limit keeps it from that.
pub(crate) fn existence(dialect: Dialect, mut subquery: SelectStatement) -> SelectStatement {
    if dialect == Dialect::Sqlite {
        subquery.limit(1);
    }
    subquery
}

/// A column as a double, for averages that are numbers.
pub(crate) fn double(dialect: Dialect, column: Expr) -> Expr {
    match dialect {
        Dialect::Sqlite => column.cast_as("real"),
        Dialect::Postgres => column.cast_as("double precision"),
        Dialect::Mysql => column.cast_as("double"),
    }
}

/// A column in a form that MIN and MAX take.
pub(crate) fn minimum_operand(dialect: Dialect, column: Expr, field: &Field) -> Expr {
    if dialect == Dialect::Postgres && field.kind == FieldType::Uuid { column.cast_as("text") } else { column }
}

/// The sum of a column: of whole numbers exact, beyond 64 bits as well.
pub(crate) fn sum(dialect: Dialect, column: Expr, kind: FieldType) -> Expr {
    match (dialect, kind) {
        (Dialect::Sqlite, FieldType::Integer | FieldType::BigInteger) => sqlite::whole_sum(column),
        (Dialect::Postgres, FieldType::Integer | FieldType::BigInteger) => {
            Expr::from(Func::sum(column)).cast_as("numeric")
        }
        _ => Func::sum(column).into(),
    }
}

/// The same of different values only.
pub(crate) fn distinct_sum(dialect: Dialect, column: Expr, kind: FieldType) -> Expr {
    match (dialect, kind) {
        (Dialect::Sqlite, FieldType::Integer | FieldType::BigInteger) => sqlite::whole_distinct_sum(column),
        (Dialect::Postgres, FieldType::Integer | FieldType::BigInteger) => {
            distinct(dialect, "SUM", column).cast_as("numeric")
        }
        _ => distinct(dialect, "SUM", column),
    }
}

/// A sum as a sort key.
pub(crate) fn sum_order(dialect: Dialect, sum: Expr) -> Expr {
    match dialect {
        Dialect::Sqlite => sqlite::sum_order(sum),
        Dialect::Postgres | Dialect::Mysql => sum,
    }
}

/// An aggregate function of different values only.
pub(crate) fn distinct(dialect: Dialect, function: &str, column: Expr) -> Expr {
    let placeholder = if dialect == Dialect::Postgres { "$1" } else { "?" };
    Expr::cust_with_expr(format!("{function}(DISTINCT {placeholder})"), column)
}
