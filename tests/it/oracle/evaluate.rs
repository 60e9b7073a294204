//! The answer that a query must get: rows, their fields, related rows, counts. Written from the
//! description of the interface, by nested loops.

use serde_json::{Map, Value, json};

use super::{
    ask::{Ask, Path, SortKey, Step},
    holds::{Forbidden, Scope, View, cell},
    values,
    world::{Cell, Field, KEY, Kind, Row, Type},
};

/// Rows that a list shows when nothing is said.
const DEFAULT_LIMIT: usize = 100;

/// What is wanted of one member of an item.
struct Wish<'q> {
    name: String,
    field: &'q Field,
    function: Option<&'static str>,
    /// The rests of the paths that lead on below it, with their scopes.
    below: Vec<(Option<&'q str>, &'q [Step])>,
}

/// What one item shows.
enum Shape<'q> {
    /// The bare primary key.
    Key,
    Members(Vec<Member<'q>>),
}

struct Member<'q> {
    name: String,
    value: Content<'q>,
}

enum Content<'q> {
    Column(&'q Field, Type),
    Function(&'q Field, &'static str),
    One(&'q Field, Level<'q>),
    Many(&'q Field, Level<'q>),
    Any(&'q Field, &'q str, Vec<Level<'q>>),
}

/// A list of items with what is wanted of them.
struct Level<'q> {
    collection: usize,
    ask: &'q Ask,
    /// The order when none is asked for.
    order: Vec<SortKey>,
    shape: Shape<'q>,
}

