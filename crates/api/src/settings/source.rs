//! Layers of settings (defaults < file < environment) by figment, and [`Reader`], which turns them
//! into values and collects every problem.

use std::{collections::BTreeSet, fmt, ops::RangeInclusive, path::Path, time::Duration};

use figment::{
    Figment, Profile, Provider,
    providers::{Format, Toml},
    value::{Dict, Map, Value},
};
use regex::Regex;

use super::{Secret, parse};

/// The built-in defaults and the manual.
pub const DEFAULTS: &str = include_str!("default.toml");

/// Merged layers, by variable name.
#[derive(Clone, Debug)]
pub struct Source {
    values: Dict,
    /// Set by file or environment, not by the defaults.
    given: BTreeSet<String>,
    unusable: Vec<String>,
}

/// One layer of plain texts.
struct Layer(&'static str, Dict);

impl Provider for Layer {
    fn metadata(&self) -> figment::Metadata {
        figment::Metadata::named(self.0)
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.1.clone()))
    }
}

/// Every line says which variable can't be used and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<String>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for Problems {}

impl Source {
    /// Defaults < the file named by `WAYMARK_CONFIG` (or `.env` in the working directory) < the
    /// environment of the process.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn of_process() -> Result<Self, Problems> {
        let environment: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let named = environment.iter().find(|(name, _)| name == "WAYMARK_CONFIG").map(|(_, path)| path.clone());
        let file = match named {
            Some(path) => Some(read_file(Path::new(&path))?),
            None if Path::new(".env").is_file() => Some(read_file(Path::new(".env"))?),
            None => None,
        };
        Self::layered(file, environment)
    }

    /// Defaults < these values; for tests and tools.
    ///
    /// # Errors
    /// When the values can't be merged.
    pub fn of_values<'a>(values: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Problems> {
        Self::layered(None, values.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    fn layered(file: Option<Dict>, environment: impl IntoIterator<Item = (String, String)>) -> Result<Self, Problems> {
        let environment: Dict = environment.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
        let mut unusable = Vec::new();
        let file = resolve_files(file.unwrap_or_default(), &mut unusable);
        let environment = resolve_files(environment, &mut unusable);
        let given = file.keys().chain(environment.keys()).cloned().collect();
        let figment = Figment::from(Toml::string(DEFAULTS))
            .merge(Layer("configuration file", file))
            .merge(Layer("environment", environment));
        let values = figment.extract().map_err(|error| Problems(vec![error.to_string()]))?;
        Ok(Self { values, given, unusable })
    }

    /// A value set beneath everything that was given; for commands with their own defaults.
    pub fn set_default(&mut self, name: &str, value: &str) {
        if !self.given.contains(name) {
            self.values.insert(name.to_owned(), Value::from(value));
        }
    }

    /// A value set above everything that was given.
    pub fn set(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), Value::from(value));
    }

    /// The text of a value, lists joined by commas.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.values.get(name).and_then(text_of)
    }

    /// Whether file or environment set it.
    #[must_use]
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains(name)
    }
}

/// Names with a meaning, in the order of the manual.
#[must_use]
pub fn known_names() -> Vec<&'static str> {
    DEFAULTS
        .lines()
        .filter_map(|line| line.strip_prefix('#').unwrap_or(line).split_once(" = "))
        .map(|(name, _)| name)
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'))
        .collect()
}

/// Replaces `<NAME>_FILE` by `<NAME>` with the content of the file, for known names.
fn resolve_files(mut layer: Dict, unusable: &mut Vec<String>) -> Dict {
    for name in known_names() {
        let key = format!("{name}_FILE");
        let Some(path) = layer.remove(&key).as_ref().and_then(text_of) else { continue };
        if layer.contains_key(name) {
            unusable.push(format!("{name} and {key} are both set; only one of them is accepted"));
            continue;
        }
        match std::fs::read_to_string(&path) {
            // editors end files with a newline that is no part of a secret
            Ok(mut text) => {
                if text.ends_with('\n') {
                    text.pop();
                    if text.ends_with('\r') {
                        text.pop();
                    }
                }
                layer.insert(name.to_owned(), Value::from(text));
            }
            Err(error) => unusable.push(format!("{key} names a file that can't be read ({})", error.kind())),
        }
    }
    layer
}

fn read_file(path: &Path) -> Result<Dict, Problems> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Problems(vec![format!("the configuration file {shown} can't be read ({})", error.kind())]))?;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => Figment::from(Toml::string(&text))
            .extract()
            .map_err(|error| Problems(vec![format!("the configuration file {shown} is not valid TOML: {error}")])),
        Some("json") => match serde_json::from_str(&text) {
            Ok(serde_json::Value::Object(object)) => {
                Ok(object.into_iter().map(|(name, value)| (name, of_json(value))).collect())
            }
            _ => Err(Problems(vec![format!("the configuration file {shown} is not a JSON object")])),
        },
        _ => Ok(dotenv(&text)),
    }
}

