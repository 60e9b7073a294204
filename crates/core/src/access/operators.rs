//! Which operators a field type has, and what they test.

use serde_json::Value;

use super::{
    condition::secret,
    resolved::{Comparison, Test, TextPlace},
};
use crate::{
    error::{Code, Error, Result},
    payload::typed::{self, Typed},
    query::{ast::Operator, functions::shorten},
    schema::{Field, FieldType},
};

/// Groups of field types with the same operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Text(FieldType),
    /// Results of functions.
    Number,
    Ordered(FieldType),
    Boolean,
    Uuid,
    Json,
    /// Hashes and concealed fields: nothing but whether they are set.
    Secret,
    Geometry,
    Any(FieldType),
}

impl Subject {
    pub(super) fn of(field: &Field) -> Self {
        if secret(field) {
            return Self::Secret;
        }
        match field.kind {
            FieldType::String | FieldType::Text | FieldType::Csv | FieldType::Binary => Self::Text(field.kind),
            FieldType::Integer
            | FieldType::BigInteger
            | FieldType::Decimal
            | FieldType::Float
            | FieldType::Date
            | FieldType::DateTime
            | FieldType::Time => Self::Ordered(field.kind),
            FieldType::Boolean => Self::Boolean,
            FieldType::Uuid => Self::Uuid,
            FieldType::Json => Self::Json,
            FieldType::Hash => Self::Secret,
            FieldType::Geometry => Self::Geometry,
            FieldType::Timestamp | FieldType::Alias | FieldType::Unknown => Self::Any(field.kind),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text(kind) | Self::Ordered(kind) | Self::Any(kind) => kind.name(),
            Self::Number => "integer",
            Self::Boolean => "boolean",
            Self::Uuid => "uuid",
            Self::Json => "json",
            Self::Secret => "hash",
            Self::Geometry => "geometry",
        }
    }
}

/// Whether a type has an operator (http-items §2.2; the case-ignoring family works on texts).
pub(super) fn allowed(operator: Operator, subject: Subject) -> bool {
    use Operator as O;
    let null = matches!(operator, O::Null | O::Nnull);
    let empty = matches!(operator, O::Empty | O::Nempty);
    let equal = matches!(operator, O::Eq | O::Neq);
    let list = matches!(operator, O::In | O::Nin);
    let order = matches!(operator, O::Lt | O::Lte | O::Gt | O::Gte | O::Between | O::Nbetween);
    let contains = matches!(operator, O::Contains | O::Ncontains);
    let spatial = matches!(operator, O::Intersects | O::Nintersects | O::IntersectsBbox | O::NintersectsBbox);
    match subject {
        Subject::Text(_) => !order && !spatial,
        Subject::Number | Subject::Ordered(_) => equal || order || list || null,
        Subject::Boolean => equal || null,
        Subject::Uuid => equal || list || null,
        Subject::Json => null,
        Subject::Secret => null || empty,
        Subject::Geometry => equal || null || spatial,
        Subject::Any(_) => contains || equal || order || list || null || empty,
    }
}

pub(super) fn refused(operator: &str, subject: Subject) -> Error {
    Error::invalid_query(format!(
        "\"{}\" field type does not contain the \"{operator}\" filter operator",
        subject.name()
    ))
}

/// The single values of an operand.
pub(super) fn operands(operand: &Value) -> &[Value] {
    match operand {
        Value::Array(items) => items,
        one => std::slice::from_ref(one),
    }
}

/// Types one operand as its field needs it.
pub(super) fn typed(field: &Field, operator: Operator, value: &Value) -> Result<Typed> {
    use Operator as O;
    match operator {
        O::Null | O::Nnull | O::Empty | O::Nempty => Ok(Typed::Null),
        O::Intersects | O::Nintersects | O::IntersectsBbox | O::NintersectsBbox => {
            Err(Error::invalid_query("Geometry can't be filtered on this server."))
        }
        O::Eq | O::Neq | O::Lt | O::Lte | O::Gt | O::Gte | O::In | O::Nin | O::Between | O::Nbetween => {
            typed::for_comparison(field, value).map_err(|mismatch| {
                Error::with_message(Code::InvalidQuery, format!("\"{}\" takes {}.", field.name, mismatch.expected))
            })
        }
        _ => Ok(Typed::Text(match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })),
    }
}

pub(super) fn whole_number(name: &str, value: &Value) -> Result<Typed> {
    let number = match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.map(Typed::Int).ok_or_else(|| {
        Error::invalid_query(format!(
            "{} is compared with whole numbers, not with \"{}\".",
            name,
            shorten(&value.to_string())
        ))
    })
}

/// What an operator with typed operands tests; `None` matches nothing.
pub(super) fn test(operator: Operator, operand: &Value, mut values: Vec<Typed>) -> Result<Option<Test>> {
    use Operator as O;
    let on = *operand != Value::Bool(false);
    let single = values.first().cloned().unwrap_or(Typed::Null);
    let compare = |comparison| match single.clone() {
        Typed::Null => None,
        value => Some(Test::Compare(comparison, value)),
    };
    let text = |place, ignore_case, negated| match single.clone() {
        Typed::Text(needle) => Some(Test::Text { place, needle, ignore_case, negated }),
        _ => None,
    };
    Ok(match operator {
        O::Null => Some(Test::Null(on)),
        O::Nnull => Some(Test::Null(!on)),
        O::Empty => Some(Test::Empty(on)),
        O::Nempty => Some(Test::Empty(!on)),
        // A list where one value belongs (a variable that stands for several) means any of them.
        O::Eq if values.len() > 1 => Some(Test::In { values, negated: false }),
        O::Neq if values.len() > 1 => Some(Test::In { values, negated: true }),
        // Nothing equals null; rows without a value are found by `_null`.
        O::Eq if single == Typed::Null => None,
        O::Neq if single == Typed::Null => Some(Test::Null(false)),
        O::Eq => compare(Comparison::Equal),
        O::Neq => compare(Comparison::NotEqual),
        O::Lt => compare(Comparison::Less),
        O::Lte => compare(Comparison::LessOrEqual),
        O::Gt => compare(Comparison::Greater),
        O::Gte => compare(Comparison::GreaterOrEqual),
        O::In | O::Nin => Some(Test::In { values, negated: operator == O::Nin }),
        O::Between | O::Nbetween => match (values.pop(), values.pop()) {
            (Some(high), Some(low)) if high != Typed::Null && low != Typed::Null => {
                Some(Test::Between { low, high, negated: operator == O::Nbetween })
            }
            _ => None,
        },
        O::Contains => text(TextPlace::Anywhere, false, false),
        O::Ncontains => text(TextPlace::Anywhere, false, true),
        O::Icontains => text(TextPlace::Anywhere, true, false),
        O::Nicontains => text(TextPlace::Anywhere, true, true),
        O::StartsWith => text(TextPlace::Start, false, false),
        O::NstartsWith => text(TextPlace::Start, false, true),
        O::IstartsWith => text(TextPlace::Start, true, false),
        O::NistartsWith => text(TextPlace::Start, true, true),
        O::EndsWith => text(TextPlace::End, false, false),
        O::NendsWith => text(TextPlace::End, false, true),
        O::IendsWith => text(TextPlace::End, true, false),
        O::NiendsWith => text(TextPlace::End, true, true),
        O::Ieq => text(TextPlace::Whole, true, false),
        O::Nieq => text(TextPlace::Whole, true, true),
        O::Intersects | O::Nintersects | O::IntersectsBbox | O::NintersectsBbox => {
            return Err(Error::invalid_query("Geometry can't be filtered on this server."));
        }
    })
}
