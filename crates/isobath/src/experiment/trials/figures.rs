//! What the trials look like: T's figures, drawn from the cells' runs.

use super::found::{Found, Run, find};
use crate::trial::plan::Probes;
use crate::trial::summary::Place;
use crate::trial::tables::EstimateRow;
use report::experiment::{Axis, Experiment, Figure, Kind, Series};

const PATHLOADS: [Probes; 2] = [Probes::Pathload, Probes::PathloadFast];
/// The tools whose first runs are drawn second by second (T figures 5.3, 5.4, 5.10).
const STACKED: [Probes; 2] = [Probes::Pk2, Probes::PathloadFast];
/// Nanoseconds of a second.
const SECOND: f64 = 1e9;

/// Adds all that there is to draw.
pub(super) fn add(experiment: Experiment, found: &[Found]) -> Experiment {
    let cells = |probes: &[Probes]| {
        let cells = probes
            .iter()
            .flat_map(|probes| [false, true].map(|riding| find(found, *probes, riding, 1.0)));
        cells.flatten().collect::<Vec<&Found>>()
    };
    let mut figures: Vec<Figure> = cells(&STACKED).into_iter().filter_map(stacked).collect();
    figures.extend(source(
        "source-trains",
        "regular trains",
        &cells(&[Probes::None, Probes::Pk1, Probes::Pk2, Probes::Pk3]),
    ));
    figures.extend(source(
        "source-pathload",
        "pathload",
        &cells(&[Probes::None, Probes::Pathload, Probes::PathloadFast]),
    ));
    figures.extend(completions(&cells(&PATHLOADS)));
    figures.extend(cells(&PATHLOADS).into_iter().filter_map(accuracy));
    let ratios = found
        .iter()
        .filter(|one| one.cell.riding && PATHLOADS.contains(&one.cell.probes));
    figures.extend(ratios.filter_map(losses));
    figures.into_iter().fold(experiment, Experiment::figure)
}

fn id(kind: &str, found: &Found) -> String {
    let ratio = (found.cell.ratio * 100.0).round();
    format!(
        "{kind}-{}-{}-{ratio}",
        found.cell.probes.name(),
        found.cell.word()
    )
}

/// What the bottleneck carried, second by second, of the cell's first run.
fn stacked(found: &Found) -> Option<Figure> {
    let run = found.runs.first()?;
    let (name, riding) = (found.name(), found.cell.word());
    let added = run.summary.throughput_mbps?.probe;
    let mut figure = Figure::new(
        id("throughput", found),
        format!("{name}, riding {riding}: measuring adds {added:.2} Mbit/s"),
    )
    .caption("What the bottleneck carried after losses, second by second, stacked; one run.")
    .how_to("From below: others, the application's packets that go by themselves, those that ride, and what probes add to them.")
    .how_to("With riding on, the application's packets fill the probes, and hardly anything is left of the topmost part.")
    .x(Axis::new("time", "s"))
    .y(Axis::new("carried", "Mbit/s").range(0.0, run.summary.capacity_mbps.unwrap_or(10.0)));
    for (kind, words) in [
        ("cross", "others"),
        ("source", "application alone"),
        ("rider", "application, riding"),
        ("probe", "probes"),
    ] {
        let rows = run.tables.throughput.iter().filter(|row| row.kind == kind);
        let last = run.tables.source.len() as f64 * SECOND;
        let rows = rows.filter(|row| (row.t_ns as f64) < last);
        let points = rows.map(|row| (row.t_ns as f64 / SECOND, row.bytes as f64 * 8e-6));
        figure = figure.series(Series::new(words, Kind::Stacked, points));
    }
    Some(figure)
}

/// How near to its rate the application was.
fn source(id: &str, beside: &str, cells: &[&Found]) -> Option<Figure> {
    let target = cells.iter().find_map(|found| found.source())?.target_mbps;
    let mut figure = Figure::new(id, format!("What the application reads beside {beside}"))
        .caption("Distribution of the seconds of all runs; dashed with riding on.")
        .how_to("The best curve is a vertical line at the rate at which the application writes.")
        .how_to("To the left of it are seconds in which packets were lost or waited, to the right those in which they caught up.")
        .x(Axis::new("read in a second", "Mbit/s").range(0.0, 2.0 * target))
        .y(Axis::new("share of seconds", "%").range(0.0, 100.0));
    for found in cells {
        let series = Series::cdf(found.cell.probes.name(), found.source_mbps());
        figure = figure.series(series.variant(format!("riding {}", found.cell.word())));
    }
    Some(figure)
}

