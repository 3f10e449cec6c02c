//! T's claims, and whether they hold here.
//!
//! An order of two modes *holds* when the 95 % interval of the difference of their means over the runs (Welch) lies above zero, does *not*
//! when it lies below, and *cannot be told* when it has zero in it or either mode has less than two runs. That a share is not
//! worse holds when the interval's upper end is at most [`TOLERATED`] above, and does not when all of it is above zero.

use super::found::Found;
use crate::medianet::summary::Summary;
use report::experiment::{Case, Experiment};
use serde_json::json;
use stats::interval::{self, Interval};

/// Confidence of intervals.
const LEVEL: f64 = 0.95;
/// By how many percentage points more frames may fail with riding for it to be no worse: half of what T's modes have at least.
const TOLERATED: f64 = 0.4;

/// A figure of a run: what it is called, its unit, and where in the summary and among T's it is.
struct Figure {
    name: &'static str,
    unit: &'static str,
    of: fn(&Summary) -> f64,
    paper: usize,
}

const DECODED: Figure = Figure {
    name: "frames decoded",
    unit: "frames/s",
    of: |summary| summary.decoded_per_s,
    paper: 0,
};
const RATE: Figure = Figure {
    name: "streaming rate",
    unit: "Mbit/s",
    of: |summary| summary.decoded_mbps,
    paper: 1,
};
const FAILED: Figure = Figure {
    name: "frames that failed",
    unit: "%",
    of: |summary| summary.failed_pct.unwrap_or(0.0),
    paper: 2,
};

/// Places among the modes.
const PASSIVE: usize = 0;
const OFF_SLOW: usize = 1;
const ON_SLOW: usize = 2;
const OFF_FAST: usize = 3;
const ON_FAST: usize = 4;

/// Orders that T's tables have: the better mode, the other one, and in words.
const ORDERS: [(usize, usize, &str); 7] = [
    (
        OFF_SLOW,
        PASSIVE,
        "estimates help, without riding (pathload)",
    ),
    (ON_SLOW, PASSIVE, "estimates help, riding (pathload)"),
    (
        OFF_FAST,
        PASSIVE,
        "estimates help, without riding (pathload-fast)",
    ),
    (ON_FAST, PASSIVE, "estimates help, riding (pathload-fast)"),
    (ON_SLOW, OFF_SLOW, "riding helps (pathload)"),
    (ON_FAST, OFF_FAST, "riding helps (pathload-fast)"),
    (ON_FAST, ON_SLOW, "riding, pathload-fast does best"),
];

/// Adds the cases and the answer.
pub(super) fn add(mut experiment: Experiment, found: &[Found]) -> Experiment {
    let mut cases = Vec::new();
    for figure in [DECODED, RATE] {
        let orders = ORDERS.iter();
        cases.extend(orders.filter_map(|order| ordered(found, &figure, *order)));
    }
    for (on, off, name) in [
        (
            ON_SLOW,
            OFF_SLOW,
            "riding does not make more frames fail (pathload)",
        ),
        (
            ON_FAST,
            OFF_FAST,
            "riding does not make more frames fail (pathload-fast)",
        ),
    ] {
        cases.extend(no_worse(found, on, off, name));
    }
    let count = |holds: Option<bool>| cases.iter().filter(|case| case.holds == holds).count();
    experiment = experiment.summary(format!(
        "Of {} orders and shares of T's tables {} hold, {} do not and {} cannot be told.",
        cases.len(),
        count(Some(true)),
        count(Some(false)),
        count(None)
    ));
    for case in cases {
        experiment = experiment.case(case);
    }
    experiment
}

/// Of a mode and another: the interval of its mean less the other's.
fn difference(one: &[f64], other: &[f64]) -> Option<Interval> {
    interval::difference_of_means(other, one, LEVEL)
}

/// Whether a difference is one; nothing when it cannot be told.
fn is_above(difference: Option<Interval>) -> Option<bool> {
    let difference = difference?;
    difference.excludes(0.0).then_some(difference.low > 0.0)
}

/// Whether a share is not above another; nothing when it cannot be told.
fn is_no_worse(difference: Option<Interval>) -> Option<bool> {
    let difference = difference?;
    if difference.high <= TOLERATED {
        Some(true)
    } else {
        (difference.low > 0.0).then_some(false)
    }
}

fn ordered(found: &[Found], figure: &Figure, order: (usize, usize, &str)) -> Option<Case> {
    let (better, worse, words) = order;
    let (better, worse) = (found.get(better)?, found.get(worse)?);
    let name = format!("{}: {words}", figure.name);
    Some(case(name, figure, better, worse, is_above))
}

