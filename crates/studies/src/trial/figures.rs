//! What one run looks like: T's figures 5.3 to 5.22 as far as they are of one.

use super::SECOND_NS;
use super::summary::{Place, Summary, Tables};
use super::tables::{EstimateRow, ThroughputRow};
use report::experiment::{Axis, Figure, Kind, Series};

/// A run that is drawn.
pub struct Trial<'a> {
    /// What the ids of its figures end in: there may be other runs on the page.
    pub id: String,
    /// What it is called in titles.
    pub name: String,
    /// Its figures.
    pub summary: &'a Summary,
    /// Its rows, second by second and estimate by estimate.
    pub tables: &'a Tables,
}

/// What the bottleneck carried, second by second.
pub fn throughput(trial: &Trial<'_>) -> Option<Figure> {
    let added = trial.summary.throughput_mbps?.probe;
    let mut figure = Figure::new(
        format!("throughput-{}", trial.id),
        format!("{}: measuring adds {added:.2} Mbit/s", trial.name),
    )
    .caption("What the bottleneck carried after losses, second by second, stacked; one run.")
    .how_to("From below: others, the application's packets that go by themselves, those that ride, and what probes add to them.")
    .how_to("With riding on, the application's packets fill the probes, and hardly anything is left of the topmost part.")
    .x(Axis::new("time", "s"))
    .y(Axis {
        min: Some(0.0),
        max: trial.summary.capacity_mbps,
        ..Axis::new("carried", "Mbit/s")
    });
    for (kind, words) in [
        ("cross", "others"),
        ("source", "application alone"),
        ("rider", "application, riding"),
        ("probe", "probes"),
    ] {
        let rows = trial
            .tables
            .throughput
            .iter()
            .filter(|row| row.kind == kind);
        let last = trial.tables.source.len() as f64 * SECOND_NS;
        let rows = rows.filter(|row| (row.t_ns as f64) < last);
        let points = rows.map(|row| (row.t_ns as f64 / SECOND_NS, row.bytes as f64 * 8e-6));
        figure = figure.series(Series::new(words, Kind::Stacked, points));
    }
    Some(figure)
}

/// Estimates against what was available; nothing where nobody estimated.
pub fn accuracy(trial: &Trial<'_>) -> Option<Figure> {
    let capacity = trial.summary.capacity_mbps?;
    let estimates = trial.summary.estimates?;
    let name = &trial.name;
    let title = match estimates.error_pct {
        Some(error) => format!("{name}: estimates are {error:.0} % off (median)"),
        None => format!("{name}: no estimate"),
    };
    let mut figure = Figure::new(format!("accuracy-{}", trial.id), title)
        .caption("The line is what was available second by second; a point is the middle of an estimate, its whisker its range, at the estimation's end. One run.")
        .how_to("Points on the line are right.")
        .how_to("Crosses are the same estimates without regard to riders: these do not compete with the probes that carry them, so too much is found.")
        .x(Axis::new("time", "s"))
        .y(Axis::new("available", "Mbit/s").range(0.0, capacity))
        .series(Series::new("available", Kind::Step, trial.available(capacity)));
    if trial.summary.riding {
        let crosses = trial.points(
            |row| row.uncorrected_low_mbps,
            |row| row.uncorrected_high_mbps,
        );
        let crosses = crosses
            .into_iter()
            .map(|(at, low, high)| (at, f64::midpoint(low, high)));
        figure = figure.series(Series::new("not corrected", Kind::Crosses, crosses));
    }
    let ranges = trial.points(|row| row.low_mbps, |row| row.high_mbps);
    let middles = ranges
        .iter()
        .map(|(at, low, high)| (*at, f64::midpoint(*low, *high)));
    let series = Series::new("estimate", Kind::Points, middles);
    Some(figure.series(series.intervals(ranges.iter().map(|(_, low, high)| (*low, *high)))))
}

impl Trial<'_> {
    /// What the rate leaves beside all but probes.
    fn available(&self, capacity: f64) -> Vec<(f64, f64)> {
        let seconds = self
            .tables
            .throughput
            .chunk_by(|one, other| one.t_ns == other.t_ns);
        let of = |rows: &[ThroughputRow]| {
            let others = rows.iter().filter(|row| row.kind != "probe");
            let carried: f64 = others.map(|row| row.bytes as f64 * 8e-6).sum();
            let at = rows.first().map_or(0.0, |row| row.t_ns as f64 / SECOND_NS);
            (at, (capacity - carried).max(0.0))
        };
        seconds.map(of).take(self.tables.source.len()).collect()
    }

    fn points(
        &self,
        low: impl Fn(&EstimateRow) -> Option<f64>,
        high: impl Fn(&EstimateRow) -> Option<f64>,
    ) -> Vec<(f64, f64, f64)> {
        let rows = self.tables.estimates.iter().filter(|row| row.conclusive);
        rows.filter_map(|row| Some((row.end_ns as f64 / SECOND_NS, low(row)?, high(row)?)))
            .collect()
    }
}

/// Which part of a train loses probes, and whether with what the application gave them.
pub fn losses(id: &str, title: &str, tenths: &[Place]) -> Option<Figure> {
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
    let figure = Figure::new(id, title)
        .caption("Share of the probes of each tenth of the trains that were lost, those that carried something of the application's and those that did not.")
        .how_to("A train fills the queue that it stands in, so losses come toward its end.")
        .how_to("What carried is lost to the application as well; a smaller ratio keeps it out of the end.")
        .x(Axis::of_categories("tenth of the train", (1..=10).map(|tenth| tenth.to_string())))
        .y(Axis::new("lost", "%"))
        .series(Series::new("with padding only", Kind::Bars, share(|of| [of.empty_lost, of.carrying + of.empty])))
        .series(Series::new("with a rider", Kind::Bars, share(|of| [of.carrying_lost, of.carrying + of.empty])));
    any.then_some(figure)
}
