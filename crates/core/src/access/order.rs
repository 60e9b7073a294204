//! `sort`: own columns, functions, and values of visible related rows.

use std::sync::Arc;

use super::{
    condition::{Author, secret},
    resolved::{FieldRef, Hop, Order, OrderBy, Scalar},
    resolver::Resolver,
};
use crate::{
    error::{Error, Result},
    query::ast::{PathStep, SortKey},
    schema::{Collection, FieldType},
};

/// Keys one sort, or one grouping, may have.
pub(super) const MOST_KEYS: usize = 32;

impl Resolver<'_> {
    /// Resolves the order of a level. The primary key decides last, so that pages never overlap.
    pub(super) fn order(
        &self,
        collection: &Arc<Collection>,
        keys: Option<&[SortKey]>,
        default: Vec<Order>,
    ) -> Result<Vec<Order>> {
        let mut order = match keys {
            Some(keys) if keys.len() > MOST_KEYS => {
                return Err(Error::invalid_query(format!("\"sort\" has more than {MOST_KEYS} keys.")));
            }
            Some(keys) => keys
                .iter()
                .map(|key| Ok(Order { by: self.order_by(collection, &key.path, 1)?, descending: key.descending }))
                .collect::<Result<Vec<_>>>()?,
            None if !default.is_empty() => default,
            None => collection
                .sort_field
                .as_deref()
                .and_then(|field| FieldRef::new(collection, field))
                .filter(|field| field.field().column.is_some())
                .map(|field| self.ascending(field))
                .into_iter()
                .collect(),
        };
        let by_key = order.iter().any(|order| match &order.by {
            OrderBy::Scalar(Scalar::Column(field)) => field.field().name == collection.primary,
            _ => false,
        });
        if !by_key && let Some(primary) = FieldRef::new(collection, &collection.primary) {
            order.push(self.ascending(primary));
        }
        Ok(order)
    }

    pub(super) fn ascending(&self, field: FieldRef) -> Order {
        Order { by: OrderBy::Scalar(Scalar::Column(field)), descending: false }
    }

    /// `copies`: how often the databases that can't name a value evaluate this step.
    fn order_by(&self, collection: &Arc<Collection>, path: &[PathStep], copies: usize) -> Result<OrderBy> {
        let Some((step, rest)) = path.split_first() else {
            return Err(Error::invalid_query("\"sort\" has an empty key."));
        };
        self.check_field(collection, &step.name)?;
        let field = FieldRef::new(collection, &step.name).ok_or_else(|| self.unknown_field(collection, &step.name))?;
        if let Some(function) = step.function {
            if !rest.is_empty() {
                return Err(Error::invalid_query("A function ends a sort key."));
            }
            return Ok(OrderBy::Scalar(self.function(&field, function, Author::Caller)?));
        }
        let name = Arc::clone(&field.field().name);
        if rest.is_empty() {
            if field.field().column.is_none() {
                if collection.link(&name).is_some() {
                    // A list of items sorts by the first of its keys.
                    self.take_hops(copies)?;
                    let hop = self.hop(collection, &field, None)?;
                    let visible = Box::new(self.visible_or_refuse(hop.target())?);
                    let primary = FieldRef::new(hop.target(), &hop.target().primary).ok_or_else(Error::forbidden)?;
                    let by = Box::new(OrderBy::Scalar(Scalar::Column(primary)));
                    return Ok(OrderBy::Related { hop, visible, by });
                }
                return Err(Error::invalid_query(format!("\"{name}\" can't be sorted.")));
            }
            // The order of secrets would tell them letter by letter.
            if secret(field.field())
                || matches!(field.field().kind, FieldType::Json | FieldType::Geometry | FieldType::Hash)
            {
                return Err(Error::invalid_query(format!("\"{name}\" can't be sorted.")));
            }
            return Ok(OrderBy::Scalar(Scalar::Column(field)));
        }
        if collection.link(&name).is_none() {
            return Err(Error::invalid_query(format!("\"{name}\" leads nowhere.")));
        }
        self.take_hops(copies)?;
        let hop = self.hop(collection, &field, step.scope.as_deref())?;
        // The first row of a list is found by its value, which then stands there three times.
        let copies = if matches!(hop, Hop::Many { .. }) { copies.saturating_mul(3) } else { copies };
        if let Hop::Any { discriminator, .. } = &hop {
            self.check_field(collection, &discriminator.field().name)?;
        }
        let visible = Box::new(self.visible_or_refuse(hop.target())?);
        let by = Box::new(self.order_by(&Arc::clone(hop.target()), rest, copies)?);
        Ok(OrderBy::Related { hop, visible, by })
    }
}
