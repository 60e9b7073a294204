//! What a caller may name: every field, and every collection that a path leads through.

use super::{
    ask::{Filter, Inner, SortKey, Step},
    holds::{Forbidden, View},
    world::Kind,
};

impl View<'_> {
    /// Refuses a filter that names what may not be read.
    pub fn may_filter(&self, collection: usize, filter: &Filter) -> Result<(), Forbidden> {
        match filter {
            Filter::All { branches, .. } | Filter::Any(branches) => {
                branches.iter().try_for_each(|branch| self.may_filter(collection, branch))
            }
            Filter::Of(step, inner) => {
                self.may_name(collection, &step.name)?;
                self.may_say(collection, step, inner)
            }
        }
    }

    fn may_say(&self, collection: usize, step: &Step, inner: &Inner) -> Result<(), Forbidden> {
        let field = self.world.collections[collection].field(&step.name).ok_or(Forbidden)?;
        match (&field.kind, inner) {
            (_, Inner::Rows(filter)) if filter.is_empty() => Ok(()),
            (_, Inner::Both(parts) | Inner::Either(parts)) => {
                parts.iter().try_for_each(|part| self.may_say(collection, step, part))
            }
            (
                Kind::One { target: far } | Kind::Many { child: far, .. },
                Inner::Rows(filter) | Inner::Some(filter) | Inner::None(filter),
            ) => {
                self.may_follow(*far)?;
                self.may_filter(*far, filter)
            }
            (Kind::Many { child, .. }, Inner::Is(..)) => self.may_follow(*child),
            (Kind::Any { discriminator, .. }, Inner::Rows(filter)) => {
                self.may_name(collection, discriminator)?;
                let target = step.scope.as_deref().and_then(|name| self.number(name)).ok_or(Forbidden)?;
                self.may_follow(target)?;
                self.may_filter(target, filter)
            }
            _ => Ok(()),
        }
    }

    /// Refuses a sort key that names what may not be read.
    pub fn may_sort(&self, collection: usize, key: &SortKey) -> Result<(), Forbidden> {
        self.may_path(collection, &key.path)
    }

    fn may_path(&self, collection: usize, path: &[Step]) -> Result<(), Forbidden> {
        let Some((step, rest)) = path.split_first() else { return Ok(()) };
        self.may_name(collection, &step.name)?;
        let field = self.world.collections[collection].field(&step.name).ok_or(Forbidden)?;
        match &field.kind {
            Kind::Plain(_) => Ok(()),
            // Also the count of a list tells of its rows.
            Kind::Many { child, .. } => {
                self.may_follow(*child)?;
                self.may_path(*child, rest)
            }
            _ if rest.is_empty() => Ok(()),
            Kind::One { target } => {
                self.may_follow(*target)?;
                self.may_path(*target, rest)
            }
            Kind::Any { discriminator, .. } => {
                self.may_name(collection, discriminator)?;
                let target = step.scope.as_deref().and_then(|name| self.number(name)).ok_or(Forbidden)?;
                self.may_follow(target)?;
                self.may_path(target, rest)
            }
        }
    }

    pub fn may_name(&self, collection: usize, field: &str) -> Result<(), Forbidden> {
        if self.caller.names(collection, field) { Ok(()) } else { Err(Forbidden) }
    }

    pub fn may_follow(&self, collection: usize) -> Result<(), Forbidden> {
        if self.caller.can_read(collection) { Ok(()) } else { Err(Forbidden) }
    }
}
