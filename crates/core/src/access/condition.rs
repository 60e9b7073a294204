//! Filters → conditions: names looked up, operands typed, rights checked. A client's filter may
//! name only what its owner may read; related rows count only when they are visible. A stored
//! rule may name everything.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Action, Grant,
    operators::{self, Subject},
    resolved::{Condition, FieldRef, Hop, Scalar, Test},
    resolver::Resolver,
    variables::Resolved,
};
use crate::{
    error::{Error, Result},
    payload::typed::Typed,
    query::{
        ast::{Filter, Function, Operator, PathStep},
        follow::{self, Follow},
        functions::shorten,
    },
    schema::{Collection, Field, FieldType, Relation, Side, Special},
};

/// Whose filter it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    /// The caller: rights are checked, `$CURRENT_USER.<path>` is null.
    Caller,
    /// The operator, in a permission rule.
    Rule,
}

impl Resolver<'_> {
    /// Resolves a filter on rows of a collection.
    pub(super) fn filter(&self, collection: &Arc<Collection>, filter: &Filter, author: Author) -> Result<Condition> {
        match filter {
            Filter::All(branches) => {
                let branches: Vec<Condition> =
                    branches.iter().map(|branch| self.filter(collection, branch, author)).collect::<Result<_>>()?;
                Ok(Condition::all(branches))
            }
            Filter::Any(branches) => Ok(Condition::any(
                branches.iter().map(|branch| self.filter(collection, branch, author)).collect::<Result<_>>()?,
            )),
            Filter::Field { step, inner } => self.field_filter(collection, step, inner, author),
            Filter::Nothing => Ok(Condition::Never),
            Filter::Some(_) | Filter::None(_) | Filter::Is(..) | Filter::UnknownOperator(_) => {
                Err(Error::invalid_query("An operator stands where a field is expected."))
            }
        }
    }

    fn field_filter(
        &self,
        collection: &Arc<Collection>,
        step: &PathStep,
        inner: &Filter,
        author: Author,
    ) -> Result<Condition> {
        if follow::is_follow(&step.name) {
            let hop = self.against(collection, &follow::parse(&step.name)?, author)?;
            return self.list_filter(&hop, inner, author);
        }
        let field = self.named(collection, &step.name, author)?;
        if let Some(function) = step.function {
            let scalar = self.function(&field, function, author)?;
            return self.value_filter(&scalar, Subject::Number, None, inner, author);
        }
        if collection.link(&field.field().name).is_some() {
            return self.link_filter(collection, &field, step.scope.as_deref(), inner, author);
        }
        if field.field().column.is_none() {
            return Err(Error::invalid_query(format!("\"{}\" can't be filtered.", field.field().name)));
        }
        let subject = Subject::of(field.field());
        self.value_filter(&Scalar::Column(field.clone()), subject, Some(&field), inner, author)
    }

    /// A field by name, readable when a caller names it.
    pub(super) fn named(&self, collection: &Arc<Collection>, name: &str, author: Author) -> Result<FieldRef> {
        if author == Author::Caller {
            self.check_field(collection, name)?;
        }
        FieldRef::new(collection, name).ok_or_else(|| {
            Error::invalid_query(format!("\"{}\" is not a field of \"{}\".", shorten(name), collection.name))
        })
    }

    /// A function of a field, when it has one.
    pub(super) fn function(&self, field: &FieldRef, function: Function, author: Author) -> Result<Scalar> {
        let refuse = || {
            Error::invalid_query(format!("\"{}\" is not a function of \"{}\".", function.name(), field.field().name))
        };
        let collection = field.collection();
        if author == Author::Caller && secret(field.field()) {
            // A part of a secret tells a part of it.
            return Err(refuse());
        }
        if function == Function::Count {
            if let Some(link) = collection.link(&field.field().name)
                && link.side == Side::OneToMany
            {
                let hop = self.hop(collection, field, None)?;
                let visible = if author == Author::Caller {
                    self.take_hop()?;
                    self.visible_or_refuse(hop.target())?
                } else {
                    Condition::Always
                };
                return Ok(Scalar::CountRelated { hop, visible: Box::new(visible) });
            }
            return if field.field().kind == FieldType::Json && field.field().column.is_some() {
                Ok(Scalar::Part(function, field.clone()))
            } else {
                Err(refuse())
            };
        }
        let date =
            matches!(function, Function::Year | Function::Month | Function::Week | Function::Day | Function::Weekday);
        let allowed = match field.field().kind {
            FieldType::DateTime | FieldType::Timestamp => true,
            FieldType::Date => date,
            FieldType::Time => !date,
            _ => false,
        };
        if allowed && field.field().column.is_some() {
            Ok(Scalar::Part(function, field.clone()))
        } else {
            Err(refuse())
        }
    }

    /// The way a relational field leads.
    pub(super) fn hop(&self, collection: &Arc<Collection>, field: &FieldRef, scope: Option<&str>) -> Result<Hop> {
        let name = &field.field().name;
        let broken = || Error::invalid_query(format!("\"{name}\" leads nowhere."));
        let link = collection.link(name).ok_or_else(broken)?;
        let relation = &link.relation;
        match link.side {
            Side::ManyToOne => {
                let target = relation
                    .one_collection
                    .as_deref()
                    .and_then(|one| self.schema.collection(one))
                    .ok_or_else(broken)?;
                Ok(Hop::One { field: field.clone(), target: Arc::clone(target) })
            }
            Side::OneToMany => {
                let child = self.schema.collection(&relation.many_collection).ok_or_else(broken)?;
                let child_field = FieldRef::new(child, &relation.many_field).ok_or_else(broken)?;
                let key = FieldRef::new(collection, &collection.primary).ok_or_else(broken)?;
                Ok(Hop::Many { key, child_field })
            }
            Side::ManyToAny => {
                let scope = scope.ok_or_else(|| {
                    Error::invalid_query(format!("\"{name}\" needs a collection: \"{name}:collection\"."))
                })?;
                if !relation.one_allowed_collections.iter().any(|allowed| &**allowed == scope) {
                    if !self.policy.is_unrestricted() {
                        // As for a collection that may not be read: what there is, is not told.
                        return Err(Error::forbidden());
                    }
                    return Err(Error::invalid_query(format!(
                        "\"{}\" is no collection of \"{name}\".",
                        shorten(scope)
                    )));
                }
                let target = self.schema.collection(scope).ok_or_else(broken)?;
                let discriminator = relation
                    .one_collection_field
                    .as_deref()
                    .and_then(|discriminator| FieldRef::new(collection, discriminator))
                    .ok_or_else(broken)?;
                Ok(Hop::Any { field: field.clone(), discriminator, target: Arc::clone(target) })
            }
        }
    }

    /// A filter on a relational field. Conditions on the related rows that stand together must hold
    /// for the same row; operators directly on the field test its key.
    fn link_filter(
        &self,
        collection: &Arc<Collection>,
        field: &FieldRef,
        scope: Option<&str>,
        inner: &Filter,
        author: Author,
    ) -> Result<Condition> {
        if self.is_to_many(collection, field) {
            return self.list_filter(&self.hop(collection, field, scope)?, inner, author);
        }
        match inner {
            Filter::All(_) => {
                let mut branches = Vec::new();
                flatten(inner, &mut branches);
                let (on_rows, on_field): (Vec<&Filter>, Vec<&Filter>) =
                    branches.into_iter().partition(|branch| leads_on(branch));
                let mut conditions = Vec::with_capacity(on_field.len() + 1);
                if !on_rows.is_empty() {
                    let rows = Filter::All(on_rows.into_iter().cloned().collect());
                    conditions.push(self.related(collection, field, scope, &rows, author)?);
                }
                for branch in on_field {
                    conditions.push(self.link_filter(collection, field, scope, branch, author)?);
                }
                Ok(Condition::all(conditions))
            }
            Filter::Any(branches) => Ok(Condition::any(
                branches
                    .iter()
                    .map(|branch| self.link_filter(collection, field, scope, branch, author))
                    .collect::<Result<_>>()?,
            )),
            Filter::Field { .. } => self.related(collection, field, scope, inner, author),
            Filter::Some(_) | Filter::None(_) => {
                Err(Error::invalid_query(format!("\"{}\" is no list of items.", field.field().name)))
            }
            Filter::Nothing => Ok(Condition::Never),
            Filter::Is(..) | Filter::UnknownOperator(_) => {
                let subject = Subject::of(field.field());
                self.value_filter(&Scalar::Column(field.clone()), subject, Some(field), inner, author)
            }
        }
    }

    fn is_to_many(&self, collection: &Collection, field: &FieldRef) -> bool {
        collection.link(&field.field().name).is_some_and(|link| link.side == Side::OneToMany)
    }

    fn related(
        &self,
        collection: &Arc<Collection>,
        field: &FieldRef,
        scope: Option<&str>,
        rows: &Filter,
        author: Author,
    ) -> Result<Condition> {
        let hop = self.hop(collection, field, scope)?;
        if author == Author::Caller
            && let Hop::Any { discriminator, .. } = &hop
        {
            self.check_field(collection, &discriminator.field().name)?;
        }
        self.rows_at(&hop, rows, author, true)
    }

    /// Some (or no) visible row at the end of a way matches.
    fn rows_at(&self, hop: &Hop, rows: &Filter, author: Author, exists: bool) -> Result<Condition> {
        let visible = if author == Author::Caller {
            self.take_hop()?;
            self.visible_or_refuse(hop.target())?
        } else {
            Condition::Always
        };
        let wanted = self.filter(hop.target(), rows, author)?;
        let without_row = match hop {
            Hop::One { field, .. } if exists && holds_without_row(&wanted) => Some(field),
            _ => None,
        };
        let hop = hop.clone();
        let related = match visible.and(wanted) {
            Condition::Never if exists => Condition::Never,
            Condition::Never => Condition::Always,
            condition => Condition::Related { hop, condition: Box::new(condition), exists },
        };
        if let Some(field) = without_row.cloned() {
            // Fields of a row that is not there are null, as in an outer join. A hidden row is there.
            let unset = Condition::Test(Scalar::Column(field), Test::Null(true));
            return Ok(Condition::any(vec![related, unset]));
        }
        Ok(related)
    }

    /// The way of a `$FOLLOW` step.
    fn against(&self, collection: &Arc<Collection>, follow: &Follow<'_>, author: Author) -> Result<Hop> {
        let nowhere = || Error::invalid_query("\"$FOLLOW\" names no relation to this collection.");
        let unknown = || if self.policy.is_unrestricted() { nowhere() } else { Error::forbidden() };
        let child = self.schema.collection(follow.collection).ok_or_else(unknown)?;
        if author == Author::Caller {
            for name in std::iter::once(follow.field).chain(follow.discriminator) {
                self.check_field(child, name)?;
            }
        }
        let is_this = |relation: &&Arc<Relation>| {
            &*relation.many_collection == follow.collection
                && &*relation.many_field == follow.field
                && match follow.discriminator {
                    None => relation.one_collection.as_ref() == Some(&collection.name),
                    Some(name) => {
                        relation.one_collection.is_none()
                            && relation.one_collection_field.as_deref() == Some(name)
                            && relation.one_allowed_collections.contains(&collection.name)
                    }
                }
        };
        self.schema.relations.iter().find(is_this).ok_or_else(nowhere)?;
        let child_field = FieldRef::new(child, follow.field).ok_or_else(nowhere)?;
        let key = FieldRef::new(collection, &collection.primary).ok_or_else(nowhere)?;
        match follow.discriminator {
            None => Ok(Hop::Many { key, child_field }),
            Some(name) => {
                let discriminator = FieldRef::new(child, name).ok_or_else(nowhere)?;
                Ok(Hop::ManyAny { key, child_field, discriminator })
            }
        }
    }

    /// A filter on the rows of a list: as on a to-many field.
    fn list_filter(&self, hop: &Hop, inner: &Filter, author: Author) -> Result<Condition> {
        let each = |branches: &[Filter]| -> Result<Vec<Condition>> {
            branches.iter().map(|branch| self.list_filter(hop, branch, author)).collect()
        };
        match inner {
            Filter::All(branches) => {
                let (on_rows, on_keys): (Vec<Filter>, Vec<Filter>) = branches.iter().cloned().partition(leads_on);
                let mut conditions = each(&on_keys)?;
                if !on_rows.is_empty() {
                    conditions.push(self.rows_at(hop, &Filter::All(on_rows), author, true)?);
                }
                Ok(Condition::all(conditions))
            }
            Filter::Any(branches) => Ok(Condition::any(each(branches)?)),
            Filter::Field { .. } => self.rows_at(hop, inner, author, true),
            Filter::Some(rows) => self.rows_at(hop, rows, author, true),
            Filter::None(rows) => self.rows_at(hop, rows, author, false),
            Filter::Nothing => Ok(Condition::Never),
            Filter::Is(..) | Filter::UnknownOperator(_) => self.key_filter(hop, inner, author),
        }
    }

    /// Operators on a to-many alias test the related keys; "null" means "has none".
    fn key_filter(&self, hop: &Hop, inner: &Filter, author: Author) -> Result<Condition> {
        let hop = hop.clone();
        let target = Arc::clone(hop.target());
        if author == Author::Caller {
            self.take_hop()?;
        }
        let visible = if author == Author::Caller { self.visible_or_refuse(&target)? } else { Condition::Always };
        let has_none = match inner {
            Filter::Is(Operator::Null | Operator::Empty, value) => Some(*value != Value::Bool(false)),
            Filter::Is(Operator::Nnull | Operator::Nempty, value) => Some(*value == Value::Bool(false)),
            Filter::Is(Operator::Neq, Value::Null) => Some(false),
            _ => None,
        };
        if let Some(none) = has_none {
            return Ok(Condition::Related { hop, condition: Box::new(visible), exists: !none });
        }
        let primary = self.named(&target, &target.primary, Author::Rule)?;
        let subject = Subject::of(primary.field());
        let test = self.value_filter(&Scalar::Column(primary.clone()), subject, Some(&primary), inner, author)?;
        Ok(Condition::Related { hop, condition: Box::new(visible.and(test)), exists: true })
    }

    /// Operators on one value.
    fn value_filter(
        &self,
        scalar: &Scalar,
        subject: Subject,
        field: Option<&FieldRef>,
        inner: &Filter,
        author: Author,
    ) -> Result<Condition> {
        match inner {
            Filter::All(branches) => {
                let branches: Vec<Condition> = branches
                    .iter()
                    .map(|branch| self.value_filter(scalar, subject, field, branch, author))
                    .collect::<Result<_>>()?;
                Ok(Condition::all(branches))
            }
            Filter::Any(branches) => Ok(Condition::any(
                branches
                    .iter()
                    .map(|branch| self.value_filter(scalar, subject, field, branch, author))
                    .collect::<Result<_>>()?,
            )),
            Filter::Is(operator, operand) => {
                if !operators::allowed(*operator, subject) {
                    return Err(operators::refused(operator.name(), subject));
                }
                self.operator(scalar, field, *operator, operand, author)
            }
            Filter::UnknownOperator(name) => Err(operators::refused(name, subject)),
            Filter::Nothing => Ok(Condition::Never),
            Filter::Some(_) | Filter::None(_) => {
                Err(Error::invalid_query("\"_some\" and \"_none\" need a list of items."))
            }
            Filter::Field { step, .. } => Err(Error::invalid_query(format!(
                "\"{}\" stands below a field that leads nowhere.",
                shorten(&step.name)
            ))),
        }
    }

    fn operator(
        &self,
        scalar: &Scalar,
        field: Option<&FieldRef>,
        operator: Operator,
        operand: &Value,
        author: Author,
    ) -> Result<Condition> {
        let name = field.map_or("The function", |field| &field.field().name);
        let mut values = Vec::new();
        for value in operators::operands(operand) {
            self.variable(value, author, &mut values)?;
        }
        if author == Author::Caller {
            self.take_operands(values.len())?;
        }
        let typed = values
            .iter()
            .map(|value| match (value, field) {
                (Value::Null, _) => Ok(Typed::Null),
                (value, Some(field)) => operators::typed(field.field(), operator, value),
                (value, None) => operators::whole_number(name, value),
            })
            .collect::<Result<Vec<_>>>()?;
        // No test: nothing matches. So a rule that compares with a variable of nobody (`_eq`) holds
        // for no row: an unset owner is not "me".
        Ok(operators::test(operator, operand, typed)?
            .map_or(Condition::Never, |test| Condition::Test(scalar.clone(), test)))
    }

    fn variable(&self, value: &Value, author: Author, out: &mut Vec<Value>) -> Result<()> {
        let Value::String(text) = value else {
            out.push(value.clone());
            return Ok(());
        };
        match self.variables.resolve(text, author == Author::Rule) {
            Resolved::Literal => out.push(value.clone()),
            Resolved::Value(Value::Array(many)) => out.extend(many),
            Resolved::Value(one) => out.push(one),
            Resolved::Malformed => {
                return Err(Error::invalid_query(format!("\"{}\" can't be understood.", shorten(text))));
            }
        }
        Ok(())
    }

    /// The caller's row filter on a collection that a filter or sort goes through.
    pub(super) fn visible_or_refuse(&self, collection: &Arc<Collection>) -> Result<Condition> {
        match self.policy.grant(&collection.name, Action::Read) {
            Grant::Denied => Err(Error::forbidden()),
            Grant::Unrestricted => Ok(Condition::Always),
            Grant::Ruled(rule) => Ok(self.rule_rows(collection, &rule)),
        }
    }
}

