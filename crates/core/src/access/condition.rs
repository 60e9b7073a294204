//! Filters → conditions: names looked up, operands typed, rights checked. A client's filter may
//! name only what its owner may read. A stored rule may name everything. Not here: related rows
//! (`related`).

use std::sync::Arc;

use serde_json::Value;

use super::{
    operators::{self, Subject},
    resolved::{Condition, FieldRef, Scalar},
    resolver::Resolver,
    variables::Resolved,
};
use crate::{
    error::{Error, Result},
    payload::typed::Typed,
    query::{
        ast::{Filter, Function, Operator, PathStep},
        follow,
        functions::shorten,
    },
    schema::{Collection, Field, FieldType, Side, Special},
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

    /// Operators on one value.
    pub(super) fn value_filter(
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
        if text.contains('\0') {
            return Err(Error::invalid_query("A value of the filter contains a NUL character."));
        }
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
}

/// Whether a field's value may not be told, whoever asks: concealed, or a hash.
pub(super) fn secret(field: &Field) -> bool {
    field.special.has(Special::Conceal) || field.special.has(Special::Hash)
}
