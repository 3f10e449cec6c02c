//! What the simulations show.

use super::{Condition, Length, Trio, constant};
use crate::experiment::place::per_cent;
use report::experiment::{Axis, Case, Experiment, Figure, Kind, Series, Source, Table};
use serde_json::json;
use stats::interval::{self, Interval};

/// Confidence of intervals.
const LEVEL: f64 = 0.95;
/// What counts as equal, in per cent.
const EQUAL: f64 = 2.0;

/// Adds the answer, the cases, the figures and the table.
pub(super) fn add(experiment: Experiment, trios: &[Trio]) -> Experiment {
    let delayed = |length| move |one: &Condition| one.length == length && one.every == 2;
    let long = |one: &Condition| delayed(Length::Long)(one) && one.ack_loss <= 0.0;
    let paper = |one: &Condition| delayed(Length::Paper)(one) && one.ack_loss <= 0.0;
    let experiment = experiment
        .summary(answer(trios, &long, &paper))
        .case(more(
            "long transfers, acknowledgements delayed: per window over per acknowledgement",
            "above 1; 1.41 by theory where random loss alone limits",
            trios,
            &long,
        ))
        .case(more(
            "the paper's 725 segments, acknowledgements delayed",
            "above 1: cap got slightly more",
            trios,
            &paper,
        ))
        .case(worse_with_ack_loss(trios))
        .case(control(trios))
        .case(kernel_rule(trios, &long));
    if trios.is_empty() {
        return experiment;
    }
    let experiment = experiment.figure(by_loss(trios)).figure(by_ack_loss(trios));
    experiment.table(table(trios))
}

/// Quotients of the throughputs of those transfers of which `which` is true.
fn quotients(
    trios: &[Trio],
    which: &dyn Fn(&Condition) -> bool,
    of: fn(&Trio) -> Option<f64>,
) -> Vec<f64> {
    let chosen = trios.iter().filter(|trio| which(&trio.condition));
    chosen.filter_map(of).collect()
}

/// Per window over per acknowledgement.
fn rule(trio: &Trio) -> Option<f64> {
    Some(trio.per_window.throughput_mbps? / trio.per_ack.throughput_mbps?)
}

/// By octets, as kernels do, over per window.
fn kernels(trio: &Trio) -> Option<f64> {
    Some(trio.bytes.throughput_mbps? / trio.per_window.throughput_mbps?)
}

/// The geometric mean of quotients and its interval.
fn mean(quotients: &[f64]) -> Option<Interval> {
    let logs: Vec<f64> = quotients.iter().map(|quotient| quotient.ln()).collect();
    let of = interval::mean(&logs, LEVEL)?;
    Some(Interval {
        estimate: of.estimate.exp(),
        low: of.low.exp(),
        high: of.high.exp(),
    })
}

fn told(of: Interval, n: usize) -> String {
    format!(
        "{:.3} ({:.3} to {:.3}, n = {n})",
        of.estimate, of.low, of.high
    )
}

fn figures(of: Interval, n: usize) -> serde_json::Value {
    json!({ "quotient": of.estimate, "low": of.low, "high": of.high, "transfers": n })
}

fn more(name: &str, expected: &str, trios: &[Trio], which: &dyn Fn(&Condition) -> bool) -> Case {
    let quotients = quotients(trios, which, rule);
    match mean(&quotients) {
        None => Case::not_run(name, expected),
        Some(of) => Case::new(name, told(of, quotients.len()), expected)
            .holds(of.low > 1.0)
            .figures(figures(of, quotients.len())),
    }
}

/// Whether the advantage grows when acknowledgements are lost: none against the most.
fn worse_with_ack_loss(trios: &[Trio]) -> Case {
    let most = trios
        .iter()
        .map(|trio| trio.condition.ack_loss)
        .fold(0.0, f64::max);
    let name = format!(
        "long transfers: the advantage when {} % of the acknowledgements are lost",
        per_cent(most)
    );
    let expected = "larger than without";
    let at = |share: f64| {
        let which = move |one: &Condition| {
            one.length == Length::Long && one.every == 2 && one.ack_loss.total_cmp(&share).is_eq()
        };
        quotients(trios, &which, rule)
    };
    let (without, with) = (at(0.0), at(most));
    let (Some(none), Some(lost)) = (mean(&without), mean(&with)) else {
        return Case::not_run(name, expected);
    };
    let found = format!(
        "{} against {}",
        told(lost, with.len()),
        told(none, without.len())
    );
    Case::new(name, found, expected)
        .holds(lost.low > none.high)
        .figures(
            json!({ "with": figures(lost, with.len()), "without": figures(none, without.len()) }),
        )
}

/// With an acknowledgement for each segment the rules are one.
fn control(trios: &[Trio]) -> Case {
    let (name, expected) = (
        "long transfers, an acknowledgement for each segment: the two rules",
        format!("equal to {EQUAL} %"),
    );
    let which = |one: &Condition| one.length == Length::Long && one.every == 1;
    let quotients = quotients(trios, &which, rule);
    match mean(&quotients) {
        None => Case::not_run(name, expected),
        Some(of) => Case::new(name, told(of, quotients.len()), expected)
            .holds((of.estimate - 1.0).abs() * 100.0 <= EQUAL)
            .figures(figures(of, quotients.len())),
    }
}

