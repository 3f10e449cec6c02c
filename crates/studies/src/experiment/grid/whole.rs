//! In virtual time: every cell of the product, and what theory says of a single transfer over it.
//!
//! No kernel's TCP is there to compare with, but there are closed forms for what limits alone:
//!
//! - **Random loss.** A window that a random loss halves averages C/sqrt(p) segments (Mathis et al. 1997, table 1: C is 1.31 for
//!   random losses and a segment of growth a round trip, which counting octets gives with delayed acknowledgements, too). CUBIC's averages 1.054 RTT^(3/4)/p^(3/4) where that is
//!   more (RFC 9438 section 5).
//! - **The queue.** Without random loss the window of Reno goes from half of what pipe and queue hold to all of it, a segment a round
//!   trip. While it is less than the pipe, the link idles. A queue of q pipes, W = 1 + q, keeps the link busy for the share
//!   (3/8)W^2 / ((1 - W/2) + (W^2 - 1)/2), which is 1 from q = 1 on (G. Appenzeller et al.: Sizing Router Buffers, SIGCOMM
//!   2004, has the latter).
//!
//! Transfers are long enough that slow start hardly counts.

use super::Grid;
use super::figures::PARAMETERS;
use crate::experiment::place::{Cell, PERIODIC, model_mbps};
use crate::experiment::simulate::{Case, Simulated};
use crate::experiment::{Bench, Scale};
use serde::{Deserialize, Serialize};
use sim::End;
use std::cmp::Ordering;
use std::time::Duration;
use transport::{CongestionControl, Options};
use units::Span;

/// The constant of [`model_mbps`]'s model for random loss.
const RANDOM: f64 = 1.31;
/// Octets of data in a full packet, and all of it.
const MSS: f64 = 1_448.0;
const PACKET: f64 = 1_500.0;
/// Segments of the initial window (RFC 6928).
const INITIAL_WINDOW: f64 = 10.0;
/// Packets a second of wall clock that a simulation handles, for what is expected of it.
const SIMULATED: f64 = 800_000.0;

/// How much is done in virtual time.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Whole {
    /// Transfers of each cell.
    pub(super) repeats: usize,
    /// How long each takes.
    pub(super) duration: Span,
}

impl Whole {
    pub(super) fn check(&self) -> Result<(), String> {
        let times = Duration::from_secs(1)..=Duration::from_secs(3_600);
        if !(1..=1_000).contains(&self.repeats) || !times.contains(&self.duration.0) {
            return Err("whole: repeats is 1 to 1000, duration 1s to 1h".to_owned());
        }
        Ok(())
    }

    pub(super) fn repeats(&self, scale: Scale) -> usize {
        scale.of(self.repeats, 1)
    }

    pub(super) fn expected(&self, cells: &[Cell], scale: Scale, jobs: usize) -> Duration {
        let rates = cells
            .iter()
            .map(|cell| cell.expected_mbps() * 1e6 / 8.0 / PACKET);
        let all = rates.sum::<f64>() * self.duration.0.as_secs_f64() * self.repeats(scale) as f64;
        Duration::from_secs_f64(all / SIMULATED / jobs.max(1) as f64)
    }
}

/// What a cell gave.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) cell: Cell,
    /// Mean over its transfers, in Mbit/s of data.
    pub(super) mbps: f64,
    /// Least and most of a transfer.
    pub(super) range: (f64, f64),
    /// Packets lost, in per cent.
    pub(super) loss_pct: f64,
}

impl Point {
    /// The share of what the link carries, in per cent.
    pub(super) fn share_pct(&self) -> f64 {
        self.mbps / link_mbps(&self.cell) * 100.0
    }
}

/// Data that the link of a cell carries, in Mbit/s.
pub(super) fn link_mbps(cell: &Cell) -> f64 {
    cell.rate.as_mbps() * MSS / PACKET
}

/// Segments that the pipe of a cell holds.
fn pipe(cell: &Cell) -> f64 {
    cell.rate.as_mbps() * 1e6 / 8.0 * cell.rtt.0.as_secs_f64() / PACKET
}

/// What random loss alone allows, in Mbit/s; none without.
pub(super) fn loss_mbps(cell: &Cell, control: CongestionControl) -> Option<f64> {
    let reno = model_mbps(cell.rtt.0, cell.loss) * RANDOM / PERIODIC;
    let rtt = cell.rtt.0.as_secs_f64();
    let cubic = 1.054 * (rtt / cell.loss).powf(0.75) * MSS * 8e-6 / rtt;
    (cell.loss > 0.0).then(|| match control {
        CongestionControl::Reno => reno,
        CongestionControl::Cubic => reno.max(cubic),
    })
}

/// The share of time, in per cent, for which Reno keeps the link of a cell busy without random loss.
pub(super) fn busy_pct(cell: &Cell) -> f64 {
    let window = 1.0 + cell.queue.min(1.0);
    0.375 * window * window / tooth(window) * 100.0
}

