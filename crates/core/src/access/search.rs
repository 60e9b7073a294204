//! `search`: one term against the fields of the collection itself that the caller may read.

use std::sync::Arc;

use super::{
    condition::secret,
    operators,
    resolved::{Comparison, Condition, FieldRef, Scalar, Test, TextPlace},
    resolver::Resolver,
};
use crate::{
    error::{Error, Result},
    query::ast::Operator,
    schema::{Collection, FieldType},
};

impl Resolver<'_> {
    /// `search`: any of the readable, unconcealed fields matches. No such field: no rows.
    pub(super) fn search(&self, collection: &Arc<Collection>, term: &str) -> Result<Condition> {
        if term.contains('\0') {
            return Err(Error::invalid_query("\"search\" contains a NUL character."));
        }
        let view = self.view(collection)?;
        let value = serde_json::Value::String(term.to_owned());
        let mut tests = Vec::new();
        for (name, field) in &collection.fields {
            if !view.shows(name) || field.column.is_none() || secret(field) {
                continue;
            }
            let Some(reference) = FieldRef::new(collection, name) else { continue };
            let test = match field.kind {
                FieldType::String | FieldType::Text => Test::Text {
                    place: TextPlace::Anywhere,
                    needle: term.to_owned(),
                    ignore_case: true,
                    negated: false,
                },
                FieldType::Integer
                | FieldType::BigInteger
                | FieldType::Float
                | FieldType::Decimal
                | FieldType::Uuid => match operators::typed(field, Operator::Eq, &value) {
                    Ok(typed) => Test::Compare(Comparison::Equal, typed),
                    Err(_) => continue,
                },
                _ => continue,
            };
            tests.push(Condition::Test(Scalar::Column(reference), test));
        }
        self.take_operands(tests.len())?;
        Ok(if tests.is_empty() { Condition::Never } else { Condition::Any(tests) })
    }
}