/// Whether a field's value may not be told, whoever asks: concealed, or a hash.
pub(super) fn secret(field: &Field) -> bool {
    field.special.has(Special::Conceal) || field.special.has(Special::Hash)
}

/// Whether a condition on a related row holds when there is no such row.
fn holds_without_row(condition: &Condition) -> bool {
    match condition {
        Condition::Always => true,
        Condition::Never => false,
        Condition::All(branches) => branches.iter().all(holds_without_row),
        Condition::Any(branches) => branches.iter().any(holds_without_row),
        Condition::Test(_, test) => matches!(test, Test::Null(true) | Test::Empty(true)),
        Condition::Related { exists, .. } => !exists,
    }
}

/// The conditions that stand together in a filter, however deep; those that always hold left out.
fn flatten<'f>(filter: &'f Filter, out: &mut Vec<&'f Filter>) {
    match filter {
        Filter::All(branches) => branches.iter().for_each(|branch| flatten(branch, out)),
        Filter::Any(_) if always_holds(filter) => {}
        other => out.push(other),
    }
}

/// Whether a filter asks nothing: an `_or` with an empty object, or with nothing, always holds.
fn always_holds(filter: &Filter) -> bool {
    match filter {
        Filter::All(branches) => branches.iter().all(always_holds),
        Filter::Any(branches) => branches.is_empty() || branches.iter().any(always_holds),
        _ => false,
    }
}

/// Whether a filter below a relational field speaks of the related rows, not of the field itself.
fn leads_on(filter: &Filter) -> bool {
    match filter {
        Filter::Field { .. } => true,
        Filter::All(branches) => {
            !always_holds(filter) && branches.iter().all(|branch| leads_on(branch) || always_holds(branch))
        }
        Filter::Any(branches) => !always_holds(filter) && branches.iter().all(leads_on),
        Filter::Some(_) | Filter::None(_) | Filter::Is(..) | Filter::UnknownOperator(_) | Filter::Nothing => false,
    }
}
