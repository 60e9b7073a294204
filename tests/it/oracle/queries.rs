//! Queries made up: fields, filters, sorts, pages, searches, aliases, levels below, aggregates.

use super::{
    ask::{Ask, Path, SortKey, Step},
    filters,
    policy::Caller,
    random::Random,
    values,
    world::{Cell, Field, KEY, Kind, Row, Type, World},
};

/// A query of a caller on a collection. Few name what the caller may not read.
pub fn query(world: &World, caller: &Caller, collection: usize, random: &mut Random) -> Ask {
    let daring = random.chance(7);
    let maker = Maker { world, caller, daring };
    if random.chance(22) { maker.groups(collection, random) } else { maker.items(collection, random) }
}

struct Maker<'a> {
    world: &'a World,
    caller: &'a Caller,
    /// Whether rights are left out of account.
    daring: bool,
}

/// What is made of one level: its paths, and what is asked of its rows.
struct Made {
    paths: Vec<Path>,
    ask: Ask,
}

impl Maker<'_> {
    fn may_name(&self, collection: usize, field: &str) -> bool {
        if self.daring || self.caller.admin {
            return true;
        }
        if field.is_empty() { self.caller.can_read(collection) } else { self.caller.names(collection, field) }
    }

    fn shows(&self, collection: usize, field: &str) -> bool {
        self.daring || self.caller.shows(collection, field)
    }

    fn items(&self, collection: usize, random: &mut Random) -> Ask {
        let Made { paths, mut ask } = self.level(collection, 3, random);
        ask.fields = match random.below(20) {
            _ if !ask.deep.is_empty() || !ask.alias.is_empty() => Some(paths),
            0 | 1 => None,
            2 | 3 => Some(vec![vec![Step::plain("*")]]),
            4 => Some(vec![vec![Step::plain("*"); 2]]),
            5 if random.chance(30) => Some(vec![vec![Step::plain("*"); 3]]),
            6 => Some(vec![vec![Step::plain(KEY)]]),
            _ => Some(paths),
        };
        ask.fields = ask.fields.filter(|fields| !fields.is_empty());
        ask.meta = random.chance(35);
        ask
    }

    fn level(&self, collection: usize, depth: usize, random: &mut Random) -> Made {
        let mut made = Made { paths: Vec::new(), ask: Ask::default() };
        self.restrict(collection, depth == 3, random, &mut made.ask);
        if random.chance(15) {
            made.paths.push(vec![Step::plain("*")]);
        }
        if random.chance(60) {
            made.paths.push(vec![Step::plain(KEY)]);
        }
        let fields: Vec<&Field> = self.world.collections[collection]
            .fields
            .iter()
            .filter(|field| self.shows(collection, &field.name))
            .collect();
        for _ in 0..random.between(1, 4) {
            if fields.is_empty() {
                break;
            }
            let field = *random.pick(&fields);
            self.member(collection, field, depth, random, &mut made);
        }
        if random.chance(2) {
            made.paths.push(vec![Step::plain("nowhere")]);
        }
        made.paths.retain(|path| path[0].name != KEY || self.shows(collection, KEY));
        made
    }

    fn member(&self, collection: usize, field: &Field, depth: usize, random: &mut Random, made: &mut Made) {
        let alias = random.chance(12).then(|| format!("alias{}", made.ask.alias.len()));
        let known = alias.clone().unwrap_or_else(|| field.name.clone());
        if made.ask.deep.iter().any(|(name, _)| name.split(':').next() == Some(&known)) {
            return;
        }
        let step = Step::plain(&field.name);
        if let Some(function) = self.function(field, random).filter(|_| random.chance(30)) {
            let step = Step { function: Some(function), ..step };
            match alias {
                Some(alias) => {
                    made.paths.push(vec![Step::plain(&alias)]);
                    made.ask.alias.push((alias, step));
                }
                None => made.paths.push(vec![step]),
            }
            return;
        }
        let below = if depth > 0 && random.chance(70) {
            self.below(collection, field, depth, &known, random, made)
        } else {
            Vec::new()
        };
        if let Some(alias) = alias {
            made.ask.alias.push((alias, step));
        }
        if below.is_empty() {
            made.paths.push(vec![Step::plain(&known)]);
            if let Kind::Many { child, .. } = field.kind
                && self.may_name(child, "")
                && random.chance(30)
            {
                let mut ask = Ask::default();
                self.restrict(child, true, random, &mut ask);
                made.ask.deep.push((known, ask));
            }
        }
        made.paths.extend(below);
    }

    /// The paths below a relation; what is asked of its rows goes into `made`.
    fn below(
        &self,
        collection: usize,
        field: &Field,
        depth: usize,
        known: &str,
        random: &mut Random,
        made: &mut Made,
    ) -> Vec<Path> {
        let lead = |step: Step, paths: Vec<Path>| -> Vec<Path> {
            paths.into_iter().map(|path| [vec![step.clone()], path].concat()).collect()
        };
        let star = || vec![vec![Step::plain("*")]];
        match &field.kind {
            Kind::Plain(_) => Vec::new(),
            Kind::One { target } | Kind::Many { child: target, .. } => {
                if !self.may_name(*target, "") {
                    return lead(Step::plain(known), star());
                }
                let Made { mut paths, mut ask } = self.level(*target, depth - 1, random);
                if matches!(field.kind, Kind::One { .. }) {
                    ask = Ask { filter: ask.filter, alias: ask.alias, deep: ask.deep, ..Ask::default() };
                }
                if paths.is_empty() {
                    paths = star();
                }
                made.ask.deep.push((known.to_owned(), ask));
                lead(Step::plain(known), paths)
            }
            Kind::Any { targets, .. } => {
                let _ = collection;
                if random.chance(40) {
                    return lead(Step::plain(known), star());
                }
                let mut all = Vec::new();
                for target in random.some(targets, 70) {
                    if !self.may_name(target, "") {
                        continue;
                    }
                    let name = &self.world.collections[target].name;
                    let Made { mut paths, ask } = self.level(target, depth - 1, random);
                    if paths.is_empty() {
                        paths = star();
                    }
                    let ask = Ask { filter: ask.filter, alias: ask.alias, deep: ask.deep, ..Ask::default() };
                    made.ask.deep.push((format!("{known}:{name}"), ask));
                    all.extend(lead(Step { scope: Some(name.clone()), ..Step::plain(known) }, paths));
                }
                all
            }
        }
    }

    fn function(&self, field: &Field, random: &mut Random) -> Option<&'static str> {
        match field.kind {
            Kind::Plain(kind) => filters::part(kind, random).map(|(function, ..)| function),
            Kind::Many { child, .. } if self.may_name(child, "") => Some("count"),
            _ => None,
        }
    }

    /// Filter, search, order and page of a level.
    fn restrict(&self, collection: usize, often: bool, random: &mut Random, ask: &mut Ask) {
        let may_name = |collection: usize, field: &str| self.may_name(collection, field);
        let weight = if often { 2 } else { 1 };
        if random.chance(30 * weight) {
            ask.filter = Some(filters::request(self.world, collection, &may_name, random));
        }
        if random.chance(6 * weight) {
            ask.search = Some(self.term(collection, random));
        }
        if random.chance(30 * weight) {
            ask.sort = (0..random.between(1, 2)).filter_map(|_| self.sort_key(collection, 2, random)).collect();
            ask.sort.push(SortKey { path: vec![Step::plain(KEY)], descending: random.chance(50) });
        }
        match random.below(if often { 6 } else { 10 }) {
            0 => ask.limit = Some(random.between(0, 7)),
            1 => ask.limit = Some(-1),
            2 => (ask.limit, ask.page) = (Some(random.between(1, 5)), Some(random.below(4))),
            3 => (ask.limit, ask.offset) = (Some(random.between(1, 9)), Some(random.below(6))),
            4 if random.chance(30) => ask.offset = Some(random.below(6)),
            _ => {}
        }
    }

    fn sort_key(&self, collection: usize, depth: usize, random: &mut Random) -> Option<SortKey> {
        let path = self.sort_path(collection, depth, random)?;
        Some(SortKey { path, descending: random.chance(50) })
    }

    fn sort_path(&self, number: usize, depth: usize, random: &mut Random) -> Option<Path> {
        let collection = &self.world.collections[number];
        let fields: Vec<&Field> = collection.fields.iter().filter(|field| self.may_name(number, &field.name)).collect();
        let field = if fields.is_empty() { collection.field(KEY)? } else { *random.pick(&fields) };
        let step = Step::plain(&field.name);
        if let Some(function) = self.function(field, random)
            && random.chance(40)
        {
            return Some(vec![Step { function: Some(function), ..step }]);
        }
        let onward = |target: usize, step: Step, random: &mut Random| {
            if depth == 0 || !self.may_name(target, "") {
                return None;
            }
            Some([vec![step], self.sort_path(target, depth - 1, random)?].concat())
        };
        match &field.kind {
            Kind::Plain(kind) => ordered(*kind).then(|| vec![step]),
            Kind::One { target } => {
                let key = vec![step.clone()];
                if random.chance(25) { Some(key) } else { onward(*target, step, random).or(Some(key)) }
            }
            Kind::Many { child, .. } => onward(*child, step, random),
            Kind::Any { targets, discriminator } => {
                if !self.may_name(number, discriminator) {
                    return None;
                }
                let target = *random.pick(targets);
                onward(target, Step { scope: Some(self.world.collections[target].name.clone()), ..step }, random)
            }
        }
    }

    /// Something to look for: a value of some row, or part of it.
    fn term(&self, collection: usize, random: &mut Random) -> String {
        let rows: &[Row] = &self.world.collections[collection].rows;
        let fields = &self.world.collections[collection].fields;
        let text = match rows.is_empty() {
            true => String::new(),
            false => match random.pick(rows).get(&random.pick(fields).name) {
                Some(Cell::Whole(number)) => number.to_string(),
                Some(Cell::Decimal(thousandths)) => values::decimal(*thousandths),
                Some(Cell::Float(number)) => number.to_string(),
                Some(Cell::Text(text)) => {
                    let letters: Vec<char> = text.chars().collect();
                    let start = random.below(letters.len());
                    letters.iter().skip(start).take(1 + random.below(4)).collect()
                }
                _ => "amb".to_owned(),
            },
        };
        // A URL can't tell an empty search from none.
        if text.trim().is_empty() { "zq".to_owned() } else { text }
    }

    fn groups(&self, number: usize, random: &mut Random) -> Ask {
        let mut ask = Ask::default();
        let may_name = |collection: usize, field: &str| self.may_name(collection, field);
        if random.chance(50) {
            ask.filter = Some(filters::request(self.world, number, &may_name, random));
        }
        if random.chance(8) {
            ask.search = Some(self.term(number, random));
        }
        let collection = &self.world.collections[number];
        let columns: Vec<(&Field, Type)> = collection
            .fields
            .iter()
            .filter(|field| self.may_name(number, &field.name))
            .filter_map(|field| Some((field, self.world.column(field)?)))
            .collect();
        for _ in 0..random.between(1, 3) {
            let function = *random.pick(&[
                "count",
                "count",
                "countDistinct",
                "sum",
                "sumDistinct",
                "avg",
                "avgDistinct",
                "min",
                "max",
            ]);
            let fitting: Vec<&str> = columns
                .iter()
                .filter(|(_, kind)| aggregates(function, *kind))
                .map(|(field, _)| field.name.as_str())
                .collect();
            let field = if fitting.is_empty() || (function == "count" && random.chance(50)) {
                "*"
            } else {
                *random.pick(&fitting)
            };
            let function = if field == "*" { "count" } else { function };
            // The rows and a field can't both be counted in one answer.
            let clash = ask
                .aggregate
                .iter()
                .any(|(known, other)| *known == function && (other == field || other == "*" || field == "*"));
            if !clash {
                ask.aggregate.push((function, field.to_owned()));
            }
        }
        let groupable: Vec<(&Field, Type)> =
            columns.iter().filter(|(_, kind)| !matches!(kind, Type::Json | Type::List)).copied().collect();
        let mut unordered = false;
        if !groupable.is_empty() && random.chance(70) {
            for _ in 0..random.between(1, 2) {
                let (field, kind) = *random.pick(&groupable);
                let function = filters::part(kind, random).map(|(function, ..)| function).filter(|_| random.chance(50));
                let step = Step { function, ..Step::plain(&field.name) };
                // A field that is called like an aggregate takes its place in the answer.
                let clash = ask.aggregate.iter().any(|(function, _)| *function == field.name);
                if !clash && !ask.group.contains(&step) {
                    unordered |= function.is_none() && !ordered(kind);
                    ask.group.push(step);
                }
            }
        }
        if unordered {
            ask.limit = Some(-1);
        } else if !ask.group.is_empty() {
            if random.chance(40) {
                let mut keys: Vec<Path> = ask.group.iter().map(|step| vec![step.clone()]).collect();
                let sortable = ask.aggregate.iter().filter(|(function, _)| !function.starts_with("avg"));
                keys.extend(sortable.map(|(function, field)| match field.as_str() {
                    "*" => vec![Step::plain(function)],
                    field => vec![Step::plain(function), Step::plain(field)],
                }));
                ask.sort.push(SortKey { path: random.pick(&keys).clone(), descending: random.chance(50) });
            }
            if random.chance(30) {
                (ask.limit, ask.offset) = (Some(random.between(1, 4)), Some(random.below(3)));
            }
        }
        ask
    }
}

/// Whether values of a type stand in the same order on every engine.
pub fn ordered(kind: Type) -> bool {
    !matches!(kind, Type::String | Type::Text | Type::Csv | Type::Json | Type::List)
}

fn aggregates(function: &str, kind: Type) -> bool {
    let number = matches!(kind, Type::Integer | Type::BigInteger | Type::Decimal | Type::Float);
    match function {
        "count" => true,
        "countDistinct" => !matches!(kind, Type::Json | Type::List),
        "min" | "max" => ordered(kind) && kind != Type::Boolean,
        _ => number,
    }
}
