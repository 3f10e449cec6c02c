//! What virtual time shows of the whole product: cases, figures and the table.

use super::Grid;
use super::figures::{self, LOSS, PARAMETERS, RTT};
use super::whole::{self, Point, Whole, busy_pct, link_mbps, loss_mbps};
use crate::experiment::Bench;
use crate::experiment::place::{Cell, millis, per_cent};
use report::experiment::{Case, Cell as Entry, Experiment, Figure, Source, Table};
use serde_json::json;
use stats::Distribution;
use std::time::Duration;
use transport::CongestionControl;

/// How far the median may be from theory, in per cent: random loss, and the saw tooth.
const NEAR_LOSS: f64 = 15.0;
const NEAR_BUSY: f64 = 5.0;
/// Fewer segments on average than this wait for timeouts, of which the model knows nothing.
const FEWEST: f64 = 8.0;
/// Saw teeth, and times of slow start, that a transfer is long enough for.
const TEETH: u32 = 10;
const STARTS: u32 = 40;
/// A busy link, in per cent of what it carries.
const BUSY: f64 = 95.0;
/// The share of cells, or of pairs of them, of which a case must hold, in per cent.
const SHARE: f64 = 95.0;
/// What is no difference between two cells.
const SAME: f64 = 1.02;

/// What the grid shows in virtual time.
pub(super) fn conclude(
    grid: &Grid,
    whole: &Whole,
    bench: &Bench<'_>,
    experiment: Experiment,
) -> Experiment {
    let cells = grid.cells(bench.scale);
    let points = whole::points(bench, &cells);
    let control = grid.congestion_control;
    let long = whole.duration.0;
    let mut experiment = experiment
        .summary(answer(&points, control))
        .case(by_loss(&points, control));
    if control == CongestionControl::Reno {
        experiment = experiment.case(by_queue(&points, long));
    }
    experiment = experiment
        .case(busy(&points, long))
        .case(order("more random loss gives no more", &points, LOSS))
        .case(order("a longer round trip gives no more", &points, RTT));
    if !points.is_empty() {
        experiment = experiment.figure(against_theory(&points, control));
        for (id, label, of) in PARAMETERS {
            experiment = experiment.figure(figures::by_value(
                format!("share-by-{id}"),
                format!(
                    "Share of the link, by {}",
                    label.split(',').next().unwrap_or(label)
                ),
                label,
                "of what the link carries",
                points
                    .iter()
                    .map(|point| (of(&point.cell), point.share_pct())),
            ));
        }
    }
    let all = grid.product().len();
    experiment.table(table(&points, control)).note(format!(
        "{} of the product's {all} cells, {} transfers of {} s each, in virtual time (scale {}). {} more combinations have no room for a \
         window: the queue would hold fewer than 2 packets, or pipe and queue together fewer than 4.",
        points.len(),
        whole.repeats(bench.scale),
        long.as_secs_f64(),
        bench.scale.get(),
        grid.range.impossible()
    ))
}

const fn name(control: CongestionControl) -> &'static str {
    match control {
        CongestionControl::Reno => "Reno",
        CongestionControl::Cubic => "CUBIC",
    }
}

fn answer(points: &[Point], control: CongestionControl) -> String {
    let shares = Distribution::of(points.iter().map(Point::share_pct));
    let Some(shares) = shares else {
        return "Nothing has been simulated.".to_owned();
    };
    let busy = points.iter().filter(|point| point.share_pct() >= BUSY);
    format!(
        "Over {} paths {} gets a median of {:.0} % of what the link carries, and {BUSY} % or more over {} of them.",
        points.len(),
        name(control),
        shares.p50,
        busy.count()
    )
}

/// A case of the ratios of what was found and theory, in per cent, whose median is to be `near` 100.
fn median_case(name: &str, ratios: &[f64], near: f64) -> Case {
    let expected = format!("the median of the cells within {near} % of theory");
    let mut sorted = ratios.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let [Some(low), Some(median), Some(high)] =
        [0.1, 0.5, 0.9].map(|q| stats::quantile(&sorted, q))
    else {
        return Case::not_run(name, expected);
    };
    let cells = sorted.len();
    let found =
        format!("{median:.1} % of theory (10 to 90 % of {cells} cells: {low:.1} to {high:.1} %)");
    Case::new(name, found, expected)
        .holds((median - 100.0).abs() <= near)
        .figures(json!({ "cells": cells, "median_pct": median, "p10_pct": low, "p90_pct": high }))
}

/// What theory says where random loss is all that limits.
fn limited_by_loss(cell: &Cell, control: CongestionControl) -> Option<f64> {
    let mbps = loss_mbps(cell, control)?;
    let segments = mbps * 1e6 / 8.0 / 1_448.0 * cell.rtt.0.as_secs_f64();
    (mbps <= link_mbps(cell) / 2.0 && segments >= FEWEST).then_some(mbps)
}

