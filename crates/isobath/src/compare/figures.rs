//! Which figures are compared, and where they are in a summary.
//!
//! A new figure is one line in [`FIGURES`]. One that a run lacks is no error: only those that at least one run has
//! are shown.

use serde_json::Value;
use std::collections::BTreeSet;

/// A figure of a summary.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Figure {
    /// For people, without the unit.
    pub(crate) name: String,
    /// Empty for a pure number.
    pub(crate) unit: &'static str,
    /// Where it is: a JSON pointer (RFC 6901) into `summary`.
    pub(crate) path: String,
    /// What is subtracted from it, if it is a difference.
    pub(crate) less: Option<&'static str>,
}

/// Name, unit and path of the figures in the order in which a reader wants them. `*` in a path stands for every key there
/// is, which replaces `*` in the name.
const FIGURES: &[(&str, &str, &str)] = &[
    ("UDP idle p50", "ms", "/latency_ms/idle/p50"),
    ("UDP idle p95", "ms", "/latency_ms/idle/p95"),
    ("UDP idle p99", "ms", "/latency_ms/idle/p99"),
    ("UDP loaded p50", "ms", "/latency_ms/loaded/p50"),
    ("UDP loaded p95", "ms", "/latency_ms/loaded/p95"),
    ("UDP loaded p99", "ms", "/latency_ms/loaded/p99"),
    (
        "added delay p50",
        "ms",
        "/latency_ms/loaded/p50 - /latency_ms/idle/p50",
    ),
    (
        "UDP * loaded p95",
        "ms",
        "/latency_ms/by_class/*/loaded/p95",
    ),
    ("TCP RR idle p50", "ms", "/tcp_rr_ms/idle/p50"),
    ("TCP RR loaded p50", "ms", "/tcp_rr_ms/loaded/p50"),
    ("TCP RR loaded p95", "ms", "/tcp_rr_ms/loaded/p95"),
    ("throughput down", "Mbit/s", "/throughput_mbps/down"),
    ("throughput up", "Mbit/s", "/throughput_mbps/up"),
    ("UDP loss idle", "%", "/loss_pct/idle"),
    ("UDP loss loaded", "%", "/loss_pct/loaded"),
    ("fairness down", "", "/fairness/down"),
    ("fairness up", "", "/fairness/up"),
    ("score", "points", "/score/total"),
    ("score, web", "points", "/score/web"),
    ("score, realtime", "points", "/score/realtime"),
    ("score, VoIP", "points", "/score/voip"),
    ("score, classes", "points", "/score/classification"),
    ("score, fairness", "points", "/score/fairness"),
    ("RPM loaded", "1/min", "/rpm/loaded"),
    ("page idle p50", "ms", "/web/idle_ms/p50"),
    ("page loaded p50", "ms", "/web/loaded_ms/p50"),
    ("page loaded p95", "ms", "/web/loaded_ms/p95"),
    ("DNS idle p50", "ms", "/dns_ms/idle/p50"),
    ("DNS loaded p50", "ms", "/dns_ms/loaded/p50"),
    ("VoIP * up", "MOS", "/voip/*/up/mos"),
    ("VoIP * down", "MOS", "/voip/*/down/mos"),
    ("VoIP * up loss", "%", "/voip/*/up/loss_pct"),
    ("VoIP * down loss", "%", "/voip/*/down/loss_pct"),
];

impl Figure {
    /// Those that at least one of `summaries` has, in order.
    pub(crate) fn of(summaries: &[&Value]) -> Vec<Self> {
        let mut figures: Vec<Self> = Vec::new();
        for (name, unit, path) in FIGURES {
            for key in keys(summaries, path) {
                let figure = Self::new(name, unit, path, &key);
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

    fn new(name: &str, unit: &'static str, path: &'static str, key: &str) -> Self {
        let (path, less) = path
            .split_once(" - ")
            .map_or((path, None), |(path, less)| (path, Some(less)));
        // Keys of a record may be anything; on a terminal they are words.
        let word: String = key.chars().filter(|c| !c.is_control()).take(5).collect();
        let pointer = key.replace('~', "~0").replace('/', "~1");
        Self {
            name: name.replace('*', &word),
            unit,
            path: path.replace('*', &pointer),
            less,
        }
    }

    /// What `summary` says of it; `None` when it was not measured.
    pub(crate) fn value(&self, summary: &Value) -> Option<f64> {
        let number = |path: &str| summary.pointer(path).and_then(Value::as_f64);
        let value = number(&self.path)?;
        let less = match self.less {
            Some(path) => number(path)?,
            None => 0.0,
        };
        Some(value - less).filter(|value| value.is_finite())
    }

    /// Its path, and what is subtracted.
    pub(crate) fn formula(&self) -> String {
        self.less.map_or_else(
            || self.path.clone(),
            |less| format!("{} - {less}", self.path),
        )
    }
}

/// The keys for which the `*` of `path` stands; one empty key when there is none.
fn keys(summaries: &[&Value], path: &str) -> BTreeSet<String> {
    let Some((parent, _)) = path.split_once("/*") else {
        return BTreeSet::from([String::new()]);
    };
    let objects = summaries
        .iter()
        .filter_map(|summary| summary.pointer(parent)?.as_object());
    objects.flat_map(|object| object.keys().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_was_measured_is_there_and_classes_have_names() {
        let one = json!({
            "latency_ms": {"idle": {"p50": 20.0}, "loaded": null},
            "voip": {"EF": {"up": {"mos": 4.2}}, "a/b": {"up": {"mos": 1}}},
            "score": {"total": 71.5, "web": 80},
        });
        let other = json!({"latency_ms": {"loaded": {"p50": 90.5}, "idle": {"p50": 20}}});
        let figures = Figure::of(&[&one, &other]);
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
                ("UDP idle p50", Some(20.0), Some(20.0)),
                ("UDP loaded p50", None, Some(90.5)),
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
    fn a_summary_of_any_shape_is_no_trouble() {
        let odd = [json!(null), json!([1]), json!({"voip": 3, "rpm": "much"})];
        assert_eq!(Figure::of(&odd.each_ref()), []);
        assert_eq!(Figure::of(&[]), []);
    }

    #[test]
    fn names_with_their_units_fit_the_table() {
        for (name, unit, _) in FIGURES {
            let text = format!("{}, {unit}", name.replace('*', "AF41"));
            assert!(text.len() <= 24, "{text}");
        }
    }
}
