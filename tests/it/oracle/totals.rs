//! Aggregates and groups.

use serde_json::{Map, Value, json};

use super::{
    ask::{Ask, Step},
    evaluate::page,
    functions,
    holds::{Forbidden, View, cell},
    order, values,
    world::{Cell, Row, Type},
};

/// A number that may differ in its last digits: `{ABOUT: number}`, and as text `{ABOUT_TEXT: number}`.
pub const ABOUT: &str = "$about";
pub const ABOUT_TEXT: &str = "$about text";

impl View<'_> {
    pub fn groups(&self, collection: usize, ask: &Ask) -> Result<Value, Forbidden> {
        for step in &ask.group {
            self.may_name(collection, &step.name)?;
        }
        for (_, field) in ask.aggregate.iter().filter(|(_, field)| field != "*") {
            self.may_name(collection, field)?;
        }
        if let Some(filter) = &ask.filter {
            self.may_filter(collection, filter)?;
        }
        let rows = self.world.collections[collection].rows.iter();
        let rows: Vec<&Row> =
            rows.filter(|row| self.visible(collection, row) && self.wanted(collection, row, ask)).collect();
        if ask.group.is_empty() {
            return Ok(json!([self.totals(collection, &rows, ask)]));
        }
        let mut groups: Vec<(Vec<Cell>, Vec<&Row>)> = Vec::new();
        for row in rows {
            let key: Vec<Cell> = ask.group.iter().map(|step| group_value(row, step)).collect();
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, members)) => members.push(row),
                None => groups.push((key, vec![row])),
            }
        }
        groups.sort_by(|left, right| {
            let asked = ask.sort.iter().map(|key| {
                let value = |group: &(Vec<Cell>, Vec<&Row>)| self.sort_of(collection, ask, &key.path, group);
                order::rank(&value(left), &value(right), key.descending)
            });
            let keys = left.0.iter().zip(&right.0).map(|(left, right)| order::rank(left, right, false));
            asked.chain(keys).fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        });
        let elements = groups.iter().map(|(key, members)| {
            let mut element = Map::new();
            for (step, value) in ask.group.iter().zip(key) {
                let (name, kind) = match step.function {
                    Some(function) => (format!("{}_{function}", step.name), Type::Integer),
                    None => (step.name.clone(), self.type_of(collection, &step.name)),
                };
                element.insert(name, values::rendered(kind, value));
            }
            if let Value::Object(totals) = self.totals(collection, members, ask) {
                element.extend(totals);
            }
            Value::Object(element)
        });
        Ok(page(ask, elements.collect()).into())
    }

    fn type_of(&self, collection: usize, field: &str) -> Type {
        self.world.column(self.world.collections[collection].field(field).expect("a field")).expect("a column")
    }

    /// What a group sorts by: one of its keys or aggregates.
    fn sort_of(&self, collection: usize, ask: &Ask, path: &[Step], (key, members): &(Vec<Cell>, Vec<&Row>)) -> Cell {
        if let Some(position) = ask.group.iter().position(|step| [step.clone()] == *path) {
            return key[position].clone();
        }
        match path {
            [function] => total(&function.name, Type::Integer, &column(members, "*")),
            [function, field] => {
                total(&function.name, self.type_of(collection, &field.name), &column(members, &field.name))
            }
            _ => panic!("groups don't sort by {path:?}"),
        }
    }

    fn totals(&self, collection: usize, rows: &[&Row], ask: &Ask) -> Value {
        let mut out = Map::new();
        for (function, field) in &ask.aggregate {
            if field == "*" {
                out.insert((*function).to_owned(), json!(rows.len()));
                continue;
            }
            let kind = self.type_of(collection, field);
            let value = rendered(function, kind, &total(function, kind, &column(rows, field)));
            let inner = out.entry((*function).to_owned()).or_insert_with(|| json!({}));
            inner[field] = value;
        }
        Value::Object(out)
    }
}

fn group_value(row: &Row, step: &Step) -> Cell {
    match step.function {
        Some(function) => functions::part(function, cell(row, &step.name)),
        None => cell(row, &step.name).clone(),
    }
}

/// The values that are there; one for each row for `*`.
fn column(rows: &[&Row], field: &str) -> Vec<Cell> {
    if field == "*" {
        return vec![Cell::Bool(true); rows.len()];
    }
    rows.iter().map(|row| cell(row, field).clone()).filter(|cell| *cell != Cell::Null).collect()
}

/// An aggregate as a value; averages as floats, sums in the unit of their column.
fn total(function: &str, kind: Type, values: &[Cell]) -> Cell {
    let mut unlike: Vec<Cell> = Vec::new();
    for value in values {
        if !unlike.contains(value) {
            unlike.push(value.clone());
        }
    }
    let (values, function) = match function.strip_suffix("Distinct") {
        Some(function) => (unlike.as_slice(), function),
        None => (values, function),
    };
    if function == "count" {
        return Cell::Whole(values.len() as i128);
    }
    let extreme = |wanted: fn(std::cmp::Ordering) -> bool| {
        values
            .iter()
            .cloned()
            .reduce(|best, value| if order::compare(&value, &best).is_some_and(wanted) { value } else { best })
            .unwrap_or(Cell::Null)
    };
    match function {
        "min" => extreme(std::cmp::Ordering::is_lt),
        "max" => extreme(std::cmp::Ordering::is_gt),
        _ if values.is_empty() => Cell::Null,
        "sum" if kind == Type::Float => Cell::Float(values.iter().map(number).sum()),
        "sum" if kind == Type::Decimal => Cell::Decimal(values.iter().map(whole).sum()),
        "sum" => Cell::Whole(values.iter().map(whole).sum()),
        "avg" if kind == Type::Float => Cell::Float(values.iter().map(number).sum::<f64>() / values.len() as f64),
        "avg" => {
            let unit = if kind == Type::Decimal { 1000.0 } else { 1.0 };
            Cell::Float(values.iter().map(whole).sum::<i128>() as f64 / unit / values.len() as f64)
        }
        _ => panic!("{function}?"),
    }
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Float(number) => *number,
        other => panic!("{other:?} is no number"),
    }
}

fn whole(cell: &Cell) -> i128 {
    match cell {
        Cell::Whole(number) | Cell::Decimal(number) => *number,
        other => panic!("{other:?} is no number"),
    }
}

fn rendered(function: &str, kind: Type, value: &Cell) -> Value {
    let exact = matches!(kind, Type::Decimal | Type::BigInteger);
    match (function, value) {
        (_, Cell::Null) => Value::Null,
        ("count" | "countDistinct", _) => values::rendered(Type::Integer, value),
        ("avg" | "avgDistinct", Cell::Float(number)) => json!({ if exact { ABOUT_TEXT } else { ABOUT }: number }),
        // Beyond 64 bits as well.
        ("sum" | "sumDistinct", Cell::Whole(number)) if exact => json!(number.to_string()),
        _ => values::rendered(kind, value),
    }
}
