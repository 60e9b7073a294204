//! `aggregate` and `groupBy`.

use std::sync::Arc;

use super::{
    condition::{Author, secret},
    order::MOST_KEYS,
    resolved::{AggregateOutput, Level, Order, OrderBy, Scalar, Shape},
    resolver::Resolver,
    selection::MOST_OUTPUTS_OF_LEVEL,
};
use crate::{
    error::{Error, Result},
    query::{
        Query,
        ast::{AggregateFunction, Limit, Operand, SortKey},
        functions::shorten,
    },
    schema::{Collection, FieldType, Special},
};

impl Resolver<'_> {
    /// Resolves a level of groups (one, without `groupBy`).
    pub(super) fn groups(&self, collection: &Arc<Collection>, query: &Query) -> Result<Level> {
        if query.group.len() > MOST_KEYS {
            return Err(Error::invalid_query(format!("\"groupBy\" has more than {MOST_KEYS} fields.")));
        }
        if query.aggregate.iter().map(|wish| wish.fields.len()).sum::<usize>() > MOST_OUTPUTS_OF_LEVEL {
            return Err(Error::invalid_query(format!("More than {MOST_OUTPUTS_OF_LEVEL} aggregates.")));
        }
        let mut groups = Vec::with_capacity(query.group.len());
        for operand in &query.group {
            let name = group_name(operand);
            if query.aggregate.iter().any(|wish| wish.function.name() == name) {
                return Err(Error::invalid_query(format!("\"{name}\" would name a group and an aggregate.")));
            }
            groups.push((name, self.group(collection, operand)?));
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
            // Of a concealed field only the mask is shown; what is a hash by type is no number.
            F::Sum | F::SumDistinct | F::Avg | F::AvgDistinct => number || field.field().special.has(Special::Conceal),
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
        if keys.len() > MOST_KEYS {
            return Err(Error::invalid_query(format!("\"sort\" has more than {MOST_KEYS} keys.")));
        }
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

fn group_name(operand: &Operand) -> String {
    match operand.function {
        Some(function) => format!("{}_{}", operand.name, function.name()),
        None => operand.name.clone(),
    }
}