/// How long estimations took; those that came to no end hold the curve down.
fn completions(cells: &[&Found]) -> Option<Figure> {
    let mut figure = Figure::new("completion-times", "How long estimations take")
        .caption("Share of all estimations that were completed within a time; those of the runs of a cell together. Dashed with riding on.")
        .how_to("A curve ends at the share that was completed at all: after 60 s the others were given up.")
        .how_to("Farther to the left is sooner, higher is more often.")
        .x(Axis::new("time", "s").range(0.0, 60.0))
        .y(Axis::new("completed", "%").range(0.0, 100.0));
    for found in cells {
        let (times, all) = (found.times_s(), found.rows().len());
        let share = |place: usize| (place + 1) as f64 * 100.0 / all as f64;
        let points = times
            .iter()
            .enumerate()
            .map(|(place, time)| (*time, share(place)));
        let ends = [(0.0, 0.0)].into_iter().chain(points);
        let last = times.len() as f64 * 100.0 / all.max(1) as f64;
        let series = Series::new(
            found.cell.probes.name(),
            Kind::Step,
            ends.chain([(60.0, last)]),
        );
        figure = figure.series(series.variant(format!("riding {}", found.cell.word())));
    }
    cells
        .iter()
        .any(|found| !found.rows().is_empty())
        .then_some(figure)
}

/// Estimates against what was available, of the cell's first run.
fn accuracy(found: &Found) -> Option<Figure> {
    let run = found.runs.first()?;
    let capacity = run.summary.capacity_mbps?;
    let (name, riding) = (found.name(), found.cell.word());
    let title = match run.summary.estimates.and_then(|of| of.error_pct) {
        Some(error) => format!("{name}, riding {riding}: estimates are {error:.0} % off (median)"),
        None => format!("{name}, riding {riding}: no estimate"),
    };
    let mut figure = Figure::new(id("accuracy", found), title)
        .caption("The line is what was available second by second; a point is the middle of an estimate, its whisker its range, at the estimation's end. One run.")
        .how_to("Points on the line are right.")
        .how_to("Crosses are the same estimates without regard to riders: these do not compete with the probes that carry them, so too much is found.")
        .x(Axis::new("time", "s"))
        .y(Axis::new("available", "Mbit/s").range(0.0, capacity))
        .series(Series::new("available", Kind::Step, available(run, capacity)));
    if found.cell.riding {
        let crosses = points(
            run,
            |row| row.uncorrected_low_mbps,
            |row| row.uncorrected_high_mbps,
        );
        let crosses = crosses
            .into_iter()
            .map(|(at, low, high)| (at, f64::midpoint(low, high)));
        figure = figure.series(Series::new("not corrected", Kind::Crosses, crosses));
    }
    let ranges = points(run, |row| row.low_mbps, |row| row.high_mbps);
    let middles = ranges
        .iter()
        .map(|(at, low, high)| (*at, f64::midpoint(*low, *high)));
    let series = Series::new("estimate", Kind::Points, middles);
    Some(figure.series(series.intervals(ranges.iter().map(|(_, low, high)| (*low, *high)))))
}

/// What the rate leaves beside all but probes.
fn available(run: &Run, capacity: f64) -> Vec<(f64, f64)> {
    let seconds = run
        .tables
        .throughput
        .chunk_by(|one, other| one.t_ns == other.t_ns);
    let of = |rows: &[crate::trial::tables::ThroughputRow]| {
        let others = rows.iter().filter(|row| row.kind != "probe");
        let carried: f64 = others.map(|row| row.bytes as f64 * 8e-6).sum();
        let at = rows.first().map_or(0.0, |row| row.t_ns as f64 / SECOND);
        (at, (capacity - carried).max(0.0))
    };
    seconds.map(of).take(run.tables.source.len()).collect()
}

fn points(
    run: &Run,
    low: impl Fn(&EstimateRow) -> Option<f64>,
    high: impl Fn(&EstimateRow) -> Option<f64>,
) -> Vec<(f64, f64, f64)> {
    let rows = run.tables.estimates.iter().filter(|row| row.conclusive);
    rows.filter_map(|row| Some((row.end_ns as f64 / SECOND, low(row)?, high(row)?)))
        .collect()
}

/// Which part of a train loses probes, and whether with what the application gave them.
fn losses(found: &Found) -> Option<Figure> {
    let tenths = found.tenths();
    let any = tenths.iter().any(|of| of.carrying + of.empty > 0);
    let share = |of: fn(&Place) -> [u64; 2]| {
        let points = tenths.iter().map(move |tenth| {
            let [lost, sent] = of(tenth);
            (
                f64::from(tenth.tenth),
                lost as f64 * 100.0 / sent.max(1) as f64,
            )
        });
        points.collect::<Vec<_>>()
    };
    let figure = Figure::new(
        id("losses", found),
        format!("{}: where trains lose probes, ratio {}", found.cell.probes.name(), found.cell.ratio),
    )
    .caption("Share of the probes of each tenth of the trains that were lost, those that carried something of the application's and those that did not; all runs.")
    .how_to("A train fills the queue that it stands in, so losses come toward its end.")
    .how_to("What carried is lost to the application as well; a smaller ratio keeps it out of the end.")
    .x(Axis::of_categories("tenth of the train", (1..=10).map(|tenth| tenth.to_string())))
    .y(Axis::new("lost", "%"))
    .series(Series::new("with padding only", Kind::Bars, share(|of| [of.empty_lost, of.carrying + of.empty])))
    .series(Series::new("with a rider", Kind::Bars, share(|of| [of.carrying_lost, of.carrying + of.empty])));
    any.then_some(figure)
}
