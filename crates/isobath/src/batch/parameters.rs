//! Parameters of a batch or a sweep: options of the measurements without their dashes, each with one value or a list.

use kit::pool::error::Error;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Options that a batch sets itself, or that ask for something other than a run.
const NOT_PARAMETERS: &[&str] = &[
    "help",
    "host",
    "json",
    "key",
    "lab",
    "list-plans",
    "live",
    "note",
    "out",
    "plan",
    "quiet",
];

/// The parameters as their author wrote them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(transparent)]
pub(crate) struct Parameters(BTreeMap<String, toml::Value>);

/// One value of a parameter: text, a number or a switch.
pub(crate) type Parameter = Value;

impl Parameters {
    /// The names and the values that each takes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Vec<Parameter>)> {
        let values = |value: &toml::Value| match value {
            toml::Value::Array(values) => values.iter().map(json).collect(),
            single => vec![json(single)],
        };
        self.0
            .iter()
            .map(move |(name, value)| (name.as_str(), values(value)))
    }

    /// Whether there is one of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether all are options of a measurement, and say something.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.iter()
            .try_for_each(|(name, values)| parameter(name, &values))
    }
}

/// What is wrong with `text`, which is that of `file`.
pub(crate) fn not_toml(error: &toml::de::Error, text: &str, file: &str) -> Error {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.unwrap_or_default().matches('\n').count() + 1;
    Error::Text {
        file: file.to_owned(),
        line: format!(" line {line}"),
        what: error.message().replace('\n', ", "),
    }
}

/// Checks that no entry of `list` is empty or there twice: two cells would be the same.
pub(crate) fn unique<'a>(list: &str, entries: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for entry in entries {
        if entry.is_empty() {
            return Err(format!("{list} has an empty entry - remove it"));
        }
        if !seen.insert(entry) {
            return Err(format!("{list} has '{entry}' twice - remove one"));
        }
    }
    Ok(())
}

fn parameter(name: &str, values: &[Parameter]) -> Result<(), String> {
    let is_option = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || !name.chars().all(is_option) || NOT_PARAMETERS.contains(&name) {
        return Err(format!(
            "'{name}' cannot be a parameter - use options of the measurements that say how to measure, such as cc"
        ));
    }
    if values.is_empty() {
        return Err(format!("parameter {name} has no values - remove it"));
    }
    if values.iter().any(Value::is_null) {
        return Err(format!(
            "parameter {name} has a value that is no text, number or switch - write it in quotes"
        ));
    }
    let texts: Vec<_> = values.iter().map(shown).collect();
    unique(
        &format!("parameter {name}"),
        texts.iter().map(String::as_str),
    )
}

/// A value as a person reads it.
pub(crate) fn shown(value: &Parameter) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Null stands for what no option can take.
fn json(value: &toml::Value) -> Parameter {
    match value {
        toml::Value::Boolean(switch) => (*switch).into(),
        toml::Value::Float(number) => (*number).into(),
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::String(text) => text.as_str().into(),
        _ => Value::Null,
    }
}

/// A value that tells by itself what it is of, or the parameter's name with it.
pub(crate) fn spoken(name: &str, value: &Parameter) -> String {
    match value {
        Value::Bool(true) => name.to_owned(),
        Value::Bool(false) => format!("no {name}"),
        Value::String(text) if ["cc", "dscp", "duration"].contains(&name) => text.clone(),
        value => format!("{name} {}", shown(value)),
    }
}

/// The option of the command line that gives parameter `name` this value; none for a switch that is off.
pub(crate) fn option(name: &str, value: &Parameter) -> Option<String> {
    match value {
        Value::Bool(false) => None,
        Value::Bool(true) => Some(format!("--{name}")),
        value => Some(format!("--{name}={}", shown(value))),
    }
}
