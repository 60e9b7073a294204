//! Conditions → expressions. Related rows are tested by EXISTS, so parents never repeat.

use sea_orm::sea_query::{Alias, Expr, ExprTrait, Query, SelectStatement};

use super::{dialect, select::Builder};
use crate::{
    access::resolved::{Comparison, Condition, FieldRef, Hop, Scalar, Test},
    payload::typed::Typed,
    query::ast::Function,
    schema::FieldType,
    store::Dialect,
};

/// A column of an aliased table.
pub(super) fn column(table: &str, field: &FieldRef) -> Expr {
    Expr::col((Alias::new(table), Alias::new(&*field.field().name)))
}

fn nullif(dialect: Dialect, value: Expr, nothing: &'static str) -> Expr {
    let placeholder = if dialect == Dialect::Postgres { "$1" } else { "?" };
    Expr::cust_with_expr(format!("NULLIF({placeholder}, {nothing})"), value)
}

impl Builder<'_> {
    /// The condition on a row of `table`; `None` when it always holds.
    pub(super) fn condition(&mut self, table: &str, condition: &Condition) -> Option<Expr> {
        Some(match condition {
            Condition::Always => return None,
            Condition::Never => Expr::val(1).eq(0),
            Condition::All(branches) => {
                let parts = branches.iter().filter_map(|branch| self.condition(table, branch)).collect();
                return balanced(parts, &Expr::and);
            }
            Condition::Any(branches) => {
                let mut parts = Vec::with_capacity(branches.len());
                for branch in branches {
                    // One branch that always holds makes the whole hold.
                    parts.push(self.condition(table, branch)?);
                }
                return balanced(parts, &Expr::or);
            }
            Condition::Test(scalar, test) => self.test(table, scalar, test),
            Condition::Related { hop, condition, exists } => {
                let subquery = self.related_rows(table, hop, condition, |_, _| Expr::val(1));
                let subquery = dialect::existence(self.dialect, subquery);
                if *exists { Expr::exists(subquery) } else { Expr::not_exists(subquery) }
            }
        })
    }

    /// `SELECT <what> FROM related WHERE <linked to table> AND <condition>`.
    pub(super) fn related_rows(
        &mut self,
        table: &str,
        hop: &Hop,
        condition: &Condition,
        what: impl FnOnce(&mut Self, &str) -> Expr,
    ) -> SelectStatement {
        let related = self.next_table();
        let mut statement = Query::select();
        let selected = what(self, &related);
        statement
            .expr(selected)
            .from_as(Alias::new(&*hop.target().name), Alias::new(&related))
            .and_where(self.link(table, hop, &related));
        if let Some(condition) = self.condition(&related, condition) {
            statement.and_where(condition);
        }
        statement
    }

    /// How a row of `table` and a related row belong together.
    pub(super) fn link(&self, table: &str, hop: &Hop, related: &str) -> Expr {
        let primary = |table: &str, collection: &crate::schema::Collection| {
            Expr::col((Alias::new(table), Alias::new(&*collection.primary)))
        };
        match hop {
            Hop::One { field, target } => primary(related, target).eq(column(table, field)),
            Hop::Many { key, child_field } => column(related, child_field).eq(column(table, key)),
            Hop::Any { field, discriminator, target } => {
                let key = self.key_text(primary(related, target));
                column(table, discriminator).eq(&*target.name).and(key.eq(column(table, field)))
            }
            Hop::ManyAny { key, child_field, discriminator } => {
                let here = self.key_text(column(table, key));
                column(related, discriminator).eq(&*key.collection().name).and(column(related, child_field).eq(here))
            }
        }
    }

    /// The key column of a many-to-any relation holds keys of different types as text.
    fn key_text(&self, key: Expr) -> Expr {
        match self.dialect {
            Dialect::Postgres | Dialect::Sqlite => key.cast_as("text"),
            Dialect::Mysql => key.cast_as("char"),
        }
    }

    /// A value of a row as an expression that can be compared.
    pub(super) fn scalar(&mut self, table: &str, scalar: &Scalar) -> Expr {
        match scalar {
            Scalar::Column(field) => dialect::comparable(self.dialect, column(table, field), field.field().kind),
            Scalar::Part(function, field) => {
                let part = dialect::part(self.dialect, *function, column(table, field), field.field());
                // The length of what is no list is marked, so that an answer can refuse it; elsewhere
                // there is none.
                if *function == Function::Count { nullif(self.dialect, part, "-1") } else { part }
            }
            Scalar::CountRelated { hop, visible } => {
                let subquery = self.related_rows(table, hop, visible, |_, _| Expr::cust("COUNT(*)"));
                Expr::SubQuery(None, Box::new(subquery.into()))
            }
        }
    }

    fn test(&mut self, table: &str, scalar: &Scalar, test: &Test) -> Expr {
        let field = match scalar {
            Scalar::Column(field) => Some(field.field()),
            Scalar::Part(..) | Scalar::CountRelated { .. } => None,
        };
        let plain = match scalar {
            Scalar::Column(field) => column(table, field),
            other => self.scalar(table, other),
        };
        let kind = field.map_or(FieldType::Integer, |field| field.kind);
        let left = dialect::comparable(self.dialect, plain.clone(), kind);
        let bind = |value: &Typed| match field {
            Some(field) => {
                dialect::comparable_value(self.dialect, dialect::bind(self.dialect, field, value.clone()), kind)
            }
            None => match value {
                Typed::Int(number) => Expr::val(*number),
                _ => Expr::cust("NULL"),
            },
        };
        let exact = field.and_then(|field| dialect::exact(self.dialect, plain.clone(), field));
        match test {
            Test::Null(null) => {
                if *null {
                    plain.is_null()
                } else {
                    plain.is_not_null()
                }
            }
            Test::Empty(empty) => {
                let text = match (self.dialect, kind) {
                    (_, FieldType::String | FieldType::Text | FieldType::Csv | FieldType::Hash)
                    | (Dialect::Sqlite, _) => plain.clone(),
                    (Dialect::Postgres, _) => plain.clone().cast_as("text"),
                    (Dialect::Mysql, _) => plain.clone().cast_as("char"),
                };
                if *empty { plain.is_null().or(text.eq("")) } else { plain.is_not_null().and(text.ne("")) }
            }
            Test::Compare(comparison, value) => {
                let right = bind(value);
                match comparison {
                    Comparison::Equal => {
                        let equal = left.eq(right.clone());
                        match exact {
                            Some(exact) => equal.and(exact.eq(right)),
                            None => equal,
                        }
                    }
                    Comparison::NotEqual => exact.unwrap_or(left).ne(right),
                    Comparison::Less => left.lt(right),
                    Comparison::LessOrEqual => left.lte(right),
                    Comparison::Greater => left.gt(right),
                    Comparison::GreaterOrEqual => left.gte(right),
                }
            }
            Test::In { values, negated } => {
                let has_null = values.contains(&Typed::Null);
                let bound: Vec<Expr> = values.iter().filter(|value| **value != Typed::Null).map(bind).collect();
                match (bound.is_empty(), has_null, negated) {
                    (true, false, false) => Expr::val(1).eq(0),
                    (true, false, true) => Expr::val(1).eq(1),
                    (true, true, false) => plain.is_null(),
                    (true, true, true) => plain.is_not_null(),
                    (false, false, false) => {
                        let within = left.is_in(bound.clone());
                        match exact {
                            Some(exact) => within.and(exact.is_in(bound)),
                            None => within,
                        }
                    }
                    (false, true, false) => plain.is_null().or(exact.unwrap_or(left).is_in(bound)),
                    (false, _, true) => exact.unwrap_or(left).is_not_in(bound),
                }
            }
            Test::Between { low, high, negated } => {
                let (low, high) = (bind(low), bind(high));
                if *negated { left.not_between(low, high) } else { left.between(low, high) }
            }
            Test::Text { place, needle, ignore_case, negated } => {
                let found = dialect::text_test(self.dialect, plain, field, *place, needle, *ignore_case);
                if *negated { found.not() } else { found }
            }
        }
    }
}

/// Joins conditions as a balanced tree: a chain of thousands would exceed the depth that SQLite
/// allows an expression.
fn balanced(mut parts: Vec<Expr>, join: &impl Fn(Expr, Expr) -> Expr) -> Option<Expr> {
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        length => {
            let right = parts.split_off(length / 2);
            match (balanced(parts, join), balanced(right, join)) {
                (Some(left), Some(right)) => Some(join(left, right)),
                (one, other) => one.or(other),
            }
        }
    }
}
