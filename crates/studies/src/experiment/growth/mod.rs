//! The growth of the window: once for each window acknowledged, or a little for each acknowledgement?
//!
//! In congestion avoidance *cap* as first built let the window grow by one segment when an entire window had been
//! acknowledged; 4.4BSD's TCP by 1/cwnd segments for each acknowledgement that arrived. With an acknowledgement for each
//! segment both are one segment a round trip. A receiver that delays acknowledgements sends half as many, and some are lost:
//! then the second rule is slower and the first is not. The paper saw *cap* get slightly more than TCP, supposed this to be
//! the reason, and left the question open.
//!
//! Here both rules (and a current kernel's, which counts what is acknowledged) make the same transfers over the same paths in
//! virtual time, everything else as the paper's BSD ([`paper_rules`]); and in a few labs over UDP. What is compared is the
//! quotient of the throughputs of the same seed.
//!
//! Theory (M. Mathis et al. 1997): throughput is proportional to the square root of the growth a round trip. With every second
//! segment acknowledged the quotient is the square root of 2 where random loss alone limits the window, and 1 where the
//! window's own limit or the link does.

mod found;
mod lab;

use super::place::{Cell, PERIODIC, check_shares};
use super::simulate::{self, Case, Simulated};
use super::{Bench, PAPER_SEGMENTS, Scale};
use report::experiment::Experiment;
use serde::{Deserialize, Serialize};
use sim::End;
use std::time::Duration;
use transport::{DelayedAck, Growth as Rule, Options, Recovery};
use units::Span;

/// Where the simulations are kept.
const SIMULATED: &str = "sim.json";
/// No transfer in virtual time goes on for longer.
const LONGEST: Duration = Duration::from_secs(1_800);
/// How long a transfer without random loss lasts, in round trips.
const TRIPS: u32 = 1_000;
/// Packets a second of wall clock that a simulation handles, for what is expected of it.
const PACE: f64 = 400_000.0;

/// The study of the growth.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// Transfers of each kind over each path.
    seeds: usize,
    /// Losses in a long transfer.
    losses: f64,
    /// Shares of acknowledgements lost.
    ack_losses: Vec<f64>,
    /// The paths in virtual time.
    cell: Vec<Cell>,
    /// The labs in which some are made over UDP as well.
    #[serde(default)]
    lab: Option<lab::Labs>,
}

/// How long a transfer is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Length {
    /// Until there have been so many losses.
    Long,
    /// The paper's 725 segments.
    Paper,
}

/// What a transfer is one of.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
struct Condition {
    cell: Cell,
    ack_loss: f64,
    /// Segments that an acknowledgement is delayed for at most: 2, or 1 for none.
    every: u32,
    length: Length,
}

/// What came of the same transfer by the three rules.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Trio {
    condition: Condition,
    seed: u64,
    per_window: Simulated,
    per_ack: Simulated,
    bytes: Simulated,
}

/// The rules of the paper's BSD (NetBSD 1.3), but for its growth: NewReno without SACK, an initial window of 2 segments (RFC
/// 2581), slow start by acknowledgements, delayed acknowledgements of 200 ms from the first segment, time stamps, a window of
/// at most 135 segments, retransmission timeouts of 1 s and more, and none of what came later.
pub(super) fn paper_rules(growth: Rule) -> Options {
    Options {
        growth,
        initial_window: 2,
        max_window: Some(135),
        abc: Some(1),
        recovery: Recovery::NewReno,
        limited_transmit: false,
        prr: false,
        rack: false,
        undo: false,
        rto_min: Span::from_millis(1_000),
        delayed_ack: DelayedAck {
            every: 2,
            interval: Span::from_millis(200),
            quick: 0,
            compression: Span::default(),
        },
        ..Options::default()
    }
}

impl Growth {
    pub(super) fn check(&self) -> Result<(), String> {
        check_shares("ack_losses", &self.ack_losses)?;
        let labs = self.lab.iter().flat_map(|lab| &lab.cell);
        for cell in self.cell.iter().chain(labs) {
            check_shares("loss", &[cell.loss])?;
            cell.topology(0.0)
                .map_err(|error| format!("{cell}: {error}"))?;
        }
        match (self.seeds, self.losses) {
            (1..=10_000, 1.0..=1e6) => Ok(()),
            _ => Err("seeds is 1 to 10000, losses 1 to 1000000".to_owned()),
        }
    }

    fn seeds(&self, scale: Scale) -> u64 {
        scale.of(self.seeds, 3) as u64
    }

    fn conditions(&self) -> Vec<Condition> {
        let mut all = Vec::new();
        for &cell in &self.cell {
            for length in [Length::Long, Length::Paper] {
                let of = |every, ack_loss| Condition {
                    cell,
                    ack_loss,
                    every,
                    length,
                };
                all.push(of(1, 0.0));
                all.extend(self.ack_losses.iter().map(|&share| of(2, share)));
            }
        }
        all
    }

