//! Whether a filter holds for a row, by looking at every related row.

use waymark_tests::Kind as Engine;

use super::{
    ask::{Filter, Inner, Operand, Step},
    functions, order,
    policy::Caller,
    values,
    world::{Cell, Field, KEY, Kind, Row, Type, World},
};

/// The caller may not name this: 403.
#[derive(Debug, PartialEq, Eq)]
pub struct Forbidden;

/// A world as one caller sees it on one engine.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub world: &'a World,
    pub caller: &'a Caller,
    pub engine: Engine,
}

/// Which related rows there are for a filter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those the caller may see.
    Caller,
    /// All: the filter is a rule of the operator.
    Rule,
}

/// What stands for "no row".
static NO_ROW: Row = Row::new();

impl View<'_> {
    /// Whether the caller's rule lets a row be seen.
    pub fn visible(&self, collection: usize, row: &Row) -> bool {
        if self.caller.admin {
            return true;
        }
        match self.caller.rule(collection) {
            None => false,
            Some(rule) => rule.rows.as_ref().is_none_or(|filter| self.holds(collection, row, filter, Scope::Rule)),
        }
    }

    fn counts(&self, collection: usize, row: &Row, scope: Scope) -> bool {
        scope == Scope::Rule || self.visible(collection, row)
    }

    pub fn holds(&self, collection: usize, row: &Row, filter: &Filter, scope: Scope) -> bool {
        match filter {
            Filter::All { branches, .. } => branches.iter().all(|branch| self.holds(collection, row, branch, scope)),
            // No alternative at all is no condition.
            Filter::Any(branches) => {
                branches.is_empty() || branches.iter().any(|branch| self.holds(collection, row, branch, scope))
            }
            Filter::Of(step, inner) => self.said_of(collection, row, step, inner, scope),
        }
    }

    fn said_of(&self, collection: usize, row: &Row, step: &Step, inner: &Inner, scope: Scope) -> bool {
        let field = self.world.collections[collection].field(&step.name).expect("a field");
        if let Some(function) = step.function {
            return self.test(Type::Integer, &self.function(collection, row, field, function, scope), inner);
        }
        match (&field.kind, inner) {
            // Logic below a field is drawn over it: without a condition left, nothing is asked of any row.
            (_, Inner::Rows(filter)) if filter.asks_nothing() => true,
            (_, Inner::Both(parts)) => parts.iter().all(|part| self.said_of(collection, row, step, part, scope)),
            (_, Inner::Either(parts)) => parts.iter().any(|part| self.said_of(collection, row, step, part, scope)),
            (Kind::One { target }, Inner::Rows(filter)) => match self.target(row, field, *target) {
                // As in an outer join: the fields of a row that is not there are null.
                None => self.holds(*target, &NO_ROW, filter, scope),
                Some(related) => self.counts(*target, related, scope) && self.holds(*target, related, filter, scope),
            },
            (Kind::Any { discriminator, .. }, Inner::Rows(filter)) => {
                let target = step.scope.as_deref().and_then(|name| self.number(name)).expect("a scope");
                let related = self.any_target(row, field, discriminator, target);
                related.is_some_and(|related| {
                    self.counts(target, related, scope) && self.holds(target, related, filter, scope)
                })
            }
            (Kind::Many { child, .. }, Inner::Rows(filter) | Inner::Some(filter)) => self
                .children(row, field)
                .any(|related| self.counts(*child, related, scope) && self.holds(*child, related, filter, scope)),
            (Kind::Many { child, .. }, Inner::None(filter)) => !self
                .children(row, field)
                .any(|related| self.counts(*child, related, scope) && self.holds(*child, related, filter, scope)),
            (Kind::Many { child, .. }, Inner::Is(operator, operand)) => {
                let mut children = self.children(row, field).filter(|related| self.counts(*child, related, scope));
                match (*operator, operand) {
                    ("_null", Operand::Flag(on)) => children.next().is_none() == *on,
                    ("_nnull", Operand::Flag(on)) => children.next().is_some() == *on,
                    _ => {
                        let key = self.world.collections[*child].key;
                        children.any(|related| self.test(key, cell(related, KEY), inner))
                    }
                }
            }
            _ => self.test(self.world.column(field).expect("a column"), cell(row, &step.name), inner),
        }
    }

    /// The value of a function of a field; a count counts what `scope` lets count.
    pub fn function(&self, collection: usize, row: &Row, field: &Field, function: &str, scope: Scope) -> Cell {
        let _ = collection;
        match &field.kind {
            Kind::Many { .. } if row.is_empty() => Cell::Null,
            Kind::Many { child, .. } => {
                let count = self.children(row, field).filter(|related| self.counts(*child, related, scope)).count();
                Cell::Whole(count as i128)
            }
            _ => functions::part(function, cell(row, &field.name)),
        }
    }

    fn test(&self, kind: Type, cell: &Cell, inner: &Inner) -> bool {
        match inner {
            Inner::Both(parts) => parts.iter().all(|part| self.test(kind, cell, part)),
            Inner::Either(parts) => parts.iter().any(|part| self.test(kind, cell, part)),
            Inner::Is(operator, operand) => self.is(kind, cell, operator, operand),
            Inner::Rows(_) | Inner::Some(_) | Inner::None(_) => panic!("a value has no rows"),
        }
    }

    fn is(&self, kind: Type, cell: &Cell, operator: &str, operand: &Operand) -> bool {
        let null = *cell == Cell::Null;
        let empty = null
            || matches!(cell, Cell::Text(text) if text.is_empty())
            || matches!(cell, Cell::Csv(items) if items.join(",").is_empty());
        match (operator, operand) {
            ("_null", Operand::Flag(on)) => return null == *on,
            ("_nnull", Operand::Flag(on)) => return null != *on,
            ("_empty", Operand::Flag(on)) => return empty == *on,
            ("_nempty", Operand::Flag(on)) => return empty != *on,
            // Rows without a value are found by `_null`.
            ("_eq", Operand::Null) => return false,
            ("_neq", Operand::Null) => return !null,
            _ => {}
        }
        let operands: Vec<Cell> = match operand {
            Operand::One(one) => vec![one.clone()],
            Operand::Several(several) => several.clone(),
            Operand::CurrentUser | Operand::CurrentRole | Operand::CurrentPlace => {
                let value = match operand {
                    Operand::CurrentUser => &self.caller.user,
                    Operand::CurrentRole => &self.caller.role,
                    _ => &self.caller.place,
                };
                match value {
                    Some(value) => vec![Cell::Text(value.clone())],
                    // Nobody is nobody's owner; for `_neq` nobody is null, and all others are not.
                    None => return operator == "_neq" && !null,
                }
            }
            Operand::Now(_) => vec![Cell::Text(values::NOW.to_owned())],
            Operand::Null | Operand::Flag(_) => panic!("{operator} takes no {operand:?}"),
        };
        // What is not known is not true, negated or not.
        if null {
            return false;
        }
        let same = |other: &Cell| order::compare(cell, other).is_some_and(std::cmp::Ordering::is_eq);
        let first = operands.first().expect("an operand");
        let compared = order::compare(cell, first);
        match operator {
            "_eq" => same(first),
            "_neq" => !same(first),
            "_in" => operands.iter().any(same),
            "_nin" => !operands.iter().any(same),
            "_lt" => compared.is_some_and(std::cmp::Ordering::is_lt),
            "_lte" => compared.is_some_and(std::cmp::Ordering::is_le),
            "_gt" => compared.is_some_and(std::cmp::Ordering::is_gt),
            "_gte" => compared.is_some_and(std::cmp::Ordering::is_ge),
            "_between" | "_nbetween" => {
                let low = compared.is_some_and(std::cmp::Ordering::is_ge);
                let high = order::compare(cell, &operands[1]).is_some_and(std::cmp::Ordering::is_le);
                (low && high) == (operator == "_between")
            }
            _ => self.text_test(kind, cell, operator, first),
        }
    }

    fn text_test(&self, kind: Type, cell: &Cell, operator: &str, operand: &Cell) -> bool {
        let _ = kind;
        let (mut text, mut needle) = (order::text(cell), order::text(operand));
        let name = operator.trim_start_matches('_');
        let (negated, name) = match name {
            "neq" | "ncontains" | "nicontains" | "nieq" => (true, &name[1..]),
            _ if name.starts_with("nstarts")
                || name.starts_with("nistarts")
                || name.starts_with("nends")
                || name.starts_with("niends") =>
            {
                (true, &name[1..])
            }
            _ => (false, name),
        };
        let name = match name {
            "icontains" | "ieq" | "istarts_with" | "iends_with" => {
                (text, needle) = (self.fold(&text), self.fold(&needle));
                &name[1..]
            }
            _ => name,
        };
        let found = match name {
            "contains" => text.contains(&needle),
            "starts_with" => text.starts_with(&needle),
            "ends_with" => text.ends_with(&needle),
            "eq" => text == needle,
            _ => panic!("{operator}?"),
        };
        found != negated
    }

    /// Without the difference of case: of all letters where the database knows them, else of ASCII.
    pub fn fold(&self, text: &str) -> String {
        if self.engine == Engine::Sqlite { text.to_ascii_lowercase() } else { text.to_lowercase() }
    }

    pub fn number(&self, name: &str) -> Option<usize> {
        self.world.collections.iter().position(|collection| collection.name == name)
    }

    /// The row a many-to-one field points to.
    pub fn target(&self, row: &Row, field: &Field, target: usize) -> Option<&Row> {
        let key = cell(row, &field.name);
        self.world.collections[target].rows.iter().find(|related| *key != Cell::Null && related[KEY] == *key)
    }

    /// The row of one collection that a many-to-any field points to.
    pub fn any_target(&self, row: &Row, field: &Field, discriminator: &str, target: usize) -> Option<&Row> {
        let collection = &self.world.collections[target];
        if *cell(row, discriminator) != Cell::Text(collection.name.clone()) {
            return None;
        }
        let Cell::Text(key) = cell(row, &field.name) else { return None };
        collection.rows.iter().find(|related| values::plain_text(&related[KEY]) == *key)
    }

    /// The rows that point to this one.
    pub fn children<'r>(&'r self, row: &'r Row, field: &'r Field) -> impl Iterator<Item = &'r Row> {
        let Kind::Many { child, key, .. } = &field.kind else { panic!("{} is no list", field.name) };
        let own = cell(row, KEY);
        self.world.collections[*child].rows.iter().filter(move |related| *own != Cell::Null && related[key] == *own)
    }
}

/// A value of a row; null where there is no row.
pub fn cell<'r>(row: &'r Row, field: &str) -> &'r Cell {
    row.get(field).unwrap_or(&Cell::Null)
}