/// Numbers keep their text, so that no digit is lost on the way.
fn of_json(value: serde_json::Value) -> Value {
    match value {
        serde_json::Value::String(text) => Value::from(text),
        serde_json::Value::Array(values) => Value::from(values.into_iter().map(of_json).collect::<Vec<_>>()),
        serde_json::Value::Null => Value::from(String::new()),
        other => Value::from(other.to_string()),
    }
}

/// `NAME=value` lines; `#` comments, optional `export`, single or double quotes.
fn dotenv(text: &str) -> Dict {
    let mut values = Dict::new();
    for line in text.lines() {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else { continue };
        let value = value.trim();
        let quoted =
            |quote: char| value.strip_prefix(quote).and_then(|rest| rest.split_once(quote)).map(|(text, _)| text);
        let value = if let Some(text) = quoted('"') {
            text.replace("\\n", "\n")
        } else if let Some(text) = quoted('\'') {
            text.to_owned()
        } else {
            value.split(" #").next().unwrap_or_default().trim_end().to_owned()
        };
        values.insert(name.trim().to_owned(), Value::from(value));
    }
    values
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(_, text) => Some(text.clone()),
        Value::Char(_, character) => Some(character.to_string()),
        Value::Bool(_, value) => Some(value.to_string()),
        Value::Num(_, number) => number
            .to_i128()
            .map(|number| number.to_string())
            .or_else(|| number.to_f64().map(|number| number.to_string())),
        Value::Array(_, values) => Some(values.iter().filter_map(text_of).collect::<Vec<_>>().join(",")),
        Value::Empty(..) | Value::Dict(..) => None,
    }
}

/// A list entry that may be a pattern (`regex:…`).
#[derive(Clone, Debug)]
pub enum Entry<P> {
    Text(String),
    Pattern(P),
}

/// Reads values and remembers what is wrong with them.
pub struct Reader<'a> {
    source: &'a Source,
    problems: Vec<String>,
}

impl<'a> Reader<'a> {
    #[must_use]
    pub fn new(source: &'a Source) -> Self {
        Self { source, problems: source.unusable.clone() }
    }

    /// # Errors
    /// All problems found.
    pub fn finish(self) -> Result<(), Problems> {
        if self.problems.is_empty() { Ok(()) } else { Err(Problems(self.problems)) }
    }

    /// Notes that a variable can't be used: what it is, what is accepted.
    pub fn problem(&mut self, name: &str, is: &str, accepted: &str) {
        self.problems.push(format!("{name} is {is}; accepted: {accepted}"));
    }

    fn raw(&self, name: &str) -> Option<String> {
        self.source.text(name).filter(|text| !text.is_empty())
    }

    fn refused(&mut self, name: &str, text: Option<&str>, accepted: &str) {
        let is = text.map_or("not set".to_owned(), parse::shape);
        self.problem(name, &is, accepted);
    }

    pub fn optional_text(&mut self, name: &str) -> Option<String> {
        let text = self.raw(name)?;
        let (kind, rest) = parse::prefix(&text);
        if kind == Some("json") {
            return match serde_json::from_str(rest) {
                Ok(serde_json::Value::String(text)) => Some(text),
                _ => {
                    self.refused(name, Some(&text), "a text, after json: a JSON string");
                    None
                }
            };
        }
        Some(rest.to_owned())
    }

    pub fn text(&mut self, name: &str) -> String {
        self.optional_text(name).unwrap_or_default()
    }

    pub fn required_text(&mut self, name: &str) -> String {
        let text = self.optional_text(name);
        if text.is_none() {
            self.refused(name, None, "a text");
        }
        text.unwrap_or_default()
    }

    /// `None` for `false` and when unset.
    pub fn text_or_false(&mut self, name: &str) -> Option<String> {
        self.optional_text(name).filter(|text| text != "false")
    }

    pub fn secret(&mut self, name: &str) -> Option<Secret> {
        self.optional_text(name).map(Secret::new)
    }

    pub fn required_secret(&mut self, name: &str) -> Secret {
        Secret::new(self.required_text(name))
    }

