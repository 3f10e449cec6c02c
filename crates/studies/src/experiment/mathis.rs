//! Throughput against round trip and random loss: does it follow MSS/RTT * C/sqrt(p)?
//!
//! M. Mathis, J. Semke, J. Mahdavi and T. Ott, *The macroscopic behavior of the TCP congestion avoidance algorithm* (Computer
//! Communication Review 27(3), 1997): a window that grows by a segment a round trip and is halved at each loss follows a saw
//! tooth whose mean depends on the loss alone. With a loss at the end of each tooth C is the square root of 3/2, 1.22; with
//! random losses, some of which come early and some late, it is 1.31 (its table 1). Timeouts, which the model does not
//! know, make it an upper bound when windows are small.

use super::place::{Cell, PERIODIC, check_shares, millis, model_mbps, per_cent};
use super::simulate::{self, Case as Transfer, Simulated};
use super::{Bench, Scale};
use report::experiment::{
    Axis, Case, Cell as Entry, Experiment, Figure, Kind, Series, Source, Table,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sim::End;
use stats::Distribution;
use std::time::Duration;
use transport::Options;
use units::{Rate, Span};

/// Where the simulations are kept.
const SIMULATED: &str = "sim.json";
/// The constant for random loss.
const RANDOM: f64 = 1.31;
/// How far the constant found may be from that for random loss, in per cent.
const NEAR: f64 = 15.0;
/// Packets a second of wall clock that a simulation handles, for what is expected of it.
const PACE: f64 = 400_000.0;

/// The study of the square root of loss.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Mathis {
    /// Rate of the link, which must not be what limits.
    rate: Rate,
    /// Round trips.
    rtts: Vec<Span>,
    /// Shares of packets lost at random.
    losses: Vec<f64>,
    /// Transfers of each kind.
    seeds: usize,
    /// Losses in a transfer.
    events: f64,
}

/// What came of one transfer.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Point {
    cell: Cell,
    simulated: Simulated,
}

impl Point {
    /// Throughput as a multiple of MSS/RTT/sqrt(p), p as it was met.
    fn constant(&self) -> Option<f64> {
        let loss = self.simulated.loss_pct? / 100.0;
        let model = model_mbps(self.cell.rtt.0, loss) / PERIODIC;
        (loss > 0.0).then_some(self.simulated.throughput_mbps? / model)
    }
}

impl Mathis {
    pub(super) fn check(&self) -> Result<(), String> {
        check_shares("losses", &self.losses)?;
        let is_empty = self.losses.is_empty() || self.rtts.is_empty();
        if is_empty || self.losses.iter().any(|loss| *loss <= 0.0) {
            return Err(
                "losses are shares above 0; one of rtts and losses is at least there".to_owned(),
            );
        }
        match (self.seeds, self.events) {
            (1..=10_000, 1.0..=1e6) => Ok(()),
            _ => Err("seeds is 1 to 10000, events 1 to 1000000".to_owned()),
        }
    }

    fn seeds(&self, scale: Scale) -> u64 {
        scale.of(self.seeds, 1) as u64
    }

    fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        let of = move |loss| {
            self.rtts.iter().map(move |&rtt| Cell {
                rate: self.rate,
                rtt,
                loss,
                queue: 1.0,
            })
        };
        self.losses.iter().flat_map(move |&loss| of(loss))
    }

    pub(super) fn expected(&self, scale: Scale, jobs: usize) -> Duration {
        let packets: f64 = self.cells().map(|cell| self.events / cell.loss).sum();
        let all = packets * self.seeds(scale) as f64;
        Duration::from_secs_f64(all / PACE / jobs.max(1) as f64)
    }

    /// It begins with the window of the model: slow start, which the model does not know, would end far above it.
    fn transfer(&self, cell: Cell, seed: u64) -> Transfer {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a window of some segments"
        )]
        let window = (PERIODIC / cell.loss.sqrt()).max(2.0) as u32;
        Transfer {
            cell,
            ack_loss: 0.0,
            options: Options {
                initial_ssthresh: Some(window),
                ..Options::default()
            },
            end: End::After(cell.time_for_losses(self.events).unwrap_or_default()),
            seed,
        }
    }
}

/// Runs what has not been run.
pub(super) fn run(mathis: &Mathis, bench: &Bench<'_>) -> anyhow::Result<()> {
    if bench.read(SIMULATED).is_some() {
        return Ok(());
    }
    let first = bench.seed.wrapping_mul(10_000);
    let seeds = |cell| (0..mathis.seeds(bench.scale)).map(move |seed| (cell, seed));
    let transfers: Vec<Transfer> = mathis
        .cells()
        .flat_map(seeds)
        .map(|(cell, seed)| mathis.transfer(cell, first.wrapping_add(seed)))
        .collect();
    let results = simulate::all(bench, &transfers);
    if bench.is_interrupted() {
        return Ok(());
    }
    let made = transfers.iter().zip(results);
    let point = |(transfer, simulated): (&Transfer, Option<Simulated>)| {
        Some(Point {
            cell: transfer.cell,
            simulated: simulated?,
        })
    };
    let points: Vec<Point> = made.filter_map(point).collect();
    bench.write(SIMULATED, &serde_json::to_string(&points)?)?;
    Ok(())
}