fn by_loss(points: &[Point], control: CongestionControl) -> Case {
    let ratio = |point: &Point| Some(point.mbps / limited_by_loss(&point.cell, control)? * 100.0);
    let ratios: Vec<f64> = points.iter().filter_map(ratio).collect();
    let name = match control {
        CongestionControl::Reno => "random loss alone: MSS/RTT * 1.31/sqrt(p)",
        CongestionControl::Cubic => "random loss alone: RFC 9438 section 5",
    };
    median_case(name, &ratios, NEAR_LOSS)
}

fn by_queue(points: &[Point], long: Duration) -> Case {
    let is_told = |cell: &Cell| {
        cell.loss <= 0.0 && cell.queue < 1.0 && whole::period(cell).saturating_mul(TEETH) <= long
    };
    let told = points.iter().filter(|point| is_told(&point.cell));
    let ratios: Vec<f64> = told
        .map(|point| point.share_pct() / busy_pct(&point.cell) * 100.0)
        .collect();
    median_case(
        "a short queue alone: the saw tooth's share of the link",
        &ratios,
        NEAR_BUSY,
    )
}

fn busy(points: &[Point], long: Duration) -> Case {
    let is_told = |cell: &Cell| {
        cell.loss <= 0.0
            && cell.queue >= 1.0
            && whole::slow_start(cell).saturating_mul(STARTS) <= long
    };
    let shares: Vec<f64> = points
        .iter()
        .filter(|point| is_told(&point.cell))
        .map(Point::share_pct)
        .collect();
    let name = "a queue of the pipe or more, and no random loss, keep the link busy";
    let expected = format!("{BUSY} % of what it carries, in {SHARE} % of the cells");
    let Some(least) = shares.iter().copied().reduce(f64::min) else {
        return Case::not_run(name, expected);
    };
    let enough = shares.iter().filter(|share| **share >= BUSY).count();
    let share = enough as f64 * 100.0 / shares.len() as f64;
    let found = format!(
        "in {enough} of {} cells; the least is {least:.1} %",
        shares.len()
    );
    Case::new(name, found, expected)
        .holds(share >= SHARE)
        .figures(json!({ "cells": shares.len(), "busy": enough, "least_pct": least }))
}

/// Of each two cells that differ in nothing but one step of a parameter, whether the higher value gives no more.
fn order(name: &str, points: &[Point], parameter: usize) -> Case {
    let expected = format!("in {SHARE} % of the pairs of cells that differ by one step");
    let pairs: Vec<_> = points
        .iter()
        .filter_map(|point| Some((point, next(points, &point.cell, parameter)?)))
        .collect();
    if pairs.is_empty() {
        return Case::not_run(name, expected);
    }
    let kept = pairs
        .iter()
        .filter(|(less, more)| more.mbps <= less.mbps * SAME)
        .count();
    let share = kept as f64 * 100.0 / pairs.len() as f64;
    let found = format!("in {share:.1} % of {} pairs", pairs.len());
    Case::new(name, found, expected)
        .holds(share >= SHARE)
        .figures(json!({ "pairs": pairs.len(), "kept": kept }))
}

/// The cell with the next higher value of a parameter, and the same values of all others.
fn next<'a>(points: &'a [Point], cell: &Cell, parameter: usize) -> Option<&'a Point> {
    let value = PARAMETERS[parameter].2;
    let is_like = |other: &&Point| {
        PARAMETERS.iter().enumerate().all(|(place, (_, _, of))| {
            let order = of(&other.cell).total_cmp(&of(cell));
            if place == parameter {
                order.is_gt()
            } else {
                order.is_eq()
            }
        })
    };
    let higher = points.iter().filter(is_like);
    higher.min_by(|one, other| value(&one.cell).total_cmp(&value(&other.cell)))
}

/// What was found over what theory says, where one thing limits.
fn against_theory(points: &[Point], control: CongestionControl) -> Figure {
    let told = points
        .iter()
        .filter_map(|point| Some((limited_by_loss(&point.cell, control)?, point.mbps)));
    figures::scatter(
        "theory",
        "Where random loss alone limits, throughput against theory",
        "theory",
        "found",
        told.collect(),
    )
    .caption("Means over the transfers of each cell. Cells whose window averages fewer than 8 segments are left out: they wait for timeouts.")
}

fn table(points: &[Point], control: CongestionControl) -> Table {
    let mut table = Table::new("Every cell: means over its transfers")
        .column("rate", "Mbit/s")
        .column("round trip", "ms")
        .column("random loss", "%")
        .column("queue", "BDP")
        .column_of("throughput", "Mbit/s", Source::Ours)
        .column("least", "Mbit/s")
        .column("most", "Mbit/s")
        .column("of what the link carries", "%")
        .column("lost", "%")
        .column("by random loss alone, theory", "Mbit/s");
    for point in points {
        table = table.row([
            Entry::from(point.cell.rate.as_mbps()),
            millis(point.cell.rtt).into(),
            per_cent(point.cell.loss).into(),
            point.cell.queue.into(),
            point.mbps.into(),
            point.range.0.into(),
            point.range.1.into(),
            point.share_pct().into(),
            point.loss_pct.into(),
            loss_mbps(&point.cell, control).into(),
        ]);
    }
    table
}
