//! Words of a stored `CREATE TABLE`. A parenthesised group is one word; comments are dropped.

/// One word of SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// Keyword, bare name or number.
    Word(String),
    /// `"name"`, `` `name` ``, `[name]`: the text with its quotes.
    Quoted(String),
    /// `'text'` or `x'00'`, with its quotes.
    Literal(String),
    /// `( … )`, without the parentheses.
    Group(String),
    Comma,
    Other(char),
}

impl Token {
    /// Whether this is the keyword.
    pub fn is(&self, keyword: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    /// The name this word stands for, unquoted.
    pub fn name(&self) -> Option<String> {
        match self {
            Self::Word(word) => Some(word.clone()),
            // SQLite reads 'text' as a name where only a name can stand.
            Self::Quoted(text) | Self::Literal(text) => {
                let quote = text.chars().next()?;
                let inner = text.get(1..text.len().checked_sub(1)?)?;
                Some(match quote {
                    '[' => inner.to_owned(),
                    _ => inner.replace(&format!("{quote}{quote}"), &quote.to_string()),
                })
            }
            Self::Group(_) | Self::Comma | Self::Other(_) => None,
        }
    }

    pub fn to_sql(&self) -> String {
        match self {
            Self::Word(text) | Self::Quoted(text) | Self::Literal(text) => text.clone(),
            Self::Group(inner) => format!("({inner})"),
            Self::Comma => ",".to_owned(),
            Self::Other(character) => character.to_string(),
        }
    }
}

/// Joins words to SQL again.
pub fn to_sql(tokens: &[Token]) -> String {
    tokens.iter().map(Token::to_sql).collect::<Vec<_>>().join(" ")
}

/// Cuts SQL into words; `None` when a quote or parenthesis doesn't end.
pub fn tokens(sql: &str) -> Option<Vec<Token>> {
    let characters: Vec<char> = sql.chars().collect();
    let mut reader = Reader { characters: &characters, at: 0 };
    let mut tokens = Vec::new();
    while let Some(character) = reader.peek(0) {
        if reader.skip_comment()? {
            continue;
        }
        tokens.push(match character {
            _ if character.is_whitespace() => {
                reader.at += 1;
                continue;
            }
            ',' => {
                reader.at += 1;
                Token::Comma
            }
            '(' => Token::Group(reader.group()?),
            ')' => return None,
            '\'' => Token::Literal(reader.quoted()?),
            'x' | 'X' if reader.peek(1) == Some('\'') => {
                reader.at += 1;
                Token::Literal(format!("x{}", reader.quoted()?))
            }
            '"' | '`' | '[' => Token::Quoted(reader.quoted()?),
            _ if is_word(character) => Token::Word(reader.word()),
            _ => {
                reader.at += 1;
                Token::Other(character)
            }
        });
    }
    Some(tokens)
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '.') || !character.is_ascii()
}

struct Reader<'a> {
    characters: &'a [char],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn since(&self, start: usize) -> String {
        self.characters.get(start..self.at).unwrap_or_default().iter().collect()
    }

    /// Steps over a comment, if one stands here.
    fn skip_comment(&mut self) -> Option<bool> {
        match (self.peek(0), self.peek(1)) {
            (Some('-'), Some('-')) => {
                while self.peek(0).is_some_and(|character| character != '\n') {
                    self.at += 1;
                }
                Some(true)
            }
            (Some('/'), Some('*')) => {
                self.at += 2;
                while !(self.peek(0) == Some('*') && self.peek(1) == Some('/')) {
                    self.peek(0)?;
                    self.at += 1;
                }
                self.at += 2;
                Some(true)
            }
            _ => Some(false),
        }
    }

    fn word(&mut self) -> String {
        let start = self.at;
        while self.peek(0).is_some_and(is_word) {
            self.at += 1;
        }
        self.since(start)
    }

    /// Reads a quoted text; a doubled quote is part of it.
    fn quoted(&mut self) -> Option<String> {
        let start = self.at;
        let open = self.peek(0)?;
        let close = if open == '[' { ']' } else { open };
        self.at += 1;
        loop {
            let character = self.peek(0)?;
            self.at += 1;
            if character == close {
                if open != '[' && self.peek(0) == Some(close) {
                    self.at += 1;
                    continue;
                }
                return Some(self.since(start));
            }
        }
    }

    /// Reads a parenthesised group; gives what stands between, comments left out.
    fn group(&mut self) -> Option<String> {
        self.at += 1;
        let mut inner = String::new();
        loop {
            if self.skip_comment()? {
                inner.push(' ');
                continue;
            }
            match self.peek(0)? {
                ')' => {
                    self.at += 1;
                    return Some(inner);
                }
                '(' => {
                    let nested = self.group()?;
                    inner.push('(');
                    inner.push_str(&nested);
                    inner.push(')');
                }
                '\'' | '"' | '`' | '[' => inner.push_str(&self.quoted()?),
                character => {
                    inner.push(character);
                    self.at += 1;
                }
            }
        }
    }
}
