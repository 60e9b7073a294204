//! Filters made up: every operator on every type, functions, logic, and ways through relations.

use super::{
    ask::{Filter, Inner, Operand, Step},
    random::Random,
    values,
    world::{Cell, Collection, Field, Kind, Type, World},
};

/// Whose filter it is: some things only a stored rule or only a request may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Author {
    Rule,
    Request,
}

/// Tells whether a request may name a field: requests that are refused should be few.
pub type MayName<'a> = &'a dyn Fn(usize, &str) -> bool;

/// The row filter of a rule: any fields of any collections.
pub fn rule(world: &World, collection: usize, random: &mut Random) -> Filter {
    Maker { world, author: Author::Rule, may_name: &|_, _| true }.filter(collection, 2, random)
}

/// A filter of a request.
pub fn request(world: &World, collection: usize, may_name: MayName<'_>, random: &mut Random) -> Filter {
    Maker { world, author: Author::Request, may_name }.filter(collection, 3, random)
}

struct Maker<'a> {
    world: &'a World,
    author: Author,
    may_name: MayName<'a>,
}

impl Maker<'_> {
    fn filter(&self, collection: usize, depth: usize, random: &mut Random) -> Filter {
        match random.below(10) {
            0 | 1 if depth > 0 => {
                let branches = (0..random.between(1, 3)).map(|_| self.filter(collection, depth - 1, random)).collect();
                Filter::All { branches, merged: random.chance(50) }
            }
            2 | 3 if depth > 0 => {
                Filter::Any((0..random.between(1, 3)).map(|_| self.filter(collection, depth - 1, random)).collect())
            }
            4 if self.author == Author::Request && random.chance(10) => {
                if random.chance(50) {
                    Filter::All { branches: Vec::new(), merged: random.chance(50) }
                } else {
                    Filter::Any(Vec::new())
                }
            }
            _ => self.field(collection, depth, random),
        }
    }

    fn field(&self, number: usize, depth: usize, random: &mut Random) -> Filter {
        let collection = &self.world.collections[number];
        let nameable: Vec<&Field> =
            collection.fields.iter().filter(|field| (self.may_name)(number, &field.name)).collect();
        let related: Vec<&Field> =
            nameable.iter().filter(|field| !matches!(field.kind, Kind::Plain(_))).copied().collect();
        if nameable.is_empty() {
            return Filter::Of(Step::plain("id"), Box::new(Inner::Is("_nnull", Operand::Flag(true))));
        }
        let field =
            if !related.is_empty() && random.chance(40) { *random.pick(&related) } else { *random.pick(&nameable) };
        let step = Step::plain(&field.name);
        match &field.kind {
            Kind::Plain(kind) => self.plain(collection, field, *kind, random),
            Kind::One { target } => {
                let follow = depth > 0 && (self.may_name)(*target, "");
                let inner = if follow && random.chance(75) {
                    Inner::Rows(self.filter(*target, depth - 1, random))
                } else {
                    self.key_test(*target, random)
                };
                Filter::Of(step, Box::new(inner))
            }
            Kind::Many { child, .. } => {
                if !(self.may_name)(*child, "") {
                    return Filter::Of(Step::plain("id"), Box::new(Inner::Is("_nnull", Operand::Flag(true))));
                }
                let inner = match random.below(10) {
                    0 => {
                        return Filter::Of(
                            Step { function: Some("count"), ..step },
                            Box::new(self.number_test(0, 4, random)),
                        );
                    }
                    1 => Inner::Is(random.word(&["_null", "_nnull"]), Operand::Flag(random.chance(70))),
                    2 => self.key_test(*child, random),
                    _ if depth == 0 => Inner::Is("_nnull", Operand::Flag(true)),
                    3..=5 => Inner::Some(self.filter(*child, depth - 1, random)),
                    6 | 7 => Inner::None(self.filter(*child, depth - 1, random)),
                    _ => Inner::Rows(self.filter(*child, depth - 1, random)),
                };
                Filter::Of(step, Box::new(inner))
            }
            Kind::Any { targets, discriminator } => {
                let target = *random.pick(targets);
                if depth == 0
                    || random.chance(25)
                    || !(self.may_name)(target, "")
                    || !(self.may_name)(number, discriminator)
                {
                    return Filter::Of(
                        step,
                        Box::new(Inner::Is(random.word(&["_null", "_nnull"]), Operand::Flag(true))),
                    );
                }
                let step = Step { scope: Some(self.world.collections[target].name.clone()), ..step };
                Filter::Of(step, Box::new(Inner::Rows(self.filter(target, depth - 1, random))))
            }
        }
    }

    /// Operators on the key of a related row.
    fn key_test(&self, target: usize, random: &mut Random) -> Inner {
        let rows = &self.world.collections[target].rows;
        let key = |random: &mut Random| {
            if rows.is_empty() {
                values::key(self.world.collections[target].key, 0, random)
            } else {
                random.pick(rows)["id"].clone()
            }
        };
        match random.below(5) {
            0 => Inner::Is("_null", Operand::Flag(random.chance(60))),
            1 => Inner::Is("_neq", Operand::One(key(random))),
            2 => Inner::Is("_in", Operand::Several((0..random.between(1, 4)).map(|_| key(random)).collect())),
            3 => Inner::Is("_nin", Operand::Several((0..random.between(1, 4)).map(|_| key(random)).collect())),
            _ => Inner::Is("_eq", Operand::One(key(random))),
        }
    }

    fn number_test(&self, low: i64, high: i64, random: &mut Random) -> Inner {
        let number = |random: &mut Random| Cell::Whole(random.between(low, high).into());
        let operator =
            random.word(&["_eq", "_neq", "_lt", "_lte", "_gt", "_gte", "_in", "_nin", "_between", "_nbetween"]);
        Inner::Is(operator, operand(operator, random, number))
    }

    fn plain(&self, collection: &Collection, field: &Field, kind: Type, random: &mut Random) -> Filter {
        if let Some((function, low, high)) = part(kind, random).filter(|_| random.chance(25)) {
            let step = Step { function: Some(function), ..Step::plain(&field.name) };
            return Filter::Of(step, Box::new(self.number_test(low, high, random)));
        }
        let step = Step::plain(&field.name);
        if field.name == "owner" && random.chance(60) {
            let who = if random.chance(70) { Operand::CurrentUser } else { Operand::CurrentRole };
            return Filter::Of(step, Box::new(Inner::Is(random.word(&["_eq", "_neq"]), who)));
        }
        if kind == Type::Word && field.name != super::world::MARK && self.author == Author::Rule && random.chance(25) {
            return Filter::Of(step, Box::new(Inner::Is(random.word(&["_eq", "_neq"]), Operand::CurrentPlace)));
        }
        if matches!(kind, Type::Date | Type::DateTime | Type::Timestamp) && random.chance(15) {
            let operator = random.word(&["_lt", "_lte", "_gt", "_gte"]);
            return Filter::Of(
                step,
                Box::new(Inner::Is(operator, Operand::Now(random.word(&["", "(-1 week)", "(+2 months)", "(3h)"])))),
            );
        }
        let inner = match random.below(8) {
            0 => Inner::Both((0..2).map(|_| self.test(collection, field, kind, random)).collect()),
            1 => Inner::Either((0..random.between(1, 3)).map(|_| self.test(collection, field, kind, random)).collect()),
            _ => self.test(collection, field, kind, random),
        };
        Filter::Of(step, Box::new(inner))
    }

    fn test(&self, collection: &Collection, field: &Field, kind: Type, random: &mut Random) -> Inner {
        let operator = *random.pick(operators(kind));
        if matches!(operator, "_null" | "_nnull" | "_empty" | "_nempty") {
            return Inner::Is(operator, Operand::Flag(random.chance(75)));
        }
        if matches!(operator, "_eq" | "_neq") && self.author == Author::Request && random.chance(4) {
            return Inner::Is(operator, Operand::Null);
        }
        let rows = &collection.rows;
        Inner::Is(
            operator,
            operand(operator, random, |random| {
                // Mostly what is there.
                let stored = if rows.is_empty() || random.chance(25) {
                    Cell::Null
                } else {
                    random.pick(rows)[&field.name].clone()
                };
                sayable(operator, kind, stored, random)
            }),
        )
    }
}

