//! What the experiments report, and what follows.

use super::marks::{Seen, bases};
use super::{LEVEL, Options};
use stats::interval::Interval;
use stats::random::SplitMix64;

/// Times that the seconds of the run are drawn anew.
const RESAMPLES: usize = 1_000;
/// Kept apart from the randomness of the slots.
const SEED: u64 = 0x0BAD_AB1E;

/// Reports of experiments, in the letters of the paper.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Experiments.
    pub m: u64,
    /// Those that begin in a congested slot: the sum of z.
    pub z: u64,
    /// Those of which the first two slots are `01`, `10` or `11`.
    pub r: u64,
    /// Those of which they are `01` or `10`: edges of an episode.
    pub s: u64,
    /// Improved experiments that report `011` or `110`.
    pub u: u64,
    /// Improved experiments that report `001` or `100`.
    pub v: u64,
    /// Those of `s` that are `01`: an episode begins.
    pub beginnings: u64,
    /// Improved experiments.
    pub improved: u64,
    /// Improved experiments that report `010` or `101`, which episodes of many slots far apart do not make.
    pub alternations: u64,
    /// Packets of probes, and those of them that were lost.
    pub packets: u64,
    /// See `packets`.
    pub packets_lost: u64,
}

impl Counts {
    /// How much `01` and `10` differ, as a share of both: 0 when as many episodes begin as end, and not above about
    /// 2 / sqrt(s) by chance. `None` without any.
    pub fn imbalance(&self) -> Option<f64> {
        let ends = self.s.saturating_sub(self.beginnings);
        (self.s > 0).then(|| self.beginnings.abs_diff(ends) as f64 / self.s as f64)
    }

    /// Share of the improved experiments that saw something that report `010` or `101`. `None` when none saw anything.
    pub fn violations(&self) -> Option<f64> {
        let all = self.alternations + self.u + self.v;
        (all > 0).then(|| self.alternations as f64 / all as f64)
    }

    /// How likely a congested slot in the middle of an episode is seen, compared with one at its edge: U / V. 1 when none is
    /// missed.
    pub fn detection(&self) -> Option<f64> {
        (self.v > 0).then(|| self.u as f64 / self.v as f64)
    }

    fn enter(&mut self, first: bool, second: bool, third: Option<bool>) {
        self.m += 1;
        self.z += u64::from(first);
        self.r += u64::from(first || second);
        self.s += u64::from(first != second);
        self.beginnings += u64::from(!first && second);
        let Some(third) = third else { return };
        self.improved += 1;
        match [first, second, third] {
            [false, true, true] | [true, true, false] => self.u += 1,
            [false, false, true] | [true, false, false] => self.v += 1,
            [false, true, false] | [true, false, true] => self.alternations += 1,
            _ => {}
        }
    }

    fn add(&mut self, other: &Self) {
        self.m += other.m;
        self.z += other.z;
        self.r += other.r;
        self.s += other.s;
        self.u += other.u;
        self.v += other.v;
        self.beginnings += other.beginnings;
        self.improved += other.improved;
        self.alternations += other.alternations;
        self.packets += other.packets;
        self.packets_lost += other.packets_lost;
    }

    fn frequency(&self) -> Option<f64> {
        (self.m > 0).then(|| self.z as f64 / self.m as f64)
    }

    /// D in slots where a congested slot counts `weight` times as much at an edge as in the middle.
    fn duration(&self, weight: Option<f64>) -> Option<f64> {
        let within = self.r.saturating_sub(self.s) as f64;
        let weight = weight?;
        (self.s > 0).then(|| 2.0 * weight * within / self.s as f64 + 1.0)
    }

    fn corrected(&self) -> Option<f64> {
        let weight = (self.u > 0).then(|| self.v as f64 / self.u as f64);
        self.duration(weight)
    }
}

/// The counts of each train.
pub(super) fn all(seen: &[Seen], full: Option<f64>, options: &Options) -> Vec<Counts> {
    let counts = seen.iter().zip(bases(seen));
    let counts = counts.map(|(seen, base)| one(seen, &seen.states(base, full, options), options));
    counts.collect()
}

fn one(seen: &Seen, states: &[bool], options: &Options) -> Counts {
    let mut counts = Counts {
        packets: seen.probes.len() as u64 * u64::from(options.packets),
        packets_lost: seen
            .probes
            .iter()
            .map(|probed| u64::from(probed.lost))
            .sum(),
        ..Counts::default()
    };
    for experiment in &seen.plan.experiments {
        let place = seen
            .plan
            .slots
            .partition_point(|&slot| slot < experiment.slot);
        let state = |offset| states.get(place + offset).copied();
        let third = state(2).filter(|_| experiment.improved);
        if let (Some(first), Some(second)) = (state(0), state(1)) {
            counts.enter(first, second, third);
        }
    }
    counts
}

pub(super) fn sum(counts: &[Counts]) -> Counts {
    let mut total = Counts::default();
    for counts in counts {
        total.add(counts);
    }
    total
}

/// The estimates with their intervals.
pub(super) struct Found {
    pub(super) frequency: Option<Interval>,
    pub(super) duration_s: Option<Interval>,
    pub(super) corrected_s: Option<Interval>,
}

impl Found {
    pub(super) fn of(counts: &[Counts], options: &Options) -> Self {
        let slot_s = options.slot.as_secs_f64();
        let total = sum(counts);
        let drawn = resamples(counts);
        let interval = |figure: &dyn Fn(&Counts) -> Option<f64>| around(&total, &drawn, figure);
        Self {
            frequency: interval(&Counts::frequency),
            duration_s: interval(&|counts| Some(counts.duration(Some(1.0))? * slot_s)),
            corrected_s: interval(&|counts| Some(counts.corrected()? * slot_s)),
        }
    }
}

/// Sums of as many trains as there are, drawn with replacement.
fn resamples(counts: &[Counts]) -> Vec<Counts> {
    let mut random = SplitMix64::new(SEED);
    let mut draw = || {
        let mut total = Counts::default();
        for _ in counts {
            if let Some(train) = counts.get(random.below(counts.len())) {
                total.add(train);
            }
        }
        total
    };
    (0..RESAMPLES).map(|_| draw()).collect()
}

/// A figure with the percentiles of what it would have been; draws in which it is undefined are left out.
fn around(
    total: &Counts,
    drawn: &[Counts],
    figure: &dyn Fn(&Counts) -> Option<f64>,
) -> Option<Interval> {
    let estimate = figure(total)?;
    let mut drawn: Vec<f64> = drawn.iter().filter_map(figure).collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - LEVEL) / 2.0;
    Some(Interval {
        estimate,
        low: stats::quantile(&drawn, tail)?.min(estimate),
        high: stats::quantile(&drawn, 1.0 - tail)?.max(estimate),
    })
}
