//! A world: collections with fields of every type, relations of every kind, and rows. Here are its
//! parts and how they are made up; `values` makes up the single values, `install` puts it on a server.

use std::collections::BTreeMap;

use super::{random::Random, values};

/// Types of fields with a column of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Integer,
    BigInteger,
    /// Twelve digits, three of them behind the point.
    Decimal,
    Float,
    /// A string of small letters only: sorts alike under every collation.
    Word,
    /// A string of anything.
    String,
    Text,
    Boolean,
    Uuid,
    Date,
    DateTime,
    Timestamp,
    Time,
    Json,
    /// JSON that is always a list.
    List,
    Csv,
}

pub const TYPES: &[Type] = &[
    Type::Integer,
    Type::BigInteger,
    Type::Decimal,
    Type::Float,
    Type::Word,
    Type::String,
    Type::Text,
    Type::Boolean,
    Type::Uuid,
    Type::Date,
    Type::DateTime,
    Type::Timestamp,
    Type::Time,
    Type::Json,
    Type::List,
    Type::Csv,
];

/// A stored value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Null,
    Whole(i128),
    /// Thousandths.
    Decimal(i128),
    Float(f64),
    Bool(bool),
    /// Texts, ids, and dates in their rendered form, which sorts as they do.
    Text(String),
    Json(serde_json::Value),
    Csv(Vec<String>),
}

pub type Row = BTreeMap<String, Cell>;

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Plain(Type),
    /// A key of another collection.
    One {
        target: usize,
    },
    /// The rows of another collection that point here.
    Many {
        child: usize,
        key: String,
        sort: Option<String>,
    },
    /// A key of one of several collections.
    Any {
        targets: Vec<usize>,
        discriminator: String,
    },
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub struct Collection {
    pub name: String,
    /// The type of `id`, the primary key.
    pub key: Type,
    pub fields: Vec<Field>,
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug)]
pub struct World {
    pub seed: u64,
    pub collections: Vec<Collection>,
    /// Users and roles that uuid fields named `owner` hold; filled in when they exist.
    pub owners: Vec<String>,
}

/// The primary key of every collection.
pub const KEY: &str = "id";
/// A word that no other row of the world has.
pub const MARK: &str = "mark";