fn operand(operator: &str, random: &mut Random, mut one: impl FnMut(&mut Random) -> Cell) -> Operand {
    match operator {
        "_in" | "_nin" => Operand::Several((0..random.between(1, 4)).map(|_| one(random)).collect()),
        "_between" | "_nbetween" => {
            let (left, right) = (one(random), one(random));
            // Now and then the wrong way round: nothing is between then.
            let ordered = super::order::compare(&left, &right).is_some_and(|order| order.is_le()) || random.chance(10);
            Operand::Several(if ordered { vec![left, right] } else { vec![right, left] })
        }
        _ => Operand::One(one(random)),
    }
}

/// Something that can be an operand, made of a stored value: no null, no empty text, part of a text
/// where parts are looked for.
fn sayable(operator: &str, kind: Type, stored: Cell, random: &mut Random) -> Cell {
    let cell = match stored {
        Cell::Null => values::present(kind, random),
        other => other,
    };
    let text = match &cell {
        Cell::Text(text) => text.clone(),
        Cell::Csv(items) => items.join(","),
        _ => return cell,
    };
    let whole = !operator.contains("contains") && !operator.contains("with");
    if !matches!(kind, Type::Word | Type::String | Type::Text | Type::Csv) {
        return cell;
    }
    let letters: Vec<char> = text.chars().collect();
    let mut piece: String = if whole || letters.is_empty() {
        text
    } else {
        let start = if operator.contains("starts") { 0 } else { random.below(letters.len()) };
        let end =
            if operator.contains("ends") { letters.len() } else { start + 1 + random.below(letters.len() - start) };
        letters[start..end].iter().collect()
    };
    if operator.contains('i') && operator != "_in" && operator != "_nin" && random.chance(50) {
        piece = if random.chance(50) { piece.to_uppercase() } else { piece.to_lowercase() };
    }
    // What the interface takes for something else.
    if piece.is_empty() || piece.starts_with('$') { Cell::Text("amber".to_owned()) } else { Cell::Text(piece) }
}

