//! `aggregate` and `groupBy`.

use std::sync::Arc;

use super::{
    condition::Author,
    resolved::{AggregateOutput, Level, Order, OrderBy, Scalar, Shape},
    resolver::Resolver,
};
use crate::{
    error::{Error, Result},
    query::{
        Query,
        ast::{AggregateFunction, Limit, Operand, SortKey},
        functions::shorten,
    },
    schema::{Collection, Field, FieldType, Special},
};

impl Resolver<'_> {
    /// Resolves a level of groups (one, without `groupBy`).
    pub(super) fn groups(&self, collection: &Arc<Collection>, query: &Query) -> Result<Level> {
        let mut groups = Vec::with_capacity(query.group.len());
        for operand in &query.group {
            groups.push((group_name(operand), self.group(collection, operand)?));
        }
        let mut aggregates = Vec::new();
        for wish in &query.aggregate {
            if wish.fields.is_empty() {
                aggregates.push(AggregateOutput { function: wish.function, field: None });
            }
            for name in &wish.fields {
                aggregates.push(self.aggregate(collection, wish.function, name)?);
            }
        }
        let sort = self.group_order(query, &groups, &aggregates)?;
        let plain = Query { sort: None, ..query.clone() };
        let mut level = self.level(collection, Shape::Groups { groups, aggregates }, &plain, Vec::new())?;
        level.sort = sort;
        if query.group.is_empty() {
            (level.limit, level.offset) = (Limit::Unlimited, 0);
        }
        Ok(level)
    }

    fn group(&self, collection: &Arc<Collection>, operand: &Operand) -> Result<Scalar> {
        let field = self.named(collection, &operand.name, Author::Caller)?;
        if let Some(function) = operand.function {
            return self.function(&field, function, Author::Caller);
        }
        let groupable =
            field.field().column.is_some() && !matches!(field.field().kind, FieldType::Json | FieldType::Geometry);
        if groupable {
            Ok(Scalar::Column(field))
        } else {
            Err(Error::invalid_query(format!("\"{}\" can't be grouped.", shorten(&operand.name))))
        }
    }

    fn aggregate(
        &self,
        collection: &Arc<Collection>,
        function: AggregateFunction,
        name: &str,
    ) -> Result<AggregateOutput> {
        use AggregateFunction as F;
        if name == "*" {
            return match function {
                F::Count | F::CountAll => Ok(AggregateOutput { function, field: None }),
                _ => Err(Error::invalid_query(format!("\"{}\" needs a field.", function.name()))),
            };
        }
        let field = self.named(collection, name, Author::Caller)?;
        let kind = field.field().kind;
        let number = matches!(kind, FieldType::Integer | FieldType::BigInteger | FieldType::Float | FieldType::Decimal);
        let comparable =
            !matches!(kind, FieldType::Json | FieldType::Geometry | FieldType::Binary | FieldType::Boolean);
        let fits = match function {
            F::Count | F::CountAll => true,
            // How many secrets differ tells whether two are the same.
            F::CountDistinct => !matches!(kind, FieldType::Json | FieldType::Geometry) && !secret(field.field()),
            F::Sum | F::SumDistinct | F::Avg | F::AvgDistinct => number || secret(field.field()),
            F::Min | F::Max => comparable,
        };
        if field.field().column.is_some() && fits {
            Ok(AggregateOutput { function, field: Some(field) })
        } else {
            Err(Error::invalid_query(format!("\"{}\" has no \"{}\".", shorten(name), function.name())))
        }
    }

    /// Groups sort by their keys and by aggregates of the same query (`-sum.price`, `count`).
    fn group_order(
        &self,
        query: &Query,
        groups: &[(String, Scalar)],
        aggregates: &[AggregateOutput],
    ) -> Result<Vec<Order>> {
        let Some(keys) = query.sort.as_deref() else {
            return Ok((0..groups.len())
                .map(|position| Order { by: OrderBy::Group(position), descending: false })
                .collect());
        };
        let mut order: Vec<Order> =
            keys.iter().map(|key| self.group_key(key, groups, aggregates)).collect::<Result<_>>()?;
        // The groups themselves decide last, so that pages never overlap.
        order.extend((0..groups.len()).map(|position| Order { by: OrderBy::Group(position), descending: false }));
        Ok(order)
    }

    fn group_key(&self, key: &SortKey, groups: &[(String, Scalar)], aggregates: &[AggregateOutput]) -> Result<Order> {
        let refuse = || Error::invalid_query("Groups are sorted by their keys or by their aggregates.");
        let [first, rest @ ..] = key.path.as_slice() else { return Err(refuse()) };
        let name = group_name(&Operand { name: first.name.clone(), function: first.function });
        if rest.is_empty()
            && let Some(position) = groups.iter().position(|(known, _)| *known == name)
        {
            return Ok(Order { by: OrderBy::Group(position), descending: key.descending });
        }
        let position = aggregates.iter().position(|aggregate| {
            aggregate.function.name() == first.name
                && match (&aggregate.field, rest) {
                    (None, []) => true,
                    (Some(field), [step]) => *field.field().name == *step.name && step.function.is_none(),
                    _ => false,
                }
        });
        let by = OrderBy::Aggregate(position.ok_or_else(refuse)?);
        Ok(Order { by, descending: key.descending })
    }
}

fn secret(field: &Field) -> bool {
    field.special.has(Special::Conceal) || field.special.has(Special::Hash)
}

fn group_name(operand: &Operand) -> String {
    match operand.function {
        Some(function) => format!("{}_{}", operand.name, function.name()),
        None => operand.name.clone(),
    }
}
