//! The clauses after a column's name: `DEFAULT 1`, `NOT NULL`, `REFERENCES a (b) ON DELETE CASCADE` …

use super::token::Token;

/// A column of a stored `CREATE TABLE`, cut into clauses.
#[derive(Clone, Debug)]
pub struct ColumnText {
    pub name: Token,
    pub type_name: Vec<Token>,
    pub clauses: Vec<Clause>,
}

#[derive(Clone, Debug)]
pub struct Clause {
    pub kind: ClauseKind,
    pub tokens: Vec<Token>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClauseKind {
    PrimaryKey,
    NotNull,
    Null,
    Unique,
    Check,
    Default,
    Collate,
    References,
    Generated,
}

impl ColumnText {
    /// `None` when the words are no column.
    pub fn read(tokens: &[Token]) -> Option<Self> {
        let (name, rest) = tokens.split_first()?;
        let begin = rest.iter().position(begins_clause).unwrap_or(rest.len());
        let (type_name, mut rest) = rest.split_at_checked(begin)?;
        let mut clauses = Vec::new();
        while !rest.is_empty() {
            let (clause, after) = read_clause(rest)?;
            clauses.push(clause);
            rest = after;
        }
        Some(Self { name: name.clone(), type_name: type_name.to_vec(), clauses })
    }

    pub fn to_tokens(&self) -> Vec<Token> {
        let mut tokens = vec![self.name.clone()];
        tokens.extend(self.type_name.iter().cloned());
        tokens.extend(self.clauses.iter().flat_map(|clause| clause.tokens.iter().cloned()));
        tokens
    }

    pub fn has(&self, kind: ClauseKind) -> bool {
        self.clauses.iter().any(|clause| clause.kind == kind)
    }

    pub fn remove(&mut self, kind: ClauseKind) {
        self.clauses.retain(|clause| clause.kind != kind);
    }
}

fn begins_clause(token: &Token) -> bool {
    ["CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED", "AS"]
        .iter()
        .any(|keyword| token.is(keyword))
}

/// Reads one clause with the `CONSTRAINT name` before it.
fn read_clause(tokens: &[Token]) -> Option<(Clause, &[Token])> {
    let start = if tokens.first()?.is("CONSTRAINT") { 2 } else { 0 };
    let at = |index: usize| tokens.get(start + index);
    let is = |index: usize, keyword: &str| at(index).is_some_and(|token| token.is(keyword));
    let (kind, mut length) = match at(0)? {
        token if token.is("PRIMARY") => (ClauseKind::PrimaryKey, 2),
        token if token.is("NOT") => (ClauseKind::NotNull, 2),
        token if token.is("NULL") => (ClauseKind::Null, 1),
        token if token.is("UNIQUE") => (ClauseKind::Unique, 1),
        token if token.is("CHECK") => (ClauseKind::Check, 2),
        token if token.is("COLLATE") => (ClauseKind::Collate, 2),
        token if token.is("DEFAULT") => match at(1)? {
            Token::Other(_) => (ClauseKind::Default, 3),
            _ => (ClauseKind::Default, 2),
        },
        token if token.is("REFERENCES") => (ClauseKind::References, references_length(tokens.get(start..)?)),
        token if token.is("GENERATED") => (ClauseKind::Generated, 4),
        token if token.is("AS") => (ClauseKind::Generated, 2),
        _ => return None,
    };
    if kind == ClauseKind::PrimaryKey && (is(length, "ASC") || is(length, "DESC")) {
        length += 1;
    }
    if matches!(kind, ClauseKind::PrimaryKey | ClauseKind::NotNull | ClauseKind::Null | ClauseKind::Unique)
        && is(length, "ON")
        && is(length + 1, "CONFLICT")
    {
        length += 3;
    }
    if kind == ClauseKind::PrimaryKey && is(length, "AUTOINCREMENT") {
        length += 1;
    }
    if kind == ClauseKind::Generated && (is(length, "STORED") || is(length, "VIRTUAL")) {
        length += 1;
    }
    let (clause, rest) = tokens.split_at_checked(start + length)?;
    Some((Clause { kind, tokens: clause.to_vec() }, rest))
}

/// Words of `REFERENCES table [(columns)] [ON … | MATCH … | [NOT] DEFERRABLE …]*`.
fn references_length(tokens: &[Token]) -> usize {
    let is = |index: usize, keyword: &str| tokens.get(index).is_some_and(|token| token.is(keyword));
    let mut length = 2;
    if matches!(tokens.get(length), Some(Token::Group(_))) {
        length += 1;
    }
    loop {
        if is(length, "ON") && (is(length + 1, "DELETE") || is(length + 1, "UPDATE")) {
            length += if is(length + 2, "SET") || is(length + 2, "NO") { 4 } else { 3 };
        } else if is(length, "MATCH") {
            length += 2;
        } else if is(length, "DEFERRABLE") || (is(length, "NOT") && is(length + 1, "DEFERRABLE")) {
            length += if is(length, "NOT") { 2 } else { 1 };
            if is(length, "INITIALLY") {
                length += 2;
            }
        } else {
            return length;
        }
    }
}
