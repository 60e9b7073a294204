//! A stored `CREATE TABLE`, taken apart and changed. What isn't changed stays word for word: checks,
//! collations, computed columns, table options.

use super::{
    clause::{Clause, ClauseKind, ColumnText},
    token::{Token, to_sql, tokens},
};
use crate::{schema::alter::sql, store::Dialect};

/// One change of a table.
#[derive(Clone, Debug)]
pub enum Edit {
    /// The column as in `CREATE TABLE`.
    AddColumn(String),
    /// With its own constraints and foreign key.
    DropColumn(String),
    ChangeColumn {
        name: String,
        /// `None`: stays.
        type_name: Option<String>,
        nullable: bool,
        /// `None`: stays; `Some(None)`: no default any more.
        default: Option<Option<String>>,
    },
    /// A table constraint.
    AddConstraint(String),
    /// Foreign keys over exactly this column.
    DropForeignKey(String),
    /// Unique constraints over exactly this column.
    DropUnique(String),
}

/// A table's statement in parts.
#[derive(Clone, Debug)]
pub struct Definition {
    columns: Vec<ColumnText>,
    constraints: Vec<Vec<Token>>,
    /// `STRICT`, `WITHOUT ROWID`.
    options: Vec<Token>,
}

impl Definition {
    /// `None` when this isn't a statement we understand (virtual tables among others).
    pub fn read(statement: &str) -> Option<Self> {
        let words = tokens(statement)?;
        if !words.first()?.is("CREATE") || words.iter().take(3).any(|word| word.is("VIRTUAL")) {
            return None;
        }
        let body_at = words.iter().position(|word| matches!(word, Token::Group(_)))?;
        let Token::Group(body) = words.get(body_at)? else { return None };
        let body = tokens(body)?;
        let mut columns = Vec::new();
        let mut constraints = Vec::new();
        for item in body.split(|token| *token == Token::Comma) {
            if constraints.is_empty() && !is_constraint(item.first()?) {
                columns.push(ColumnText::read(item)?);
            } else {
                // SQLite takes constraints without commas between them.
                constraints.extend(split_constraints(item));
            }
        }
        Some(Self { columns, constraints, options: words.get(body_at + 1..)?.to_vec() })
    }

    /// Applies a change; `None` when it can't be done (the column isn't there, is computed …).
    pub fn apply(&mut self, edit: &Edit) -> Option<()> {
        match edit {
            Edit::AddColumn(column) => self.columns.push(ColumnText::read(&tokens(column)?)?),
            Edit::DropColumn(name) => {
                self.apply(&Edit::DropForeignKey(name.clone()))?;
                self.apply(&Edit::DropUnique(name.clone()))?;
                let before = self.columns.len();
                self.columns.retain(|column| !is_named(column, name));
                // A check over the column goes with it; any other constraint over it is refused later.
                self.constraints.retain(|constraint| !(is_check(constraint) && mentions(constraint, name)));
                if self.columns.len() == before || self.columns.is_empty() {
                    return None;
                }
            }
            Edit::ChangeColumn { name, type_name, nullable, default } => {
                let column = self.columns.iter_mut().find(|column| is_named(column, name))?;
                if column.has(ClauseKind::Generated) {
                    return None;
                }
                if let Some(type_name) = type_name {
                    column.type_name = tokens(type_name)?;
                }
                if !column.has(ClauseKind::PrimaryKey) {
                    column.remove(ClauseKind::NotNull);
                    column.remove(ClauseKind::Null);
                    if !nullable {
                        column.clauses.insert(0, Clause { kind: ClauseKind::NotNull, tokens: tokens("NOT NULL")? });
                    }
                }
                if let Some(default) = default {
                    column.remove(ClauseKind::Default);
                    if let Some(default) = default {
                        let tokens = tokens(&format!("DEFAULT {default}"))?;
                        column.clauses.push(Clause { kind: ClauseKind::Default, tokens });
                    }
                }
            }
            Edit::AddConstraint(constraint) => self.constraints.push(tokens(constraint)?),
            Edit::DropForeignKey(name) => {
                for column in self.columns.iter_mut().filter(|column| is_named(column, name)) {
                    column.remove(ClauseKind::References);
                }
                self.constraints.retain(|constraint| !is_over(constraint, "FOREIGN", name));
            }
            Edit::DropUnique(name) => {
                for column in self.columns.iter_mut().filter(|column| is_named(column, name)) {
                    column.remove(ClauseKind::Unique);
                }
                self.constraints.retain(|constraint| !is_over(constraint, "UNIQUE", name));
            }
        }
        Some(())
    }

    /// Names of the columns that hold values of their own, in order.
    pub fn stored_columns(&self) -> Vec<String> {
        self.columns
            .iter()
            .filter(|column| !column.has(ClauseKind::Generated))
            .filter_map(|column| column.name.name())
            .collect()
    }

    /// The statement that creates this table under a name.
    pub fn create(&self, table: &str) -> String {
        let columns = self.columns.iter().map(|column| to_sql(&column.to_tokens()));
        let constraints = self.constraints.iter().map(|constraint| to_sql(constraint));
        let body = columns.chain(constraints).collect::<Vec<_>>().join(", ");
        format!("CREATE TABLE {} ({body}) {}", sql::ident(Dialect::Sqlite, table), to_sql(&self.options))
    }
}

fn is_named(column: &ColumnText, name: &str) -> bool {
    column.name.name().is_some_and(|own| own.eq_ignore_ascii_case(name))
}

fn is_constraint(token: &Token) -> bool {
    ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].iter().any(|keyword| token.is(keyword))
}

/// The keyword of a table constraint: the first word after `CONSTRAINT name`.
fn keyword(constraint: &[Token]) -> Option<&Token> {
    constraint.get(if constraint.first()?.is("CONSTRAINT") { 2 } else { 0 })
}

fn is_check(constraint: &[Token]) -> bool {
    keyword(constraint).is_some_and(|token| token.is("CHECK"))
}

fn mentions(constraint: &[Token], name: &str) -> bool {
    let groups = constraint.iter().filter_map(|token| match token {
        Token::Group(inner) => tokens(inner),
        _ => None,
    });
    groups.flatten().any(|token| match &token {
        Token::Group(_) => mentions(std::slice::from_ref(&token), name),
        Token::Literal(_) => false,
        _ => token.name().is_some_and(|own| own.eq_ignore_ascii_case(name)),
    })
}

/// Whether this is such a constraint over exactly the column.
fn is_over(constraint: &[Token], kind: &str, column: &str) -> bool {
    if !keyword(constraint).is_some_and(|token| token.is(kind)) {
        return false;
    }
    let Some(Token::Group(columns)) = constraint.iter().find(|token| matches!(token, Token::Group(_))) else {
        return false;
    };
    let Some(columns) = tokens(columns) else { return false };
    !columns.contains(&Token::Comma)
        && columns.first().and_then(Token::name).is_some_and(|name| name.eq_ignore_ascii_case(column))
}

fn split_constraints(item: &[Token]) -> Vec<Vec<Token>> {
    let mut constraints: Vec<Vec<Token>> = Vec::new();
    for token in item {
        let begins = match constraints.last() {
            None => true,
            Some(last) if last.first().is_some_and(|first| first.is("CONSTRAINT")) && last.len() <= 2 => false,
            Some(_) => is_constraint(token),
        };
        match constraints.last_mut() {
            Some(last) if !begins => last.push(token.clone()),
            _ => constraints.push(vec![token.clone()]),
        }
    }
    constraints
}