impl Collection {
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl World {
    /// The type that a field's column has: that of the far key, for many-to-one.
    pub fn column(&self, field: &Field) -> Option<Type> {
        match &field.kind {
            Kind::Plain(kind) => Some(*kind),
            Kind::One { target } => Some(self.collections[*target].key),
            Kind::Any { .. } => Some(Type::String),
            Kind::Many { .. } => None,
        }
    }
}

/// Names that are reserved words, or differ by case only, as well as harmless ones.
const NAMES: &[&str] = &[
    "order", "group", "Title", "title", "select", "size", "from", "value", "due", "Note", "limit", "state", "code",
    "user", "week", "count", "index", "key",
];

/// Makes up the collections, without rows.
pub fn schema(seed: u64, random: &mut Random) -> World {
    let mut collections: Vec<Collection> = (0..5).map(|number| plain_collection(seed, number, random)).collect();
    let keys = [
        Type::Integer,
        if random.chance(70) { Type::Uuid } else { Type::Word },
        Type::Integer,
        Type::Integer,
        Type::Integer,
    ];
    for (collection, key) in collections.iter_mut().zip(keys) {
        collection.key = key;
        collection.fields[0].kind = Kind::Plain(key);
    }
    // 0 is a tree, points to 1 and is what the junctions lead to; 2 points to 0 or 1, twice at times.
    link(&mut collections, 0, "parent", 0, "children", false);
    link(&mut collections, 0, "home", 1, "guests", false);
    let target = random.below(2);
    link(&mut collections, 2, "boss", target, "staff", random.chance(50));
    if random.chance(60) {
        link(&mut collections, 2, "deputy", target, "deputies", false);
    }
    // 3 is a junction of 0 (or 2) and 1.
    let left = *random.pick(&[0, 2]);
    link(&mut collections, 3, "left_id", left, "tags", random.chance(60));
    link(&mut collections, 3, "right_id", 1, "tagged", false);
    // 4 holds the blocks of 2: a key of any of 0, 1 and 3.
    link(&mut collections, 4, "page", 2, "blocks", true);
    let mut targets = random.some(&[0, 1, 3], 75);
    if targets.is_empty() {
        targets.push(1);
    }
    collections[4].fields.push(Field { name: "kind".to_owned(), kind: Kind::Plain(Type::String) });
    let kind = Kind::Any { targets, discriminator: "kind".to_owned() };
    collections[4].fields.push(Field { name: "item".to_owned(), kind });
    World { seed, collections, owners: Vec::new() }
}

fn plain_collection(seed: u64, number: usize, random: &mut Random) -> Collection {
    let mut fields = vec![
        Field { name: KEY.to_owned(), kind: Kind::Plain(Type::Integer) },
        Field { name: MARK.to_owned(), kind: Kind::Plain(Type::Word) },
    ];
    let mut names: Vec<&str> = NAMES.to_vec();
    random.shuffle(&mut names);
    let wide = if number < 3 { random.between(5, 9) } else { random.between(1, 3) };
    for name in names.into_iter().take(wide as usize) {
        let twin = |field: &Field| field.name.eq_ignore_ascii_case(name);
        if !fields.iter().any(twin) {
            fields.push(Field { name: name.to_owned(), kind: Kind::Plain(*random.pick(TYPES)) });
        }
    }
    if random.chance(50) {
        fields.push(Field { name: "owner".to_owned(), kind: Kind::Plain(Type::Uuid) });
    }
    Collection {
        name: format!("w{seed}_{}", ["nodes", "homes", "People", "links", "blocks"][number]),
        key: Type::Integer,
        fields,
        rows: Vec::new(),
    }
}

fn link(collections: &mut [Collection], from: usize, field: &str, to: usize, back: &str, sorted: bool) {
    let sort = sorted.then(|| "place".to_owned());
    if sorted && collections[from].field("place").is_none() {
        collections[from].fields.push(Field { name: "place".to_owned(), kind: Kind::Plain(Type::Integer) });
    }
    collections[from].fields.push(Field { name: field.to_owned(), kind: Kind::One { target: to } });
    let kind = Kind::Many { child: from, key: field.to_owned(), sort };
    collections[to].fields.push(Field { name: back.to_owned(), kind });
}

/// Makes up the rows.
pub fn fill(world: &mut World, random: &mut Random) {
    let sizes: Vec<usize> = (0..5).map(|_| random.between(4, 24) as usize).collect();
    let crowd = random.below(12);
    let mut keys: Vec<Vec<Cell>> = Vec::new();
    for (number, collection) in world.collections.iter().enumerate() {
        // Now and then more rows than the default limit shows.
        let size = if number == crowd { 130 } else { sizes[number] };
        keys.push((0..size).map(|position| values::key(collection.key, position, random)).collect());
    }
    for number in 0..world.collections.len() {
        let rows = keys[number].iter().enumerate().map(|(position, key)| {
            let mut row = Row::new();
            for field in &world.collections[number].fields {
                let value = match &field.kind {
                    _ if field.name == KEY => key.clone(),
                    _ if field.name == MARK => Cell::Text(values::mark(number, position)),
                    _ if field.name == "owner" => owner(&world.owners, random),
                    Kind::Plain(kind) => values::value(*kind, random),
                    // A parent comes before its children.
                    Kind::One { target } if *target == number && position == 0 => Cell::Null,
                    Kind::One { target } if *target == number => optional(&keys[number][..position], random),
                    Kind::One { target } => optional(&keys[*target], random),
                    Kind::Many { .. } | Kind::Any { .. } => continue,
                };
                row.insert(field.name.clone(), value);
            }
            for field in &world.collections[number].fields {
                if let Kind::Any { targets, discriminator } = &field.kind {
                    let target = *random.pick(targets);
                    let (kind, key) = match optional(&keys[target], random) {
                        Cell::Null => (Cell::Null, Cell::Null),
                        key => {
                            (Cell::Text(world.collections[target].name.clone()), Cell::Text(values::plain_text(&key)))
                        }
                    };
                    row.insert(discriminator.clone(), kind);
                    row.insert(field.name.clone(), key);
                }
            }
            row
        });
        let rows: Vec<Row> = rows.collect();
        world.collections[number].rows = rows;
    }
}

fn optional(keys: &[Cell], random: &mut Random) -> Cell {
    if random.chance(20) { Cell::Null } else { random.pick(keys).clone() }
}

fn owner(owners: &[String], random: &mut Random) -> Cell {
    if owners.is_empty() || random.chance(20) { Cell::Null } else { Cell::Text(random.pick(owners).clone()) }
}
