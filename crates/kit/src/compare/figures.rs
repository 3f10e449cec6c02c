//! Which figures are compared, and where they are in a summary.
//!
//! Each measurement says which it has ([`crate::measurement::Measurement::FIGURES`]). One that a run lacks is no error: only
//! those that at least one run has are shown.

use crate::measurement::{self, Stored};
use serde_json::Value;
use std::collections::BTreeSet;

/// Most characters of a name with the word in it: it fits its column beside most units.
const LONGEST_WORD: usize = 24;
/// Most characters of a unit that a record says.
const LONGEST_UNIT: usize = 8;

/// A figure of a summary.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Figure {
    /// For people, without the unit.
    pub name: String,
    /// Empty for a pure number.
    pub unit: String,
    /// Where it is: a JSON pointer (RFC 6901) into `summary`.
    pub path: String,
    /// What is subtracted from it, if it is a difference.
    pub less: Option<&'static str>,
}

impl Figure {
    /// Those of `measurements` that at least one of `summaries` has, in order.
    pub fn of(measurements: &[&dyn Stored], summaries: &[&Value]) -> Vec<Self> {
        let mut figures: Vec<Self> = Vec::new();
        let known = measurements.iter().flat_map(|m| m.figures());
        for known in known {
            for (key, word) in keys(summaries, known.path) {
                let unit = unit(summaries, known.unit);
                let figure = Self::new(known.name, unit, known.path, (&key, &word));
                let is_there = summaries
                    .iter()
                    .any(|summary| figure.value(summary).is_some());
                let is_new = !figures.contains(&figure);
                if is_there && is_new {
                    figures.push(figure);
                }
            }
        }
        figures
    }

    fn new(name: &str, unit: String, path: &'static str, (key, word): (&str, &str)) -> Self {
        let (path, less) = path
            .split_once(" - ")
            .map_or((path, None), |(path, less)| (path, Some(less)));
        // Keys of a record may be anything; on a terminal they are words.
        let most = LONGEST_WORD.saturating_sub(name.len());
        let word: String = word
            .chars()
            .filter(|c| !c.is_control())
            .take(most)
            .collect();
        let pointer = key.replace('~', "~0").replace('/', "~1");
        Self {
            name: name.replace('*', &word),
            unit,
            path: path.replace('*', &pointer),
            less,
        }
    }

    /// What `summary` says of it; `None` when it was not measured.
    pub fn value(&self, summary: &Value) -> Option<f64> {
        let number = |path: &str| summary.pointer(path).and_then(Value::as_f64);
        let value = number(&self.path)?;
        let less = match self.less {
            Some(path) => number(path)?,
            None => 0.0,
        };
        Some(value - less).filter(|value| value.is_finite())
    }

    /// Its path, and what is subtracted.
    pub fn formula(&self) -> String {
        self.less.map_or_else(
            || self.path.clone(),
            |less| format!("{} - {less}", self.path),
        )
    }
}

/// The part of `summary` that `known` figures are compared by: those of thousands of runs fit into memory.
pub fn compared(known: &[measurement::Figure], mut summary: Value) -> Value {
    let paths = known.iter().flat_map(|figure| {
        let unit = figure.unit.starts_with('/').then_some(figure.unit);
        figure.path.split(" - ").chain(unit)
    });
    let ways: Vec<Vec<&str>> = paths
        .map(|path| path.split('/').skip(1).collect())
        .collect();
    retain(
        &mut summary,
        &ways.iter().map(Vec::as_slice).collect::<Vec<_>>(),
    );
    summary
}

/// Leaves in `value` what lies at the end of one of `ways`, and how the elements of a list call themselves.
fn retain(value: &mut Value, ways: &[&[&str]]) {
    if ways.iter().any(|way| way.is_empty()) {
        return;
    }
    let through = |key: &str| -> Vec<&[&str]> {
        let through = ways.iter().filter(|way| way[0] == "*" || way[0] == key);
        through.map(|way| &way[1..]).collect()
    };
    match value {
        Value::Object(parts) => parts.retain(|key, part| {
            let inner = through(key);
            retain(part, &inner);
            !inner.is_empty()
        }),
        Value::Array(parts) => {
            for (index, part) in parts.iter_mut().enumerate() {
                let mut inner = through(&index.to_string());
                inner.push(&["test"]);
                retain(part, &inner);
            }
        }
        _ => {}
    }
}

