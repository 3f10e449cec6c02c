//! What was found at each point.

use super::{Curves, Way, record};
use crate::experiment::Bench;
use crate::experiment::place::{Cell, PERIODIC, millis, model_mbps, per_cent};
use crate::experiment::pool::{Outcome, outcome, shown};
use crate::experiment::simulate::Simulated;
use report::experiment::{Axis, Cell as Entry, Experiment, Figure, Kind, Series, Source, Table};
use schema::btc::tables::Transfer;

/// Losses below which a point says little: the mean of so few is off by a quarter.
pub(super) const FEW: u64 = 16;

/// A transfer of the kernel's.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) cell: Cell,
    pub(super) way: Way,
    pub(super) mbps: f64,
    /// Packets that were lost.
    pub(super) lost: u64,
    record: String,
}

impl Point {
    /// What the model says for the loss that was asked for.
    pub(super) fn model(&self) -> f64 {
        model_mbps(self.cell.rtt.0, self.cell.loss)
    }

    /// Throughput as a multiple of MSS/RTT/sqrt(p), where p is the random loss: what slow start overflows the queue by at the start is
    /// one event, however many packets it is.
    pub(super) fn constant(&self) -> f64 {
        self.mbps / self.model() * PERIODIC
    }

    pub(super) const fn is_counted(&self) -> bool {
        self.lost >= FEW
    }
}

/// All points, and what could not be measured.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) points: Vec<Point>,
    pub(super) simulated: Vec<(Cell, Simulated)>,
    failed: Vec<String>,
    invalid: usize,
    missing: usize,
}

impl Kept {
    pub(super) fn look(&mut self, bench: &Bench<'_>, cell: &Cell, way: Way) {
        let name = record(cell, way);
        match outcome(bench, &name) {
            Outcome::Complete(found) => {
                let transfers = found.rows::<Transfer>().unwrap_or_default();
                let one = transfers.first();
                let point = one.and_then(|one| {
                    Some(Point {
                        cell: *cell,
                        way,
                        mbps: one.throughput_mbps?,
                        lost: one.lost,
                        record: shown(bench, &name),
                    })
                });
                match point {
                    Some(point) => self.points.push(point),
                    None => self.failed.push(format!("{name} (no throughput)")),
                }
            }
            Outcome::Failed(reason) => self.failed.push(format!("{name} ({reason})")),
            Outcome::Invalid => self.invalid += 1,
            Outcome::Missing => self.missing += 1,
        }
    }

    /// The points of one curve, by round trip.
    pub(super) fn curve(&self, way: Way, loss: f64) -> impl Iterator<Item = &Point> {
        let is_it =
            move |point: &&Point| point.way == way && point.cell.loss.total_cmp(&loss).is_eq();
        self.points.iter().filter(is_it)
    }

    fn in_virtual_time(&self, cell: &Cell) -> Option<f64> {
        let made = self.simulated.iter().find(|(of, _)| of == cell)?;
        made.1.throughput_mbps
    }
}

/// Both figures.
pub(super) fn figures(experiment: Experiment, curves: &Curves, kept: &Kept) -> Experiment {
    if kept.points.is_empty() {
        return experiment;
    }
    let free = Figure::new(
        "free",
        "Free: throughput falls with the round trip and the square root of loss",
    )
    .caption("Thesis figure 2-3. Points: the kernel's Reno over the emulated path; lines: MSS/RTT * C/sqrt(p) with C = 1.22.")
    .x(Axis::new("round trip", "ms").log())
    .y(Axis::new("throughput", "Mbit/s").log())
    .how_to("On logarithmic axes the model is a straight line. Where it is above the link's rate the link is the limit.");
    let paced = Figure::new(
        "paced",
        format!(
            "Held to {} Mbit/s: kept as far as the curve lies above it",
            curves.pace.as_mbps()
        ),
    )
    .caption("Thesis figure 3-2. Points: the kernel's Reno, paced; lines: MSS/RTT * C/sqrt(p) with C = 1.22.")
    .x(Axis::new("round trip", "ms"))
    .y(Axis::new("throughput", "Mbit/s").range(0.0, 2.0 * curves.pace.as_mbps()))
    .how_to("Follow a curve from the left: where it crosses the rate of the stream, the stream should begin to fall.");
    let figures = [(Way::Free, free), (Way::Paced, paced)];
    figures
        .into_iter()
        .fold(experiment, |experiment, (way, figure)| {
            experiment.figure(add_curves(figure, curves, kept, way))
        })
}