/// What kernels do today is the paper's first rule under another name.
fn kernel_rule(trios: &[Trio], which: &dyn Fn(&Condition) -> bool) -> Case {
    let (name, expected) = (
        "long transfers: growth by octets (today's kernels) over growth per window",
        format!("equal to {EQUAL} %: both count what was acknowledged"),
    );
    let quotients = quotients(trios, which, kernels);
    match mean(&quotients) {
        None => Case::not_run(name, expected),
        Some(of) => Case::new(name, told(of, quotients.len()), expected)
            .holds((of.estimate - 1.0).abs() * 100.0 <= EQUAL)
            .figures(figures(of, quotients.len())),
    }
}

fn answer(
    trios: &[Trio],
    long: &dyn Fn(&Condition) -> bool,
    paper: &dyn Fn(&Condition) -> bool,
) -> String {
    let of = |which| mean(&quotients(trios, which, rule));
    let (Some(long), Some(paper)) = (of(long), of(paper)) else {
        return "Nothing has been simulated.".to_owned();
    };
    let more = |of: Interval| (of.estimate - 1.0) * 100.0;
    format!(
        "With delayed acknowledgements the growth per window gets {:+.0} % against that per acknowledgement in long transfers, and \
         {:+.1} % in the paper's of 725 segments.",
        more(long),
        more(paper)
    )
}

/// The paths that a figure names, each once.
fn places(trios: &[Trio]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for trio in trios {
        let name = trio.condition.cell.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Mean quotients over an axis of places.
fn series(
    name: &str,
    trios: &[Trio],
    places: &[String],
    which: &dyn Fn(&Condition) -> bool,
) -> Series {
    let at = |(index, place): (usize, &String)| {
        let here = |one: &Condition| which(one) && one.cell.to_string() == *place;
        let of = mean(&quotients(trios, &here, rule))?;
        Some((index as f64, of))
    };
    let means: Vec<_> = places.iter().enumerate().filter_map(at).collect();
    Series::new(
        name,
        Kind::Points,
        means.iter().map(|&(x, of)| (x, of.estimate)),
    )
    .intervals(means.iter().map(|(_, of)| (of.low, of.high)))
}

fn by_loss(trios: &[Trio]) -> Figure {
    let places = places(trios);
    let of = |length| {
        move |one: &Condition| one.every == 2 && one.ack_loss <= 0.0 && one.length == length
    };
    let line = |value: f64| [(0.0, value), (places.len().saturating_sub(1) as f64, value)];
    let theory = constant(1) / constant(2);
    Figure::new("growth", "Growth per window against growth per acknowledgement, path by path")
        .caption("Quotient of throughputs with acknowledgements delayed and none lost: geometric means over seeds, 95 % intervals.")
        .x(Axis::of_categories("path", places.clone()))
        .y(Axis::new("per window / per acknowledgement", ""))
        .series(Series::new("equal", Kind::Line, line(1.0)))
        .series(Series::new("theory, random loss", Kind::Line, line(theory)).source(Source::Paper))
        .series(series("725 segments", trios, &places, &of(Length::Paper)))
        .series(series("long", trios, &places, &of(Length::Long)).source(Source::Ours))
        .how_to("Above 1 the growth per window gets more.")
        .how_to("Where the link or the window's limit decides, not random loss, both get the same.")
}

fn by_ack_loss(trios: &[Trio]) -> Figure {
    let mut shares: Vec<f64> = trios.iter().map(|trio| trio.condition.ack_loss).collect();
    shares.sort_unstable_by(f64::total_cmp);
    shares.dedup();
    let places = places(trios);
    let mut figure = Figure::new("ack-loss", "Lost acknowledgements make the difference larger")
        .caption("The same for long transfers, by the share of acknowledgements lost.")
        .x(Axis::of_categories("path", places.clone()))
        .y(Axis::new("per window / per acknowledgement", ""))
        .how_to("Growth per acknowledgement is the slower the more of them are lost; growth per window is not.");
    for share in shares {
        let which = move |one: &Condition| {
            one.every == 2 && one.length == Length::Long && one.ack_loss.total_cmp(&share).is_eq()
        };
        let name = format!("{} % lost", per_cent(share));
        figure = figure.series(series(&name, trios, &places, &which));
    }
    figure
}

fn table(trios: &[Trio]) -> Table {
    let mut table = Table::new("Every condition: means over its seeds")
        .column("path", "")
        .column("acknowledgements lost", "%")
        .column("segments an acknowledgement", "")
        .column("transfer", "")
        .column("per window", "Mbit/s")
        .column("per acknowledgement", "Mbit/s")
        .column("by octets", "Mbit/s")
        .column("quotient", "");
    for group in trios.chunk_by(|one, other| one.condition == other.condition) {
        let Some(condition) = group.first().map(|trio| trio.condition) else {
            continue;
        };
        let mbps = |of: fn(&Trio) -> Option<f64>| {
            let all = stats::Distribution::of(group.iter().filter_map(of));
            all.map(|of| of.mean)
        };
        let quotients: Vec<f64> = group.iter().filter_map(rule).collect();
        let length = match condition.length {
            Length::Long => "long",
            Length::Paper => "725 segments",
        };
        table = table.row([
            report::experiment::Cell::from(condition.cell.to_string()),
            per_cent(condition.ack_loss).into(),
            condition.every.into(),
            length.into(),
            mbps(|trio| trio.per_window.throughput_mbps).into(),
            mbps(|trio| trio.per_ack.throughput_mbps).into(),
            mbps(|trio| trio.bytes.throughput_mbps).into(),
            mean(&quotients).map(|of| of.estimate).into(),
        ]);
    }
    table
}