/// The keys for which the `*` of `path` stands, each with the word for it; one empty key when there is none.
fn keys(summaries: &[&Value], path: &str) -> BTreeSet<(String, String)> {
    let Some((parent, _)) = path.split_once("/*") else {
        return BTreeSet::from([(String::new(), String::new())]);
    };
    let parents = summaries
        .iter()
        .filter_map(|summary| summary.pointer(parent));
    parents.flat_map(named).collect()
}

/// The keys of an object, and the indices of an array by what each element calls itself.
fn named(parent: &Value) -> Vec<(String, String)> {
    match parent {
        Value::Object(object) => object
            .keys()
            .map(|key| (key.clone(), key.clone()))
            .collect(),
        Value::Array(elements) => {
            let word = |element: &Value| element["test"].as_str().unwrap_or_default().to_owned();
            let elements = elements.iter().enumerate();
            elements
                .map(|(index, element)| (index.to_string(), word(element)))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The unit as it is, or as the first of `summaries` says it that has one at this pointer.
fn unit(summaries: &[&Value], unit: &str) -> String {
    if !unit.starts_with('/') {
        return unit.to_owned();
    }
    let mut said = summaries
        .iter()
        .filter_map(|summary| summary.pointer(unit)?.as_str());
    let said = said.next().unwrap_or_default();
    said.chars()
        .filter(|c| !c.is_control())
        .take(LONGEST_UNIT)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::Sampled;
    use serde_json::json;

    #[test]
    fn only_what_was_measured_is_there_and_classes_have_names() {
        let one = json!({
            "latency_ms": {"idle": {"p50": 20.0}, "loaded": null},
            "voip": {"EF": {"up": {"mos": 4.2}}, "a/b": {"up": {"mos": 1}}},
            "score": {"total": 71.5, "web": 80},
        });
        let other = json!({"latency_ms": {"loaded": {"p50": 90.5}, "idle": {"p50": 20}}});
        let figures = Figure::of(&[&Sampled], &[&one, &other]);
        let shown: Vec<_> = figures
            .iter()
            .map(|figure| {
                (
                    figure.name.as_str(),
                    figure.value(&one),
                    figure.value(&other),
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("RTT idle p50", Some(20.0), Some(20.0)),
                ("RTT loaded p50", None, Some(90.5)),
                ("added delay p50", None, Some(70.5)),
                ("score", Some(71.5), None),
                ("score, web", Some(80.0), None),
                ("VoIP EF up", Some(4.2), None),
                ("VoIP a/b up", Some(1.0), None),
            ]
        );
        assert_eq!(figures[6].formula(), "/voip/a~1b/up/mos");
    }

    #[test]
    fn what_is_not_compared_is_left_out_and_figures_stay() {
        let known = [
            measurement::figure("rtt", "ms", "/rtt_ms/p50"),
            measurement::figure("more", "/unit", "/idle/value - /loaded/value"),
            measurement::figure("of *", "", "/tests/*/sent"),
        ];
        let summary = json!({
            "rtt_ms": { "p50": 1.5, "p90": 2.0 }, "idle": { "value": 5 }, "loaded": { "value": 2, "n": 7 }, "unit": "ms",
            "tests": [{ "test": "a", "sent": 3, "lost": 1 }, { "test": "b", "sent": 4 }], "more": ["words"],
        });
        let kept = compared(&known, summary);
        assert_eq!(
            kept,
            json!({
                "rtt_ms": { "p50": 1.5 }, "idle": { "value": 5 }, "loaded": { "value": 2 }, "unit": "ms",
                "tests": [{ "test": "a", "sent": 3 }, { "test": "b", "sent": 4 }],
            })
        );
        assert_eq!(compared(&known, Value::Null), Value::Null);
    }

    #[test]
    fn a_summary_of_any_shape_is_no_trouble() {
        let odd = [json!(null), json!([1]), json!({"voip": 3, "rpm": "much"})];
        assert_eq!(Figure::of(&[&Sampled], &odd.each_ref()), []);
        assert_eq!(Figure::of(&[&Sampled], &[]), []);
    }
}