    fn end(&self, condition: &Condition) -> End {
        if condition.length == Length::Paper {
            return End::Segments(PAPER_SEGMENTS);
        }
        let trips = condition.cell.rtt.0.saturating_mul(TRIPS);
        let time = condition.cell.time_for_losses(self.losses);
        End::After(time.unwrap_or(trips).min(LONGEST))
    }

    fn case(&self, condition: &Condition, growth: Rule, seed: u64) -> Case {
        let mut options = paper_rules(growth);
        options.delayed_ack.every = condition.every;
        Case {
            cell: condition.cell,
            ack_loss: condition.ack_loss,
            options,
            end: self.end(condition),
            seed,
        }
    }

    pub(super) fn expected(&self, scale: Scale, jobs: usize) -> Duration {
        let packets = self
            .conditions()
            .into_iter()
            .map(|condition| match self.end(&condition) {
                End::Segments(segments) => f64::from(segments),
                End::After(time) => {
                    condition.cell.expected_mbps() * 1e6 / 12_000.0 * time.as_secs_f64()
                }
            });
        let transfers = 3.0 * self.seeds(scale) as f64;
        let time =
            Duration::from_secs_f64(packets.sum::<f64>() * transfers / PACE / jobs.max(1) as f64);
        time + self
            .lab
            .as_ref()
            .map_or(Duration::ZERO, |lab| lab.expected(scale, jobs))
    }
}

/// Runs what has not been run.
pub(super) fn run(growth: &Growth, bench: &Bench<'_>) -> anyhow::Result<()> {
    if bench.read(SIMULATED).is_none() {
        simulate(growth, bench)?;
    }
    match &growth.lab {
        Some(lab) if !bench.is_interrupted() => lab.run(bench),
        _ => Ok(()),
    }
}

fn simulate(growth: &Growth, bench: &Bench<'_>) -> anyhow::Result<()> {
    let conditions = growth.conditions();
    let seeds = |condition| (0..growth.seeds(bench.scale)).map(move |seed| (condition, seed));
    let trios: Vec<_> = conditions.iter().flat_map(seeds).collect();
    let rules = [Rule::PerWindow, Rule::PerAck, Rule::Bytes];
    let seed_of = |seed: u64| bench.seed.wrapping_mul(10_000).wrapping_add(seed);
    let of = |(condition, seed): &(&Condition, u64)| {
        rules.map(|rule| growth.case(condition, rule, seed_of(*seed)))
    };
    let cases: Vec<Case> = trios.iter().flat_map(of).collect();
    let results = simulate::all(bench, &cases);
    if bench.is_interrupted() {
        return Ok(());
    }
    let made = trios.iter().zip(results.chunks(rules.len()));
    let trio = |((condition, seed), results): (&(&Condition, u64), &[Option<Simulated>])| {
        let [per_window, per_ack, bytes] = *results else {
            return None;
        };
        Some(Trio {
            condition: **condition,
            seed: *seed,
            per_window: per_window?,
            per_ack: per_ack?,
            bytes: bytes?,
        })
    };
    let made: Vec<Trio> = made.filter_map(trio).collect();
    bench.write(SIMULATED, &serde_json::to_string(&made)?)?;
    Ok(())
}

/// What the study shows.
pub(super) fn conclude(
    growth: &Growth,
    bench: &Bench<'_>,
    experiment: Experiment,
) -> anyhow::Result<Experiment> {
    let text = bench.read(SIMULATED).unwrap_or_else(|| "[]".to_owned());
    let trios: Vec<Trio> = serde_json::from_str(&text)?;
    let mut experiment = found::add(experiment, &trios);
    if let Some(lab) = &growth.lab {
        experiment = lab.add(bench, experiment);
    }
    Ok(experiment
        .note(format!(
            "{} transfers of each kind over each of {} paths in virtual time (scale {}).",
            growth.seeds(bench.scale),
            growth.cell.len(),
            bench.scale.get()
        ))
        .note(
            "All rules but the growth are those of the paper's BSD: NewReno without SACK, an initial window of 2 segments, at most \
             135, acknowledgements delayed by 200 ms, time stamps, timeouts of at least 1 s. The paper does not say what its \
             initial windows were.",
        )
        .note(format!(
            "By theory the quotient is {:.2} where random loss alone limits the window and every second segment is acknowledged, \
             and 1 where the link or the largest window does.",
            std::f64::consts::SQRT_2
        )))
}

/// Mathis's constant when every so many segments are acknowledged and the window grows per acknowledgement.
fn constant(every: u32) -> f64 {
    PERIODIC / f64::from(every).sqrt()
}