fn add_curves(mut figure: Figure, curves: &Curves, kept: &Kept, way: Way) -> Figure {
    let mut rtts = curves.rtts.clone();
    rtts.sort_unstable();
    for &loss in &curves.losses {
        let line = rtts
            .iter()
            .map(|rtt| (millis(*rtt), model_mbps(rtt.0, loss)));
        let top = 2.0 * curves.pace.as_mbps();
        let line: Vec<_> = line
            .filter(|(_, mbps)| way == Way::Free || *mbps <= top)
            .collect();
        let name = format!("model, {} %", per_cent(loss));
        figure = figure.series(Series::new(name, Kind::Line, line).source(Source::Paper));
    }
    for &loss in &curves.losses {
        let points = kept.curve(way, loss);
        let points: Vec<_> = points
            .map(|point| (millis(point.cell.rtt), point.mbps))
            .collect();
        let name = format!("kernel, {} %", per_cent(loss));
        figure = figure.series(Series::new(name, Kind::Points, points).source(Source::Ours));
    }
    figure
}

/// Every point.
pub(super) fn table(experiment: Experiment, curves: &Curves, kept: &Kept) -> Experiment {
    if kept.points.is_empty() {
        return experiment;
    }
    let mut table = Table::new("Every round trip and loss")
        .column("random loss", "%")
        .column("round trip", "ms")
        .column_of("model, C = 1.22", "Mbit/s", Source::Paper)
        .column_of("free", "Mbit/s", Source::Ours)
        .column_of("C", "", Source::Ours)
        .column_of("free, our Reno in virtual time", "Mbit/s", Source::Ours)
        .column("lost", "packets")
        .column_of("paced", "Mbit/s", Source::Ours)
        .column("lost", "packets")
        .column("few losses", "")
        .column("records", "");
    for &loss in &curves.losses {
        let paced: Vec<&Point> = kept.curve(Way::Paced, loss).collect();
        for free in kept.curve(Way::Free, loss) {
            let same = paced.iter().find(|point| point.cell == free.cell);
            table = table.row([
                Entry::from(per_cent(loss)),
                millis(free.cell.rtt).into(),
                free.model().into(),
                free.mbps.into(),
                Entry::from(free.constant()),
                kept.in_virtual_time(&free.cell).into(),
                Entry::from(free.lost as f64),
                same.map(|point| point.mbps).into(),
                same.map(|point| point.lost as f64).into(),
                (!free.is_counted() || same.is_some_and(|point| !point.is_counted())).into(),
                free.record.clone().into(),
            ]);
        }
    }
    experiment.table(table)
}

/// What a reader should know.
pub(super) fn notes(mut experiment: Experiment, curves: &Curves, kept: &Kept) -> Experiment {
    let few = kept
        .points
        .iter()
        .filter(|point| !point.is_counted())
        .count();
    experiment = experiment
        .note(format!(
            "A transfer lasts until about {} packets are lost, {} to {} s, slow start included. Points with fewer than {FEW} losses are drawn and not counted: {few}.",
            curves.events,
            curves.shortest.0.as_secs(),
            curves.longest.0.as_secs()
        ))
        .note(
            "Until the first losses slow start holds a window far above the model's: about ten losses' worth of packets go faster, so C of transfers with few losses is too high.",
        )
        .note(
            "A paced stream falls before its curve does. The thesis takes a growing queue for the reason; here the queue is empty, and the reason is \
             that TCP's window grows only while it is used up: a stream that is held to a rate has no larger one to halve when a packet is lost.",
        )
        .note(
            "The rate of a paced stream is that of the data in its segments, which is what the kernel paces by; the link's queue holds rate x round trip, and acknowledgements are not lost.",
        );
    if kept.invalid > 0 {
        experiment = experiment.note(format!(
            "{} measurements are left out: this machine was too busy for them.",
            kept.invalid
        ));
    }
    if kept.missing > 0 {
        experiment = experiment.note(format!("{} points have not been measured.", kept.missing));
    }
    for failed in &kept.failed {
        experiment = experiment.note(format!("Not measured: {failed}."));
    }
    experiment
}
