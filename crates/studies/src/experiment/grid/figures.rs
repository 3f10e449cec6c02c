//! The figures of a grid.

use super::cases::{kernel_differences, loss_differences, pair_differences, share_within};
use super::found::Found;
use crate::experiment::place::{Cell, millis, per_cent};
use report::experiment::{Axis, Experiment, Figure, Kind, Series, Source};

/// Adds the figures.
pub(super) fn add(experiment: Experiment, found: &[Found]) -> Experiment {
    if found.is_empty() {
        return experiment;
    }
    let mut experiment = experiment
        .figure(against_kernel(found))
        .figure(differences(found))
        .figure(losses(found))
        .figure(against_udp(found));
    for figure in by_parameter(found) {
        experiment = experiment.figure(figure);
    }
    experiment
}

/// Pairs of throughputs above the line on which they are equal.
pub(super) fn scatter(id: &str, title: &str, x: &str, y: &str, points: Vec<(f64, f64)>) -> Figure {
    let all = points.iter().flat_map(|&(x, y)| [x, y]);
    let (low, high) = all.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let line = [low, high].map(|end| (end, end));
    // Without points there is no line.
    let line = line.into_iter().filter(|_| !points.is_empty());
    Figure::new(id, title)
        .x(Axis::new(x, "Mbit/s").log())
        .y(Axis::new(y, "Mbit/s").log())
        .series(Series::new("equal", Kind::Line, line))
        .series(Series::new("cells", Kind::Points, points).source(Source::Ours))
        .how_to("Each point is a path; on the line both get the same.")
}

fn against_kernel(found: &[Found]) -> Figure {
    let points = found.iter().map(|one| (one.kernel(), one.ours())).collect();
    let of: Vec<f64> = found.iter().map(Found::difference_pct).collect();
    let within = share_within(&of, 10.0).unwrap_or_default();
    let title = format!("On {within:.0} % of the paths ours and the kernel's TCP are within 10 %");
    scatter("ours-kernel", &title, "kernel's TCP", "ours", points)
        .caption("Mean throughput over the repeats of each cell, transfers back to back in random order.")
        .how_to("Points above the line are paths on which ours gets more.")
}

fn against_udp(found: &[Found]) -> Figure {
    let pair = |one: &Found| Some((one.ours(), one.sim()?));
    let points = found.iter().filter_map(pair).collect();
    let of: Vec<f64> = found.iter().filter_map(Found::sim_difference_pct).collect();
    let within = share_within(&of, 10.0).unwrap_or_default();
    let title = format!("On {within:.0} % of the paths virtual time and UDP are within 10 %");
    scatter("sim-udp", &title, "ours over UDP", "ours in virtual time", points).caption(
        "The same machines, pipelines and rules; only chance differs, and what a real machine adds.",
    )
}

fn differences(found: &[Found]) -> Figure {
    let cells = found.iter().map(Found::difference_pct);
    let sims = found.iter().filter_map(Found::sim_difference_pct);
    let size = f64::abs;
    Figure::new("differences", "How far transfers over one path differ")
        .caption("Without sign. Pairs: single transfers; cells: means over the repeats.")
        .x(Axis::new("|difference|", "%"))
        .y(Axis::new("share", "%").range(0.0, 100.0))
        .series(Series::cdf("kernel and kernel, pairs", kernel_differences(found).map(size)))
        .series(Series::cdf("ours and kernel, pairs", pair_differences(found).map(size)))
        .series(Series::cdf("virtual time and UDP, cells", sims.map(size)))
        .series(Series::cdf("ours and kernel, cells", cells.map(size)).source(Source::Ours))
        .how_to("The further left a curve, the better the agreement.")
        .how_to(
            "Two transfers by the kernel's own TCP over a lossy path differ as well: that curve is what no pair can be better than.",
        )
}

fn losses(found: &[Found]) -> Figure {
    let points: Vec<f64> = loss_differences(found).collect();
    let within = share_within(&points, 1.0).unwrap_or_default();
    let title = format!("In {within:.0} % of the pairs the losses differ by at most 1 point");
    let paper = [(1.0, 85.0)];
    Figure::new("losses", title)
        .caption("Difference between the shares of packets lost, ours and the kernel's, pair by pair.")
        .x(Axis::new("|difference of losses|", "points"))
        .y(Axis::new("share of pairs", "%").range(0.0, 100.0))
        .series(Series::cdf("ours and kernel", points).source(Source::Ours))
        .series(Series::new("paper, on the Internet", Kind::Points, paper).source(Source::Paper))
        .how_to("At 1 point the paper had 85 % of its measurements; it names no other point of the curve but 'nearly all' at 10.")
}

/// A parameter of a cell: what a figure of it is called, its axis, and its value.
pub(super) type Parameter = (&'static str, &'static str, fn(&Cell) -> f64);
/// All of them.
pub(super) const PARAMETERS: [Parameter; 4] = [
    ("rate", "rate, Mbit/s", |cell| cell.rate.as_mbps()),
    ("rtt", "round trip, ms", |cell| millis(cell.rtt)),
    ("loss", "random loss, %", |cell| per_cent(cell.loss)),
    ("queue", "queue, BDP", |cell| cell.queue),
];
/// Places in [`PARAMETERS`].
pub(super) const RTT: usize = 1;
pub(super) const LOSS: usize = 2;

/// Differences against each parameter: four figures.
fn by_parameter(found: &[Found]) -> impl Iterator<Item = Figure> {
    PARAMETERS.into_iter().map(|(id, label, of)| {
        let name = label.split(',').next().unwrap_or(label);
        let points = found.iter().map(|one| (of(&one.cell), one.difference_pct()));
        by_value(
            format!("by-{id}"),
            format!("Ours against the kernel's, by {name}"),
            label,
            "ours - kernel",
            points,
        )
        .caption("Difference of the means of each cell; the cells of a column differ in the three other parameters.")
        .how_to("A median that climbs or falls from left to right is a difference that depends on this parameter.")
    })
}

/// A figure of per cents by the values of a parameter, one column each, with the medians of the columns.
pub(super) fn by_value(
    id: String,
    title: String,
    label: &str,
    y: &str,
    points: impl Iterator<Item = (f64, f64)>,
) -> Figure {
    let points: Vec<(f64, f64)> = points.collect();
    let mut values: Vec<f64> = points.iter().map(|point| point.0).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let columns = values.iter().zip(0_u32..).map(|(value, column)| {
        let here = points.iter().filter(|(x, _)| x.total_cmp(value).is_eq());
        let mut here: Vec<f64> = here.map(|(_, y)| *y).collect();
        here.sort_unstable_by(f64::total_cmp);
        (f64::from(column), here)
    });
    let columns: Vec<(f64, Vec<f64>)> = columns.collect();
    let medians = columns
        .iter()
        .filter_map(|(column, here)| Some((*column, stats::quantile(here, 0.5)?)));
    let cells = columns
        .iter()
        .flat_map(|(column, here)| here.iter().map(|y| (*column, *y)));
    Figure::new(id, title)
        .x(Axis::of_categories(
            label,
            values.iter().map(f64::to_string),
        ))
        .y(Axis::new(y, "%"))
        .series(Series::new("median", Kind::Line, medians))
        .series(Series::new("cells", Kind::Points, cells).source(Source::Ours))
}