fn no_worse(found: &[Found], on: usize, off: usize, name: &str) -> Option<Case> {
    let (on, off) = (found.get(on)?, found.get(off)?);
    Some(case(name.to_owned(), &FAILED, on, off, is_no_worse))
}

/// One mode against another, judged by `holds`.
fn case(
    name: String,
    figure: &Figure,
    one: &Found,
    other: &Found,
    holds: fn(Option<Interval>) -> Option<bool>,
) -> Case {
    let paper = [one, other].map(|found| found.mode.paper[figure.paper]);
    let modes = [one, other].map(|found| found.mode.name());
    let expected = format!(
        "{} {} with {}, {} with {} (T)",
        paper[0], figure.unit, modes[0], paper[1], modes[1]
    );
    let [ours, theirs] = [one, other].map(|found| found.each(figure.of));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    if ours.is_empty() || theirs.is_empty() {
        return Case::not_run(name, expected);
    }
    let difference = difference(&ours, &theirs);
    let within = difference.map_or_else(
        || "one run of each at most tells no difference".to_owned(),
        |of| {
            format!(
                "difference {:.2}, 95 % {:.2} to {:.2}",
                of.estimate, of.low, of.high
            )
        },
    );
    let said = format!(
        "{:.2} and {:.2} {} ({within}; n = {} and {})",
        mean(&ours),
        mean(&theirs),
        figure.unit,
        ours.len(),
        theirs.len()
    );
    let found = Case::new(name, said, expected).figures(json!({
        "one": ours, "other": theirs, "difference": difference,
    }));
    let record = one.typical.as_ref().map(|(_, shown)| shown.clone());
    let found = match record {
        Some(record) => found.record(record),
        None => found,
    };
    match holds(difference) {
        Some(holds) => found.holds(holds),
        None => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::medianet::MODES;
    use crate::experiment::medianet::found::Run;
    use crate::experiment::repeats::LeftOut;
    use crate::medianet::plan::Probes;
    use crate::medianet::summary::Fates;

    fn found(mode: usize, decoded: &[f64], failed: f64) -> Found {
        let runs = decoded.iter().map(|decoded| Run {
            name: "x".to_owned(),
            summary: Summary {
                probes: Probes::None,
                riding: false,
                seconds: 10.0,
                decoded_per_s: *decoded,
                decoded_mbps: decoded / 20.0,
                failed_pct: Some(failed + decoded / 1e3),
                undecodable_pct: None,
                frames: Fates::default(),
                streams: Vec::new(),
                delay_ms: None,
                utility: 1.0,
                reconfigurations: 0,
                reports: 0,
                reports_failed: 0,
                estimates: None,
                without_cross_mbps: None,
                links: Vec::new(),
            },
        });
        Found {
            mode: MODES[mode],
            runs: runs.collect(),
            typical: None,
            left_out: LeftOut::default(),
        }
    }

    fn judged(found: &[Found]) -> Vec<Option<bool>> {
        let experiment = add(Experiment::new("x", "x?"), found);
        experiment.cases.iter().map(|case| case.holds).collect()
    }

    /// Holds manager/medianet-claims.
    #[test]
    fn orders_hold_where_runs_show_them_and_not_where_they_show_the_opposite() {
        let all = [
            found(PASSIVE, &[30.0, 31.0, 29.0], 0.1),
            found(OFF_SLOW, &[40.0, 41.0, 39.0], 0.8),
            found(ON_SLOW, &[40.0, 42.0, 38.5], 0.8),
            found(OFF_FAST, &[20.0, 21.0, 19.0], 0.8),
            found(ON_FAST, &[52.0, 51.0, 53.0], 2.0),
        ];
        let (yes, no, open) = (Some(true), Some(false), None);
        let orders = [yes, yes, no, yes, open, yes, yes];
        let judged = judged(&all);
        assert_eq!(judged[..7], orders);
        assert_eq!(judged[7..14], orders);
        assert_eq!(judged[14..], [yes, no]);
    }

    #[test]
    fn one_run_tells_nothing_and_none_is_said_to_be_missing() {
        let all = [0, 1, 2, 3, 4].map(|mode| found(mode, &[30.0 + mode as f64], 0.1));
        assert!(judged(&all).iter().all(Option::is_none));
        let none = [0, 1, 2, 3, 4].map(|mode| found(mode, &[], 0.1));
        let experiment = add(Experiment::new("x", "x?"), &none);
        assert!(experiment.cases.iter().all(|case| case.found.is_none()));
    }
}