impl View<'_> {
    /// The body of the answer to a list; `keys` restricts it to these rows.
    pub fn answer(&self, collection: usize, ask: &Ask, keys: Option<&[Cell]>) -> Result<Value, Forbidden> {
        self.may_follow(collection)?;
        let data = if ask.aggregate.is_empty() && ask.group.is_empty() {
            let star = [vec![Step::plain("*")]];
            let paths: Vec<&[Step]> = ask.fields.as_deref().unwrap_or(&star).iter().map(Path::as_slice).collect();
            let level = self.level(collection, &paths, ask, Vec::new())?;
            let rows = self.world.collections[collection].rows.iter();
            let rows: Vec<&Row> = rows.filter(|row| keys.is_none_or(|keys| keys.contains(&row[KEY]))).collect();
            self.list(&level, rows)
        } else {
            self.groups(collection, ask)?
        };
        let mut body = Map::new();
        body.insert("data".to_owned(), data);
        if ask.meta {
            let rows = &self.world.collections[collection].rows;
            let visible: Vec<&Row> = rows.iter().filter(|row| self.visible(collection, row)).collect();
            let wanted = visible.iter().filter(|row| self.wanted(collection, row, ask)).count();
            body.insert("meta".to_owned(), json!({ "total_count": visible.len(), "filter_count": wanted }));
        }
        Ok(Value::Object(body))
    }

    /// Resolves a level, with the rights to everything that it names.
    fn level<'q>(
        &'q self,
        collection: usize,
        paths: &[&'q [Step]],
        ask: &'q Ask,
        order: Vec<SortKey>,
    ) -> Result<Level<'q>, Forbidden> {
        self.may_follow(collection)?;
        if let Some(filter) = &ask.filter {
            self.may_filter(collection, filter)?;
        }
        ask.sort.iter().try_for_each(|key| self.may_sort(collection, key))?;
        // No paths: the list was named without saying more, and shows keys.
        let shape = if paths.is_empty() { Shape::Key } else { self.shape(collection, paths, ask)? };
        Ok(Level { collection, ask, order, shape })
    }

    fn shape<'q>(&'q self, collection: usize, paths: &[&'q [Step]], ask: &'q Ask) -> Result<Shape<'q>, Forbidden> {
        let fields = &self.world.collections[collection].fields;
        let mut wishes: Vec<Wish<'q>> = Vec::new();
        let mut dropped = !fields.iter().any(|field| self.caller.shows(collection, &field.name));
        for path in paths {
            let (step, rest) = path.split_first().map_or((None, *path), |(step, rest)| (Some(step), rest));
            match step {
                Some(step) if step.name != "*" => {
                    let aliased = ask.alias.iter().find(|(name, _)| *name == step.name).map(|(_, target)| target);
                    let target = aliased.unwrap_or(step);
                    let Some(field) = self.world.collections[collection].field(&target.name) else {
                        // Who sees all fields may know that there is none of that name.
                        if self.caller.sees_all_fields(collection) { continue } else { return Err(Forbidden) }
                    };
                    let plain = matches!(field.kind, Kind::Plain(_));
                    if !self.caller.shows(collection, &field.name) {
                        let leads = matches!(field.kind, Kind::Many { .. }) || (!plain && !rest.is_empty());
                        if leads {
                            dropped = true;
                            continue;
                        }
                        return Err(Forbidden);
                    }
                    if plain && !rest.is_empty() {
                        continue;
                    }
                    let name = match step.function {
                        Some(function) => format!("{}_{function}", step.name),
                        None => step.name.clone(),
                    };
                    let below = (!rest.is_empty()).then_some((step.scope.as_deref(), rest));
                    wish(&mut wishes, name, field, target.function, below);
                }
                _ => {
                    for field in fields.iter().filter(|field| self.caller.shows(collection, &field.name)) {
                        let below = (!rest.is_empty() && !matches!(field.kind, Kind::Plain(_))).then_some((None, rest));
                        wish(&mut wishes, field.name.clone(), field, None, below);
                    }
                    for (name, target) in &ask.alias {
                        let Some(field) = self.world.collections[collection].field(&target.name) else { continue };
                        if self.caller.shows(collection, &field.name) {
                            let below =
                                (!rest.is_empty() && !matches!(field.kind, Kind::Plain(_))).then_some((None, rest));
                            wish(&mut wishes, name.clone(), field, target.function, below);
                        }
                    }
                }
            }
        }
        let mut members = Vec::new();
        for wish in wishes {
            match self.content(collection, &wish, ask)? {
                Some(value) => members.push(Member { name: wish.name, value }),
                None => dropped = true,
            }
        }
        Ok(if members.is_empty() && dropped { Shape::Key } else { Shape::Members(members) })
    }

    /// What a member holds; `None` when it leads where the caller may not read.
    fn content<'q>(
        &'q self,
        collection: usize,
        wish: &Wish<'q>,
        ask: &'q Ask,
    ) -> Result<Option<Content<'q>>, Forbidden> {
        static NOTHING: Ask = Ask {
            fields: None,
            filter: None,
            sort: Vec::new(),
            limit: None,
            offset: None,
            page: None,
            search: None,
            alias: Vec::new(),
            deep: Vec::new(),
            meta: false,
            aggregate: Vec::new(),
            group: Vec::new(),
        };
        let field = wish.field;
        if let Some(function) = wish.function {
            if let Kind::Many { child, .. } = field.kind {
                self.may_follow(child)?;
            }
            return Ok(Some(Content::Function(field, function)));
        }
        let deep = |name: &str| ask.deep.iter().find(|(known, _)| known == name).map(|(_, ask)| ask);
        let below = deep(&wish.name).unwrap_or(&NOTHING);
        let paths: Vec<&[Step]> = wish.below.iter().map(|(_, rest)| *rest).collect();
        let _ = collection;
        Ok(match &field.kind {
            Kind::Plain(kind) => Some(Content::Column(field, *kind)),
            Kind::Many { child, .. } if !self.caller.can_read(*child) => None,
            Kind::Many { child, sort, .. } => {
                let order =
                    sort.iter().map(|sort| SortKey { path: vec![Step::plain(sort)], descending: false }).collect();
                Some(Content::Many(field, self.level(*child, &paths, below, order)?))
            }
            _ if paths.is_empty() => Some(Content::Column(field, self.world.column(field).expect("a column"))),
            Kind::One { target } if !self.caller.can_read(*target) => None,
            Kind::One { target } => Some(Content::One(field, self.level(*target, &paths, below, Vec::new())?)),
            Kind::Any { targets, discriminator } => {
                let mut levels = Vec::new();
                for target in targets.iter().filter(|target| self.caller.can_read(**target)) {
                    let name = &self.world.collections[*target].name;
                    let of_target = |scope: &Option<&str>| scope.is_none_or(|scope| scope == name);
                    let paths: Vec<&[Step]> =
                        wish.below.iter().filter(|(scope, _)| of_target(scope)).map(|(_, rest)| *rest).collect();
                    let below = deep(&format!("{}:{name}", wish.name)).unwrap_or(below);
                    levels.push(self.level(*target, &paths, below, Vec::new())?);
                }
                (!levels.is_empty()).then_some(Content::Any(field, discriminator, levels))
            }
        })
    }

    /// Of these rows those that the level shows, in its order, cut to its page.
    fn list(&self, level: &Level<'_>, mut rows: Vec<&Row>) -> Value {
        rows.retain(|row| self.visible(level.collection, row) && self.wanted(level.collection, row, level.ask));
        let order = if level.ask.sort.is_empty() { &level.order } else { &level.ask.sort };
        self.sort(level.collection, &mut rows, order);
        page(level.ask, rows).into_iter().map(|row| self.item(level, row)).collect()
    }

    /// Whether the query's filter and search want a row.
    pub fn wanted(&self, collection: usize, row: &Row, ask: &Ask) -> bool {
        let filtered = ask.filter.as_ref().is_none_or(|filter| self.holds(collection, row, filter, Scope::Caller));
        filtered && ask.search.as_ref().is_none_or(|term| self.found(collection, row, term))
    }

    /// Whether one of the readable fields has what is searched for.
    fn found(&self, collection: usize, row: &Row, term: &str) -> bool {
        let fields = self.world.collections[collection].fields.iter();
        fields.filter(|field| self.caller.shows(collection, &field.name)).any(|field| {
            let Some(kind) = self.world.column(field) else { return false };
            match (kind, cell(row, &field.name)) {
                (Type::Word | Type::String | Type::Text, Cell::Text(text)) => {
                    self.fold(text).contains(&self.fold(term))
                }
                (Type::Integer | Type::BigInteger, Cell::Whole(number)) => {
                    term.parse::<f64>().is_ok() && term.parse() == Ok(*number)
                }
                (Type::Decimal, Cell::Decimal(thousandths)) => {
                    term.parse::<f64>().is_ok_and(|term| term == *thousandths as f64 / 1000.0)
                }
                (Type::Float, Cell::Float(number)) => term.parse() == Ok(*number),
                (Type::Uuid, Cell::Text(text)) => *text == term.to_lowercase(),
                _ => false,
            }
        })
    }

    fn item(&self, level: &Level<'_>, row: &Row) -> Value {
        let key = self.world.collections[level.collection].key;
        let Shape::Members(members) = &level.shape else { return values::rendered(key, &row[KEY]) };
        let mut item = Map::new();
        for member in members {
            let value = match &member.value {
                Content::Column(field, kind) => values::rendered(*kind, cell(row, &field.name)),
                Content::Function(field, function) => values::rendered(
                    Type::Integer,
                    &self.function(level.collection, row, field, function, Scope::Caller),
                ),
                Content::One(field, below) => self.single(below, self.target(row, field, below.collection)),
                Content::Many(field, below) => self.list(below, self.children(row, field).collect()),
                Content::Any(field, discriminator, levels) => levels
                    .iter()
                    .find_map(|below| Some((below, self.any_target(row, field, discriminator, below.collection)?)))
                    .map_or(Value::Null, |(below, related)| self.single(below, Some(related))),
            };
            item.insert(member.name.clone(), value);
        }
        Value::Object(item)
    }

    /// The one row that a field points to, or null when it is hidden or not wanted.
    fn single(&self, level: &Level<'_>, row: Option<&Row>) -> Value {
        match row.filter(|row| self.visible(level.collection, row) && self.wanted(level.collection, row, level.ask)) {
            None => Value::Null,
            // A target of which nothing is asked shows the key as it is stored.
            Some(row) => self.item(level, row),
        }
    }
}

fn wish<'q>(
    wishes: &mut Vec<Wish<'q>>,
    name: String,
    field: &'q Field,
    function: Option<&'static str>,
    below: Option<(Option<&'q str>, &'q [Step])>,
) {
    match wishes.iter_mut().find(|wish| wish.name == name) {
        Some(wish) => wish.below.extend(below),
        None => wishes.push(Wish { name, field, function, below: below.into_iter().collect() }),
    }
}

/// The part of a list that limit, offset and page leave.
pub fn page<T>(ask: &Ask, rows: Vec<T>) -> Vec<T> {
    let limit = match ask.limit {
        None => Some(DEFAULT_LIMIT),
        Some(limit) => usize::try_from(limit).ok(),
    };
    let offset = match (ask.page, limit) {
        (Some(page), Some(limit)) if page > 0 => limit * (page - 1),
        _ => ask.offset.unwrap_or(0),
    };
    rows.into_iter().skip(offset).take(limit.unwrap_or(usize::MAX)).collect()
}
