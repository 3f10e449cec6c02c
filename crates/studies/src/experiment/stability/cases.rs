//! What the paper says of its mesh, and what was found here.

use super::found::{Made, Pairs, difference_pct, loss_difference};
use report::experiment::{Case, Experiment};
use serde_json::json;
use stats::{interval, ks, quantile};

/// Below this probability two sets are told apart.
const SIGNIFICANT: f64 = 0.05;
/// Confidence of intervals.
const LEVEL: f64 = 0.95;
/// What "nearly all" is taken for, in per cent.
const NEARLY_ALL: f64 = 95.0;

/// Adds the answer and the cases.
pub(super) fn add(experiment: Experiment, pairs: &Pairs) -> Experiment {
    experiment
        .summary(answer(pairs))
        .case(stability(pairs))
        .case(throughput(pairs))
        .case(advantage(pairs))
        .case(losses(pairs, 1.0, 85.0, "85 % of the measurements"))
        .case(losses(
            pairs,
            10.0,
            NEARLY_ALL,
            "nearly all, here taken for 95 %",
        ))
}

/// The differences of pairs in per cent.
fn percents(pairs: &[[Made; 2]]) -> Vec<f64> {
    pairs.iter().map(difference_pct).collect()
}

/// One side of the mixed pairs: 0 is ours, 1 is TCP's.
pub(super) fn side(pairs: &Pairs, side: usize) -> impl Iterator<Item = f64> {
    pairs.mixed.iter().map(move |pair| pair[side].bytes_per_s)
}

fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

fn share_within(pairs: &Pairs, limit: f64) -> Option<f64> {
    let within = pairs
        .mixed
        .iter()
        .filter(|pair| loss_difference(pair) <= limit);
    let all = pairs.mixed.len();
    (all > 0).then(|| within.count() as f64 * 100.0 / all as f64)
}

fn answer(pairs: &Pairs) -> String {
    let medians = (
        median(percents(&pairs.ours)),
        median(percents(&pairs.kernel)),
    );
    let ((Some(ours), Some(kernel)), Some(loss)) = (medians, share_within(pairs, 1.0)) else {
        return format!("{} whole pairs: too few to tell.", pairs.len());
    };
    format!(
        "Two transfers in a row differ by a median of {ours:.0} % when both are ours and of {kernel:.0} % when both are TCP's; in \
         {loss:.0} % of the mixed pairs the losses agree within 1 point."
    )
}

/// Figure 1: ours are as stable as TCP's.
fn stability(pairs: &Pairs) -> Case {
    let name = "figure 1: ours make as consistent measurements as TCP";
    let expected =
        "similar distributions of the difference within a pair (not told apart, p >= 0.05)";
    let (ours, kernel) = (percents(&pairs.ours), percents(&pairs.kernel));
    let test = ks::two_sample(ours.iter().copied(), kernel.iter().copied());
    let (Some(test), Some(own), Some(tcp)) = (test, median(ours), median(kernel)) else {
        return Case::not_run(name, expected);
    };
    let found = format!(
        "medians {own:.1} % (n = {}) and {tcp:.1} % (n = {}); d = {:.3}, p = {:.3}",
        pairs.ours.len(),
        pairs.kernel.len(),
        test.d,
        test.p
    );
    Case::new(name, found, expected)
        .holds(test.p >= SIGNIFICANT)
        .figures(json!({
            "ours_pct": own, "kernel_pct": tcp, "d": test.d, "p": test.p,
            "ours_pairs": pairs.ours.len(), "kernel_pairs": pairs.kernel.len(),
            "visible_d": ks::critical(pairs.ours.len(), pairs.kernel.len()),
        }))
}

/// Figure 2: the throughputs of both tools over the same paths are alike.
fn throughput(pairs: &Pairs) -> Case {
    let name = "figure 2: throughputs of ours and of TCP in mixed pairs";
    let expected = "similar distributions (not told apart, p >= 0.05)";
    let test = ks::two_sample(side(pairs, 0), side(pairs, 1));
    let (Some(test), Some(ours), Some(tcp)) =
        (test, median(side(pairs, 0)), median(side(pairs, 1)))
    else {
        return Case::not_run(name, expected);
    };
    let n = pairs.mixed.len();
    let found = format!(
        "medians {ours:.0} and {tcp:.0} octets/s (n = {n}); d = {:.3}, p = {:.3}",
        test.d, test.p
    );
    Case::new(name, found, expected)
        .holds(test.p >= SIGNIFICANT)
        .figures(json!({
            "ours_bytes_per_s": ours, "kernel_bytes_per_s": tcp, "d": test.d, "p": test.p, "pairs": n,
            "visible_d": ks::critical(n, n),
        }))
}

/// Whether one of the tools gets more over the same path.
fn advantage(pairs: &Pairs) -> Case {
    let name = "ours over TCP, pair by pair";
    let expected = "slightly above 1 against BSD, which grew per acknowledgement; 1 against a kernel that counts what is acknowledged";
    let quotients: Vec<f64> = pairs
        .mixed
        .iter()
        .map(|pair| pair[0].bytes_per_s / pair[1].bytes_per_s)
        .collect();
    let Some(of) = interval::median(&quotients, LEVEL) else {
        return Case::not_run(name, expected);
    };
    let found = format!(
        "median {:.3} ({:.3} to {:.3}, n = {})",
        of.estimate,
        of.low,
        of.high,
        quotients.len()
    );
    Case::new(name, found, expected)
        .holds(!of.excludes(1.0))
        .figures(json!({ "quotient": of.estimate, "low": of.low, "high": of.high, "pairs": quotients.len() }))
}

/// Agreement in loss.
fn losses(pairs: &Pairs, limit: f64, least: f64, paper: &str) -> Case {
    let name = format!(
        "losses of a mixed pair within {limit} point{}",
        if limit > 1.0 { "s" } else { "" }
    );
    let Some(share) = share_within(pairs, limit) else {
        return Case::not_run(name, paper);
    };
    let n = pairs.mixed.len();
    Case::new(name, format!("{share:.1} % (n = {n})"), paper)
        .holds(share >= least)
        .figures(json!({ "share_pct": share, "pairs": n }))
}
