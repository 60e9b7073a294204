//! Groups and aggregates.

use sea_orm::sea_query::{Expr, Func, Order as Direction, SelectStatement};

use super::{
    condition::column,
    dialect,
    select::{Builder, Member, MemberLayout, RowLayout, label},
};
use crate::{
    access::resolved::{AggregateOutput, FieldRef, Order, OrderBy, Scalar},
    query::ast::AggregateFunction,
    schema::{FieldType, Special},
    store::{Dialect, render::Render},
};

/// Digits behind the point of an average, beyond the column's own scale.
const AVERAGE_PLACES: u32 = 4;

impl Builder<'_> {
    /// Adds groups and aggregates; gives the row's layout and the order.
    pub(super) fn grouped(
        &mut self,
        statement: &mut SelectStatement,
        table: &str,
        groups: &[(String, Scalar)],
        aggregates: &[AggregateOutput],
        sort: &[Order],
    ) -> (RowLayout, Vec<(Expr, Direction)>) {
        let mut members = Vec::with_capacity(groups.len() + aggregates.len());
        for (name, scalar) in groups {
            let (expr, render) = self.group(table, scalar);
            let position = self.push_column(expr, render);
            statement.add_group_by([Expr::cust((position + 1).to_string())]);
            members.push(Member { label: label(name), value: MemberLayout::Column(position) });
        }
        let mut positions = Vec::with_capacity(aggregates.len());
        for aggregate in aggregates {
            let (expr, render) = self.aggregate(table, aggregate);
            let position = self.push_column(expr, render);
            positions.push(position);
            let name = aggregate.function.name();
            let beside_fields =
                aggregates.iter().any(|other| other.function == aggregate.function && other.field.is_some());
            match &aggregate.field {
                None if !beside_fields => {
                    members.push(Member { label: label(name), value: MemberLayout::Column(position) });
                }
                field => {
                    // A count of rows beside counts of fields: all in one object.
                    let inner = field.as_ref().map_or("*", |field| &*field.field().name);
                    let member = Member { label: label(inner), value: MemberLayout::Column(position) };
                    let outer = label(name);
                    match members.iter_mut().find(|member| member.label == outer) {
                        Some(Member { value: MemberLayout::Object(inner), .. }) => inner.push(member),
                        _ => members.push(Member { label: outer, value: MemberLayout::Object(vec![member]) }),
                    }
                }
            }
        }
        let order = sort
            .iter()
            .map(|order| {
                let direction = if order.descending { Direction::Desc } else { Direction::Asc };
                let expr = match &order.by {
                    OrderBy::Aggregate(position) => match aggregates.get(*position) {
                        Some(aggregate) => self.aggregate_order(table, aggregate),
                        None => Expr::val(1),
                    },
                    // By place: repeated with its parameters, a group would be another expression to
                    // PostgreSQL. MySQL, which has no such scruples, can't ask a place for null.
                    OrderBy::Group(position) if self.dialect != Dialect::Mysql => {
                        Expr::cust((position + 1).to_string())
                    }
                    OrderBy::Group(position) => match groups.get(*position) {
                        Some((_, scalar)) => self.group(table, scalar).0,
                        None => Expr::val(1),
                    },
                    OrderBy::Scalar(scalar) => self.scalar(table, scalar),
                    OrderBy::Related { .. } => Expr::val(1),
                };
                (expr, direction)
            })
            .collect();
        (RowLayout::Object(members), order)
    }

    /// A grouping value. Secrets group by whether they are set, which is all that is shown of them.
    fn group(&mut self, table: &str, scalar: &Scalar) -> (Expr, Render) {
        let Scalar::Column(field) = scalar else { return (self.scalar(table, scalar), Render::Integer) };
        let (selected, render) = dialect::read(self.dialect, column(table, field), field.field());
        if render == Render::Masked { (selected, render) } else { (self.scalar(table, scalar), render) }
    }

    fn push_column(&mut self, expr: Expr, render: Render) -> usize {
        self.columns.push((expr, render));
        self.columns.len() - 1
    }

    fn aggregate(&self, table: &str, aggregate: &AggregateOutput) -> (Expr, Render) {
        use AggregateFunction as F;
        let Some(field) = &aggregate.field else { return (Expr::cust("COUNT(*)"), Render::Integer) };
        let operand = column(table, field);
        let kind = field.field().kind;
        let secret = field.field().special.has(Special::Conceal);
        match aggregate.function {
            F::Count | F::CountAll => (Expr::from(Func::count(operand)), Render::Integer),
            F::CountDistinct => {
                (Expr::from(Func::count_distinct(self.distinct_operand(operand, field))), Render::Integer)
            }
            _ if secret => (Expr::from(Func::count(operand)), Render::Masked),
            F::Sum => (dialect::sum(self.dialect, operand, kind), sum_render(field)),
            F::SumDistinct => (dialect::distinct_sum(self.dialect, operand, kind), sum_render(field)),
            F::Avg if kind == FieldType::Decimal || kind == FieldType::BigInteger => {
                (Expr::from(Func::avg(operand)), average_render(field))
            }
            F::AvgDistinct if kind == FieldType::Decimal || kind == FieldType::BigInteger => {
                (dialect::distinct(self.dialect, "AVG", operand), average_render(field))
            }
            F::Avg => (Expr::from(Func::avg(dialect::double(self.dialect, operand))), Render::Float),
            F::AvgDistinct => {
                (dialect::distinct(self.dialect, "AVG", dialect::double(self.dialect, operand)), Render::Float)
            }
            F::Min | F::Max => {
                let operand = dialect::comparable(self.dialect, operand, kind);
                let operand = dialect::minimum_operand(self.dialect, operand, field.field());
                let expr = if aggregate.function == F::Min { Func::min(operand) } else { Func::max(operand) };
                (Expr::from(expr), Render::of(field.field()))
            }
        }
    }

    /// An aggregate as a sort key.
    fn aggregate_order(&self, table: &str, aggregate: &AggregateOutput) -> Expr {
        let (value, _) = self.aggregate(table, aggregate);
        let sum = matches!(aggregate.function, AggregateFunction::Sum | AggregateFunction::SumDistinct);
        if sum { dialect::sum_order(self.dialect, value) } else { value }
    }

    fn distinct_operand(&self, operand: Expr, field: &FieldRef) -> Expr {
        dialect::comparable(self.dialect, operand, field.field().kind)
    }
}

fn scale(field: &FieldRef) -> Option<u32> {
    field.field().column.as_ref().and_then(|column| column.numeric_scale)
}

fn sum_render(field: &FieldRef) -> Render {
    match field.field().kind {
        FieldType::Decimal => Render::Decimal(scale(field)),
        FieldType::BigInteger => Render::BigInteger,
        FieldType::Float => Render::Float,
        _ => Render::Number,
    }
}

fn average_render(field: &FieldRef) -> Render {
    Render::Rounded(scale(field).unwrap_or(0) + AVERAGE_PLACES)
}
