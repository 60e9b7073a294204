//! How values compare, and in which order rows stand.

use std::cmp::Ordering;

use super::{
    ask::{SortKey, Step},
    holds::{Scope, View, cell},
    world::{Cell, KEY, Kind, Row},
};

/// Compares two values of one type; `None` with null.
pub fn compare(left: &Cell, right: &Cell) -> Option<Ordering> {
    match (left, right) {
        (Cell::Null, _) | (_, Cell::Null) => None,
        (Cell::Whole(left), Cell::Whole(right)) | (Cell::Decimal(left), Cell::Decimal(right)) => Some(left.cmp(right)),
        (Cell::Float(left), Cell::Float(right)) => left.partial_cmp(right),
        (Cell::Bool(left), Cell::Bool(right)) => Some(left.cmp(right)),
        // Dates as well: they are held in a form that sorts as they do.
        (Cell::Text(_) | Cell::Csv(_), Cell::Text(_) | Cell::Csv(_)) => Some(text(left).cmp(&text(right))),
        _ => panic!("{left:?} and {right:?} don't compare"),
    }
}

/// A text as it is stored.
pub fn text(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Csv(items) => items.join(","),
        other => panic!("{other:?} is no text"),
    }
}

/// The order of two sort values: nulls last going up, first going down.
pub fn rank(left: &Cell, right: &Cell, descending: bool) -> Ordering {
    let ascending = match (left, right) {
        (Cell::Null, Cell::Null) => Ordering::Equal,
        (Cell::Null, _) => Ordering::Greater,
        (_, Cell::Null) => Ordering::Less,
        _ => compare(left, right).unwrap_or(Ordering::Equal),
    };
    if descending { ascending.reverse() } else { ascending }
}

impl View<'_> {
    /// Puts rows in order. Equal ones stand by their primary key.
    pub fn sort(&self, collection: usize, rows: &mut [&Row], keys: &[SortKey]) {
        let by_key = SortKey { path: vec![Step::plain(KEY)], descending: false };
        rows.sort_by(|left, right| {
            keys.iter().chain([&by_key]).fold(Ordering::Equal, |order, key| {
                order.then_with(|| {
                    let value = |row| self.sort_value(collection, row, &key.path, key.descending);
                    rank(&value(left), &value(right), key.descending)
                })
            })
        });
    }

    /// What a row sorts by: of a row that is hidden or not there nothing, of several the first.
    fn sort_value(&self, collection: usize, row: &Row, path: &[Step], descending: bool) -> Cell {
        let (step, rest) = path.split_first().expect("a step");
        let field = self.world.collections[collection].field(&step.name).expect("a field");
        if let Some(function) = step.function {
            return self.function(collection, row, field, function, Scope::Caller);
        }
        if rest.is_empty() {
            return cell(row, &step.name).clone();
        }
        let (target, related): (usize, Vec<&Row>) = match &field.kind {
            Kind::One { target } => (*target, self.target(row, field, *target).into_iter().collect()),
            Kind::Many { child, .. } => (*child, self.children(row, field).collect()),
            Kind::Any { discriminator, .. } => {
                let target = step.scope.as_deref().and_then(|name| self.number(name)).expect("a scope");
                (target, self.any_target(row, field, discriminator, target).into_iter().collect())
            }
            Kind::Plain(_) => panic!("{} leads nowhere", field.name),
        };
        let visible = related.into_iter().filter(|row| self.visible(target, row));
        let values = visible.map(|row| self.sort_value(target, row, rest, descending));
        values.min_by(|left, right| rank(left, right, descending)).unwrap_or(Cell::Null)
    }
}