/// What the study shows.
pub(super) fn conclude(
    mathis: &Mathis,
    bench: &Bench<'_>,
    experiment: Experiment,
) -> anyhow::Result<Experiment> {
    let text = bench.read(SIMULATED).unwrap_or_else(|| "[]".to_owned());
    let points: Vec<Point> = serde_json::from_str(&text)?;
    let of = |loss: f64| -> Vec<&Point> {
        let here = |point: &&Point| point.cell.loss.total_cmp(&loss).is_eq();
        points.iter().filter(here).collect()
    };
    let mut experiment = experiment.summary(answer(&points));
    for &loss in &mathis.losses {
        experiment = experiment.case(case(loss, &of(loss)));
    }
    if !points.is_empty() {
        experiment = experiment.figure(figure(mathis, &of)).table(table(&points));
    }
    Ok(experiment
        .note(format!(
            "{} transfers for each round trip and loss, each until about {} packets were lost; rules: this program's own, as a \
             current kernel's Reno with SACK, but slow start ends at the model's window.",
            mathis.seeds(bench.scale),
            mathis.events
        ))
        .note(
            "The growth counts what is acknowledged, not acknowledgements, so delayed ones do not slow it, and C is not divided by \
             the square root of 2.",
        ))
}

fn answer(points: &[Point]) -> String {
    match Distribution::of(points.iter().filter_map(Point::constant)) {
        None => "Nothing has been simulated.".to_owned(),
        Some(of) => format!(
            "Throughput is C * MSS/RTT/sqrt(p) with C = {:.2} (median; theory: {RANDOM} for random loss, {PERIODIC:.2} for \
             periodic).",
            of.p50
        ),
    }
}

fn case(loss: f64, points: &[&Point]) -> Case {
    let name = format!("C at {} % loss, all round trips", per_cent(loss));
    let expected = format!("{RANDOM} to {NEAR} % (random loss); 1.22 if it were periodic");
    let constants = points.iter().filter_map(|point| point.constant());
    let Some(of) = Distribution::of(constants) else {
        return Case::not_run(name, expected);
    };
    let found = format!(
        "{:.2} ({:.2} to {:.2}, n = {})",
        of.p50, of.min, of.max, of.n
    );
    Case::new(name, found, expected)
        .holds((of.p50 / RANDOM - 1.0).abs() * 100.0 <= NEAR)
        .figures(json!({ "constant": of }))
}

fn figure<'a>(mathis: &Mathis, of: &dyn Fn(f64) -> Vec<&'a Point>) -> Figure {
    let mut figure = Figure::new("mathis", "Throughput falls with the round trip and the square root of loss")
        .caption("Each point is a transfer in virtual time; lines: MSS/RTT * C/sqrt(p) with C = 1.31.")
        .x(Axis::new("round trip", "ms").log())
        .y(Axis::new("throughput", "Mbit/s").log())
        .how_to("On logarithmic axes the model is a straight line; a tenth of the loss lifts it by a factor of 3.2.")
        .how_to("Points below their line lost time that the model does not know: timeouts, and slow start after them.");
    let mut rtts: Vec<Span> = mathis.rtts.clone();
    rtts.sort_unstable();
    for &loss in &mathis.losses {
        let line = rtts
            .iter()
            .map(|rtt| (millis(*rtt), model_mbps(rtt.0, loss) * RANDOM / PERIODIC));
        let name = format!("model, {} %", per_cent(loss));
        figure = figure.series(Series::new(name, Kind::Line, line).source(Source::Paper));
    }
    for &loss in &mathis.losses {
        let mut points: Vec<(f64, f64)> = of(loss)
            .into_iter()
            .filter_map(|point| Some((millis(point.cell.rtt), point.simulated.throughput_mbps?)))
            .collect();
        points.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        let name = format!("found, {} %", per_cent(loss));
        figure = figure.series(Series::new(name, Kind::Points, points).source(Source::Ours));
    }
    figure
}

fn table(points: &[Point]) -> Table {
    let mut table = Table::new("Every round trip and loss: means")
        .column("random loss", "%")
        .column("round trip", "ms")
        .column_of("model, C = 1.22", "Mbit/s", Source::Paper)
        .column_of("found", "Mbit/s", Source::Ours)
        .column_of("C", "", Source::Ours);
    for group in points.chunk_by(|one, other| one.cell == other.cell) {
        let Some(cell) = group.first().map(|point| point.cell) else {
            continue;
        };
        let mean = |of: &dyn Fn(&Point) -> Option<f64>| {
            Some(Distribution::of(group.iter().filter_map(of))?.mean)
        };
        table = table.row([
            Entry::from(per_cent(cell.loss)),
            millis(cell.rtt).into(),
            model_mbps(cell.rtt.0, cell.loss).into(),
            mean(&|point| point.simulated.throughput_mbps).into(),
            mean(&Point::constant).into(),
        ]);
    }
    table
}
