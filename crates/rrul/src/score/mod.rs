//! The RRUL score: five parts of 0 to 20, and bad behaviour by name.
//!
//! RRUL, *The RRUL Score*: a final score could be made "by scaling each result vs the ideal relative to unloaded behavior,
//! further scaling each variable on a scale of 0-20, and summing the result for a maximum value of 100"; capturing bad
//! behaviour is hard to score, so "a second, penalty score should be kept". The specification gives the ideal and no
//! formulas; those here are ours, one function each, and each says in words what it made of which figures
//! ([`Score::why`]).
//!
//! There is no part for bandwidth. That is the point.

mod parts;
mod penalties;
#[cfg(test)]
mod tests;

pub(crate) use penalties::penalties;

use schema::rrul::{Score, Summary};
use std::collections::BTreeMap;

/// The most that a part can have.
pub(crate) const FULL: f64 = 20.0;

/// One part: its value, and how it came about.
struct Part {
    /// 0 to 1.
    share: f64,
    why: String,
}

/// The score of a run; `None` when no part of it was measured.
pub(crate) fn score(summary: &Summary) -> Option<Score> {
    let mut why = BTreeMap::new();
    let mut value = |name: &str, part: Option<Part>| {
        let part = part?;
        why.insert(name.to_owned(), part.why);
        Some(part.share.clamp(0.0, 1.0) * FULL)
    };
    let [web, realtime, voip, classification, fairness] = [
        value("web", parts::web(summary)),
        value("realtime", parts::realtime(summary)),
        value("voip", parts::voip(summary)),
        value("classification", parts::classification(summary)),
        value("fairness", parts::fairness(summary)),
    ];
    let all = [web, realtime, voip, classification, fairness];
    if all.iter().all(Option::is_none) {
        return None;
    }
    let total = all.iter().copied().sum::<Option<f64>>();
    Some(Score {
        total,
        web,
        realtime,
        voip,
        classification,
        fairness,
        why,
    })
}
