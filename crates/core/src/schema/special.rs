//! Field specials: flags of `meta.special` that change how a field is written, read or typed.

/// The specials the engine acts on. Others (for the front end only) are kept in the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Special {
    Uuid = 1,
    Hash = 1 << 1,
    Conceal = 1 << 2,
    UserCreated = 1 << 3,
    UserUpdated = 1 << 4,
    RoleCreated = 1 << 5,
    RoleUpdated = 1 << 6,
    DateCreated = 1 << 7,
    DateUpdated = 1 << 8,
    CastBoolean = 1 << 9,
    CastJson = 1 << 10,
    CastCsv = 1 << 11,
    CastTimestamp = 1 << 12,
    CastDateTime = 1 << 13,
    File = 1 << 14,
    ManyToOne = 1 << 15,
    OneToMany = 1 << 16,
    ManyToMany = 1 << 17,
    ManyToAny = 1 << 18,
    Files = 1 << 19,
    Translations = 1 << 20,
    Alias = 1 << 21,
    NoData = 1 << 22,
    Group = 1 << 23,
    Geometry = 1 << 24,
}

const NAMES: &[(&str, Special)] = &[
    ("uuid", Special::Uuid),
    ("hash", Special::Hash),
    ("conceal", Special::Conceal),
    ("user-created", Special::UserCreated),
    ("user-updated", Special::UserUpdated),
    ("role-created", Special::RoleCreated),
    ("role-updated", Special::RoleUpdated),
    ("date-created", Special::DateCreated),
    ("date-updated", Special::DateUpdated),
    ("cast-boolean", Special::CastBoolean),
    ("boolean", Special::CastBoolean),
    ("cast-json", Special::CastJson),
    ("json", Special::CastJson),
    ("cast-csv", Special::CastCsv),
    ("csv", Special::CastCsv),
    ("cast-timestamp", Special::CastTimestamp),
    ("cast-datetime", Special::CastDateTime),
    ("file", Special::File),
    ("m2o", Special::ManyToOne),
    ("o2m", Special::OneToMany),
    ("m2m", Special::ManyToMany),
    ("m2a", Special::ManyToAny),
    ("o2a", Special::ManyToAny),
    ("files", Special::Files),
    ("translations", Special::Translations),
    ("alias", Special::Alias),
    ("no-data", Special::NoData),
    ("group", Special::Group),
];

/// A set of specials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpecialSet(u32);

impl SpecialSet {
    /// Reads the names of `meta.special`; unknown names are left out.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        names.into_iter().fold(Self::default(), |set, name| {
            if name == "geometry" || name.starts_with("geometry.") {
                return set.with(Special::Geometry);
            }
            NAMES.iter().find(|(known, _)| *known == name).map_or(set, |(_, special)| set.with(*special))
        })
    }

    #[must_use]
    pub const fn with(self, special: Special) -> Self {
        Self(self.0 | special as u32)
    }

    #[must_use]
    pub const fn has(self, special: Special) -> bool {
        self.0 & special as u32 != 0
    }
}