fn operators(kind: Type) -> &'static [&'static str] {
    match kind {
        Type::Word | Type::String | Type::Text | Type::Csv => &[
            "_eq",
            "_neq",
            "_contains",
            "_ncontains",
            "_icontains",
            "_nicontains",
            "_starts_with",
            "_nstarts_with",
            "_istarts_with",
            "_nistarts_with",
            "_ends_with",
            "_nends_with",
            "_iends_with",
            "_niends_with",
            "_ieq",
            "_nieq",
            "_in",
            "_nin",
            "_empty",
            "_nempty",
            "_null",
            "_nnull",
        ],
        Type::Integer | Type::BigInteger | Type::Decimal | Type::Float | Type::Date | Type::DateTime | Type::Time => {
            &["_eq", "_neq", "_lt", "_lte", "_gt", "_gte", "_between", "_nbetween", "_in", "_nin", "_null", "_nnull"]
        }
        Type::Timestamp => &[
            "_eq",
            "_neq",
            "_lt",
            "_lte",
            "_gt",
            "_gte",
            "_between",
            "_nbetween",
            "_in",
            "_nin",
            "_empty",
            "_nempty",
            "_null",
            "_nnull",
        ],
        Type::Boolean => &["_eq", "_neq", "_null", "_nnull"],
        Type::Uuid => &["_eq", "_neq", "_in", "_nin", "_null", "_nnull"],
        Type::Json | Type::List => &["_null", "_nnull"],
    }
}

/// A function of a type, with the range its results mostly lie in.
pub fn part(kind: Type, random: &mut Random) -> Option<(&'static str, i64, i64)> {
    let date: &[(&'static str, i64, i64)] =
        &[("year", 1999, 2025), ("month", 1, 12), ("week", 1, 53), ("day", 1, 31), ("weekday", 0, 6)];
    let time: &[(&'static str, i64, i64)] = &[("hour", 0, 23), ("minute", 0, 59), ("second", 0, 59)];
    match kind {
        Type::Date => Some(*random.pick(date)),
        Type::Time => Some(*random.pick(time)),
        Type::DateTime | Type::Timestamp if random.chance(60) => Some(*random.pick(date)),
        Type::DateTime | Type::Timestamp => Some(*random.pick(time)),
        Type::List => Some(("count", 0, 3)),
        _ => None,
    }
}