    pub fn optional_number(&mut self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let text = self.optional_text(name)?;
        let number = text.trim().parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            let accepted = if *range.end() == i64::MAX {
                format!("a whole number of {} or more", range.start())
            } else {
                format!("a whole number from {} to {}", range.start(), range.end())
            };
            self.refused(name, Some(&text), &accepted);
        }
        number
    }

    /// A number that has a default.
    pub fn number(&mut self, name: &str, range: RangeInclusive<i64>) -> i64 {
        let least = *range.start();
        self.optional_number(name, range).unwrap_or(least)
    }

    pub fn boolean(&mut self, name: &str) -> bool {
        let Some(text) = self.optional_text(name) else { return false };
        let value = parse::boolean(&text);
        if value.is_none() {
            self.refused(name, Some(&text), "true or false");
        }
        value.unwrap_or_default()
    }

    pub fn duration(&mut self, name: &str) -> Duration {
        let Some(text) = self.optional_text(name) else { return Duration::ZERO };
        let value = parse::duration(&text);
        if value.is_none() {
            self.refused(name, Some(&text), "a duration (15m, 7d, 500ms; a bare number is milliseconds)");
        }
        value.unwrap_or_default()
    }

    /// A duration of so much or more.
    pub fn duration_from(&mut self, name: &str, least: Duration) -> Duration {
        let problems = self.problems.len();
        let value = self.duration(name);
        if value < least && self.problems.len() == problems {
            self.problem(name, "too short", &format!("a duration of {} ms or more", least.as_millis()));
        }
        value.max(least)
    }

    /// A duration without a default.
    pub fn optional_duration(&mut self, name: &str) -> Option<Duration> {
        self.raw(name).is_some().then(|| self.duration(name))
    }

    /// Bytes.
    pub fn size(&mut self, name: &str) -> u64 {
        let Some(text) = self.optional_text(name) else { return 0 };
        let value = parse::size(&text);
        if value.is_none() {
            self.refused(name, Some(&text), "a size (1mb, 512kb; a bare number is bytes)");
        }
        value.unwrap_or_default()
    }

    pub fn list(&mut self, name: &str) -> Vec<String> {
        let Some(text) = self.raw(name) else { return Vec::new() };
        let (kind, rest) = parse::prefix(&text);
        match kind {
            Some("json") => match serde_json::from_str::<Vec<String>>(rest) {
                Ok(entries) => entries,
                Err(_) => {
                    self.refused(name, Some(&text), "a list, after json: a JSON array of strings");
                    Vec::new()
                }
            },
            Some("string" | "number" | "regex") if !rest.contains(',') => vec![text.clone()],
            Some("array") => split(rest),
            _ => split(&text),
        }
        .into_iter()
        .map(|entry| parse::prefix(&entry).1.to_owned())
        .collect()
    }

    /// A list whose entries may be `regex:/pattern/flags` or `regex:pattern`.
    pub fn patterns(&mut self, name: &str) -> Vec<Entry<Regex>> {
        let Some(text) = self.raw(name) else { return Vec::new() };
        let (kind, rest) = parse::prefix(&text);
        let entries = match kind {
            Some("array") => split(rest),
            Some("regex" | "string") => vec![text.clone()],
            _ => split(&text),
        };
        let mut patterns = Vec::new();
        for entry in entries {
            match parse::prefix(&entry) {
                (Some("regex"), pattern) => {
                    let pattern = pattern
                        .strip_prefix('/')
                        .map_or(pattern, |rest| rest.rsplit_once('/').map_or(rest, |(pattern, _)| pattern));
                    match Regex::new(pattern) {
                        Ok(pattern) => patterns.push(Entry::Pattern(pattern)),
                        Err(_) => self.refused(name, Some(&entry), "texts, or patterns (regex:…)"),
                    }
                }
                (_, text) => patterns.push(Entry::Text(text.to_owned())),
            }
        }
        patterns
    }

    pub fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.optional_text(name)?;
        let wanted = text.trim().to_ascii_lowercase();
        let found = choices.iter().find(|(choice, _)| *choice == wanted).map(|(_, value)| *value);
        if found.is_none() {
            self.refused(name, Some(&text), &names(choices));
        }
        found
    }

    pub fn required_choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        if self.raw(name).is_none() {
            self.refused(name, None, &names(choices));
        }
        self.choice(name, choices)
    }

    /// All values whose name begins with a prefix, by the rest of the name.
    pub fn with_prefix(&mut self, prefix: &str) -> Vec<(String, Vec<String>)> {
        let source = self.source;
        let names = source.values.keys().filter_map(|name| Some((name, name.strip_prefix(prefix)?)));
        names.map(|(name, rest)| (rest.to_owned(), self.list(name))).collect()
    }
}

fn names<T>(choices: &[(&str, T)]) -> String {
    choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

fn split(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
}
