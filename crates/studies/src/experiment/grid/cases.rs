//! What is claimed of the grid, and whether it holds.

use super::found::{Found, Pair, over};
use report::experiment::{Case, Experiment};
use serde_json::json;
use stats::{interval, ks};

/// The most by which the medians may differ, in per cent.
const MOST: f64 = 5.0;
/// Losses this close agree, in points.
const LOSS_POINTS: f64 = 1.0;
/// The share of pairs whose losses must, in per cent.
const LEAST_SHARE: f64 = 85.0;
/// Confidence of intervals.
const LEVEL: f64 = 0.95;
/// Below this probability two sets are told apart.
const SIGNIFICANT: f64 = 0.05;

/// Adds the answer and the cases.
pub(super) fn add(experiment: Experiment, found: &[Found]) -> Experiment {
    let cells: Vec<f64> = found.iter().map(Found::difference_pct).collect();
    let pairs: Vec<f64> = pair_differences(found).collect();
    let sims: Vec<f64> = found.iter().filter_map(Found::sim_difference_pct).collect();
    let losses: Vec<f64> = loss_differences(found).collect();
    let answer = answer(&cells, &losses, &sims);
    experiment
        .summary(answer)
        .case(median_case(
            "median |difference| of cells, ours against the kernel's",
            &cells,
        ))
        .case(median_case(
            "median |difference| of cells, virtual time against UDP",
            &sims,
        ))
        .case(loss_case(&losses))
        .case(bias_case(&cells))
        .case(noise_case(&pairs, found))
}

/// By how much ours are above the kernel's, pair by pair, in per cent.
pub(super) fn pair_differences(found: &[Found]) -> impl Iterator<Item = f64> {
    let pairs = found.iter().flat_map(|one| &one.pairs);
    pairs.map(|pair| over(pair.ours.mbps, pair.kernel.mbps))
}

/// The same for the kernel's against its own next repeat.
pub(super) fn kernel_differences(found: &[Found]) -> impl Iterator<Item = f64> {
    let own = |one: &Found| -> Vec<f64> { one.own_differences(|pair| pair.kernel.mbps).collect() };
    found.iter().flat_map(own)
}

/// By how many points the losses of each pair differ.
pub(super) fn loss_differences(found: &[Found]) -> impl Iterator<Item = f64> {
    let points = |pair: &Pair| (pair.ours.loss_pct - pair.kernel.loss_pct).abs();
    found.iter().flat_map(|one| &one.pairs).map(points)
}

/// The median without signs; nothing of nothing.
pub(super) fn median_abs(values: &[f64]) -> Option<f64> {
    let mut sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    stats::quantile(&sizes, 0.5)
}

/// The share of `values` up to `limit` in size, in per cent; nothing of nothing.
pub(super) fn share_within(values: &[f64], limit: f64) -> Option<f64> {
    let within = values.iter().filter(|value| value.abs() <= limit).count();
    (!values.is_empty()).then(|| within as f64 * 100.0 / values.len() as f64)
}

fn answer(cells: &[f64], losses: &[f64], sims: &[f64]) -> String {
    let (Some(cell), Some(loss)) = (median_abs(cells), share_within(losses, LOSS_POINTS)) else {
        return "Nothing has been measured.".to_owned();
    };
    let sim = median_abs(sims).map_or(String::new(), |sim| {
        format!(" In virtual time the same cells give what they give over UDP to a median of {sim:.1} %.")
    });
    format!(
        "Over {} paths, ours and the kernel's TCP differ by a median of {cell:.1} % in throughput, and in {loss:.0} % of the \
         pairs by at most 1 point in loss.{sim}",
        cells.len()
    )
}

fn median_case(name: &str, values: &[f64]) -> Case {
    let expected = format!("at most {MOST} %");
    let Some(median) = median_abs(values) else {
        return Case::not_run(name, expected);
    };
    let sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    let interval = interval::median(&sizes, LEVEL);
    let within = share_within(values, 10.0);
    let told = interval.map_or(String::new(), |of| {
        format!(", 95 % interval {:.1} to {:.1} %", of.low, of.high)
    });
    Case::new(
        name,
        format!("{median:.1} % (n = {}{told})", values.len()),
        expected,
    )
    .holds(median <= MOST)
    .figures(json!({
        "cells": values.len(),
        "median_pct": median,
        "low_pct": interval.map(|of| of.low),
        "high_pct": interval.map(|of| of.high),
        "share_within_10_pct": within,
    }))
}

fn loss_case(losses: &[f64]) -> Case {
    let name = "share of pairs whose losses agree within 1 point";
    let expected = format!("at least {LEAST_SHARE} %, as in the paper");
    let Some(share) = share_within(losses, LOSS_POINTS) else {
        return Case::not_run(name, expected);
    };
    Case::new(
        name,
        format!("{share:.1} % (n = {})", losses.len()),
        expected,
    )
    .holds(share >= LEAST_SHARE)
    .figures(json!({
        "pairs": losses.len(),
        "share_pct": share,
        "share_within_10_points_pct": share_within(losses, 10.0),
    }))
}

/// Whether one is above the other as a rule.
fn bias_case(cells: &[f64]) -> Case {
    let (name, expected) = (
        "median difference with its sign, ours - kernel",
        "its 95 % interval within -5 to 5 %",
    );
    let Some(median) = interval::median(cells, LEVEL) else {
        return Case::not_run(name, expected);
    };
    let found = format!(
        "{:+.1} % ({:+.1} to {:+.1} %)",
        median.estimate, median.low, median.high
    );
    Case::new(name, found, expected)
        .holds(median.low >= -MOST && median.high <= MOST)
        .figures(json!({ "median_pct": median.estimate, "low_pct": median.low, "high_pct": median.high }))
}

/// Whether a pair of ours and the kernel's differs more than two of the kernel's.
fn noise_case(pairs: &[f64], found: &[Found]) -> Case {
    let (name, expected) = (
        "a pair differs as two of the kernel's do",
        "not told apart (Kolmogorov-Smirnov, p >= 0.05)",
    );
    let own: Vec<f64> = kernel_differences(found).collect();
    let size = |values: &[f64]| values.iter().map(|value| value.abs()).collect::<Vec<_>>();
    let test = ks::two_sample(size(pairs), size(&own));
    let (Some(test), Some(pair), Some(noise)) = (test, median_abs(pairs), median_abs(&own)) else {
        return Case::not_run(name, expected);
    };
    let told = format!(
        "{pair:.1} % and {noise:.1} % (medians; d = {:.2}, p = {:.3})",
        test.d, test.p
    );
    Case::new(name, told, expected)
        .holds(test.p >= SIGNIFICANT)
        .figures(json!({ "pairs_pct": pair, "kernel_pct": noise, "d": test.d, "p": test.p }))
}