/// How long the window of Reno takes from half of `window` pipes, of 1 to 2, to all of it, as a multiple of pipe and round trip: a segment a round trip,
/// which is the longer the more lies in the queue.
fn tooth(window: f64) -> f64 {
    (1.0 - window / 2.0) + (window * window - 1.0) / 2.0
}

/// How long the window of Reno takes from half of what pipe and queue of a cell hold to all of it, for a queue of one pipe at most.
pub(super) fn period(cell: &Cell) -> Duration {
    cell.rtt
        .0
        .mul_f64(pipe(cell) * tooth(1.0 + cell.queue.min(1.0)))
}

/// How long slow start takes to fill the pipe of a cell.
pub(super) fn slow_start(cell: &Cell) -> Duration {
    let doublings = (pipe(cell) / INITIAL_WINDOW).log2().max(0.0) + 1.0;
    cell.rtt.0.mul_f64(doublings)
}

/// Runs what has not been run.
pub(super) fn run(grid: &Grid, whole: &Whole, bench: &Bench<'_>) -> anyhow::Result<()> {
    let cells = grid.cells(bench.scale);
    let mut wanted = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        if bench.read(&super::simulated_name(cell)).is_none() {
            let options = Options {
                congestion_control: grid.congestion_control,
                max_window: Some(cell.window()),
                ..Options::default()
            };
            let seeds = 0..whole.repeats(bench.scale) as u64;
            let cases = seeds.map(|seed| Case {
                cell: *cell,
                ack_loss: 0.0,
                options: options.clone(),
                end: End::After(whole.duration.0),
                seed: super::transfer_seed(bench, index, seed),
            });
            wanted.push((*cell, cases.collect()));
        }
    }
    super::make(bench, &wanted)
}

/// What was found, by the cells' parameters.
pub(super) fn points(bench: &Bench<'_>, cells: &[Cell]) -> Vec<Point> {
    let point = |cell: &Cell| {
        let text = bench.read(&super::simulated_name(cell))?;
        let made: Vec<Simulated> = serde_json::from_str(&text).ok()?;
        let of = |of: fn(&Simulated) -> Option<f64>| {
            stats::Distribution::of(made.iter().map(|one| of(one).unwrap_or_default()))
        };
        let mbps = of(|one| one.throughput_mbps)?;
        Some(Point {
            cell: *cell,
            mbps: mbps.mean,
            range: (mbps.min, mbps.max),
            loss_pct: of(|one| one.loss_pct)?.mean,
        })
    };
    let mut points: Vec<Point> = cells.iter().filter_map(point).collect();
    let key = |point: &Point| PARAMETERS.map(|(_, _, of)| of(&point.cell));
    points.sort_by(|one, other| {
        let values = key(one).into_iter().zip(key(other));
        let orders = values.map(|(one, other)| one.total_cmp(&other));
        orders.fold(Ordering::Equal, Ordering::then)
    });
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use CongestionControl::{Cubic, Reno};

    fn cell(rate: &str, rtt: &str, loss: f64, queue: f64) -> Cell {
        Cell {
            rate: rate.parse().unwrap(),
            rtt: rtt.parse().unwrap(),
            loss,
            queue,
        }
    }

    fn near(one: f64, other: f64) {
        assert!((one / other - 1.0).abs() < 1e-3, "{one} {other}");
    }

    #[test]
    fn reno_keeps_a_link_busy_by_its_queue() {
        let busy = |queue| busy_pct(&cell("10Mbit", "20ms", 0.0, queue));
        near(busy(0.25), 89.29);
        near(busy(0.5), 96.43);
        near(busy(1.0), 100.0);
        near(busy(4.0), 100.0);
    }

    #[test]
    fn a_saw_tooth_and_slow_start_take_round_trips() {
        // 120 packets in the pipe and as many in the queue: from 120 to 240 segments, at one and a half times the round trip on average.
        let cell = cell("144Mbit", "10ms", 0.0, 1.0);
        near(period(&cell).as_secs_f64(), 120.0 * 0.015);
        near(
            slow_start(&cell).as_secs_f64(),
            0.01 * (1.0 + 12_f64.log2()),
        );
    }

    #[test]
    fn cubic_gets_more_over_long_paths_with_little_loss() {
        let of = |rtt: &str, loss, control| {
            loss_mbps(&cell("100Mbit", rtt, loss, 1.0), control).unwrap()
        };
        near(of("100ms", 0.01, Reno), 1.448 * 8.0 * 1.31 / 10.0);
        near(of("100ms", 0.01, Cubic), of("100ms", 0.01, Reno));
        // RFC 9438 section 5: 1.054 x (0.1 / 0.0001)^(3/4) segments.
        near(of("100ms", 0.0001, Cubic), 187.4 * 1_448.0 * 8e-5);
        assert!(of("100ms", 0.0001, Cubic) > of("100ms", 0.0001, Reno));
        assert_eq!(loss_mbps(&cell("1Mbit", "5ms", 0.0, 1.0), Reno), None);
    }
}
