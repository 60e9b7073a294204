//! The vocabulary in which a migration describes tables, and how a described table comes into being
//! on each engine. What a particular table looks like stands in the migrations.

mod ensure;
mod render;

pub(crate) use ensure::{Target, ensure};

/// A table as a migration wants it.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [Column],
    /// Unique indexes over several columns: name and columns.
    pub(crate) unique: &'static [(&'static str, &'static [&'static str])],
}

/// A column as a migration wants it. Nullable, without default, unless said otherwise.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    pub(crate) primary: bool,
    pub(crate) unique: bool,
    pub(crate) default: DefaultValue,
    pub(crate) references: Option<Reference>,
    /// Later versions of the layout dropped it: created with its table, never added to an old one.
    pub(crate) retired: bool,
}

/// Type of a column; [`render`] says what it is on each engine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Auto-increment 32-bit primary key.
    Increment,
    Varchar(u32),
    Text,
    Boolean,
    Integer,
    Unsigned,
    BigInteger,
    Uuid,
    Json,
    Timestamp,
}

#[derive(Clone, Copy)]
pub(crate) enum DefaultValue {
    None,
    Text(&'static str),
    Integer(i32),
    Boolean(bool),
    Now,
}

#[derive(Clone, Copy)]
pub(crate) struct Reference {
    pub(crate) table: &'static str,
    pub(crate) column: &'static str,
    pub(crate) on_delete: OnDelete,
}

#[derive(Clone, Copy)]
pub(crate) enum OnDelete {
    NoAction,
    SetNull,
    Cascade,
}

pub(crate) const fn column(name: &'static str, kind: Kind) -> Column {
    Column {
        name,
        kind,
        required: false,
        primary: false,
        unique: false,
        default: DefaultValue::None,
        references: None,
        retired: false,
    }
}

/// The auto-increment primary key `id`.
pub(crate) const fn increment() -> Column {
    column("id", Kind::Increment).primary()
}

/// The primary key `id` that the server generates.
pub(crate) const fn uuid_key() -> Column {
    column("id", Kind::Uuid).primary()
}

/// `varchar(255)`.
pub(crate) const fn string(name: &'static str) -> Column {
    column(name, Kind::Varchar(255))
}

impl Column {
    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(crate) const fn primary(mut self) -> Self {
        self.primary = true;
        self.required = true;
        self
    }

    pub(crate) const fn unique(mut self) -> Self {
        self.unique = true;
        self
    }

    pub(crate) const fn retired(mut self) -> Self {
        self.retired = true;
        self
    }

    pub(crate) const fn text_default(mut self, text: &'static str) -> Self {
        self.default = DefaultValue::Text(text);
        self
    }

    pub(crate) const fn integer_default(mut self, number: i32) -> Self {
        self.default = DefaultValue::Integer(number);
        self
    }

    pub(crate) const fn boolean_default(mut self, value: bool) -> Self {
        self.default = DefaultValue::Boolean(value);
        self
    }

    pub(crate) const fn now_default(mut self) -> Self {
        self.default = DefaultValue::Now;
        self
    }

    pub(crate) const fn points_to(mut self, table: &'static str, column: &'static str, on_delete: OnDelete) -> Self {
        self.references = Some(Reference { table, column, on_delete });
        self
    }
}
