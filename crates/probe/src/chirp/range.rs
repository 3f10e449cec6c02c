//! The rates of a chirp, and when others are tried.

use super::Options;
use crate::train::{Probe, Train};
use std::time::Duration;

/// No chirp begins with a lower rate. In bit/s.
const LEAST: f64 = 50e3;
/// An estimate below the lowest rate times the first, or above the highest times the second, is near an edge; that many in a
/// row move the range (the tool).
const EDGES: [f64; 2] = [1.5, 0.66];
const NEAR_EDGE: u32 = 3;
/// From the edge at which it was, the range goes on by this factor both ways; by the second where the edge is a rate of no
/// more than 1 Mbit/s (the tool).
const FACTORS: [f64; 2] = [7.0, 4.0];
/// The average rate lies between these shares of the lowest rate (the tool, whose least and greatest average it leaves to
/// the host).
const AVERAGE: [f64; 2] = [1.0 / 30.0, 1.0 / 5.0];
/// No chirp has more gaps.
const MOST_GAPS: usize = 500;

/// Rates are in bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    low: f64,
    high: f64,
    most: f64,
    average: f64,
    octets: u32,
    spread_factor: f64,
    /// Estimates in a row that were near the low edge, and near the high one.
    near: [u32; 2],
}

impl Range {
    pub(super) fn new(options: &Options) -> Self {
        let bits = f64::from(options.octets.max(1)) * 8.0;
        let most = (bits / options.least_gap.as_secs_f64().max(1e-9)).max(LEAST * 2.0);
        let [low, high] = options.rates.map(|rate| rate.as_bps() as f64);
        let high = high.clamp(LEAST * 2.0, most);
        Self {
            low: low.clamp(LEAST, high / 2.0),
            high,
            most,
            average: options.average.as_bps() as f64,
            octets: options.octets.max(1),
            spread_factor: finite(options.spread_factor).clamp(1.01, 4.0),
            near: [0; 2],
        }
    }

    fn bits(&self) -> f64 {
        f64::from(self.octets) * 8.0
    }

    /// A chirp from the lowest rate to the first that is not below the highest.
    pub(super) fn chirp(&self) -> Train {
        let probe = |gap| Probe {
            octets: self.octets,
            gap,
            may_carry: true,
        };
        let mut probes = vec![probe(Duration::ZERO)];
        let mut rate = self.low;
        while probes.len() <= MOST_GAPS {
            let held = rate.min(self.high);
            probes.push(probe(Duration::from_secs_f64(self.bits() / held)));
            if rate >= self.high {
                break;
            }
            rate *= self.spread_factor;
        }
        Train {
            probes,
            ..Train::default()
        }
    }

    /// From a chirp to the next.
    pub(super) fn interval(&self) -> Duration {
        let bits = self.chirp().octets() as f64 * 8.0;
        Duration::from_secs_f64(bits / self.average.max(1.0))
    }

    /// Whether an estimate is no more than the lowest rates.
    pub(super) fn is_at_low(&self, value: f64) -> bool {
        value < self.spread_factor * self.low
    }

    pub(super) fn is_lowest(&self) -> bool {
        self.low <= LEAST
    }

    /// Takes an estimate; whether the range is now another.
    pub(super) fn moves(&mut self, value: f64) -> bool {
        let is_near = [value < EDGES[0] * self.low, value > EDGES[1] * self.high];
        for (near, is_near) in self.near.iter_mut().zip(is_near) {
            *near = if is_near { *near + 1 } else { 0 };
        }
        let [low, high] = self.near.map(|near| near >= NEAR_EDGE);
        if low && !self.is_lowest() {
            self.center(self.low);
        } else if high && self.high < 0.9 * self.most {
            self.center(self.high);
        } else {
            return false;
        }
        true
    }

    /// Puts `rate` into the middle.
    fn center(&mut self, rate: f64) {
        let factor = FACTORS[usize::from(rate <= 1e6)];
        self.low = (rate / factor).max(LEAST);
        self.high = (rate * factor).min(self.most);
        let [least, most] = AVERAGE.map(|share| share * self.low);
        self.average = self.average.clamp(least, most);
        self.near = [0; 2];
    }
}

/// One when it is not a number.
fn finite(factor: f64) -> f64 {
    if factor.is_finite() { factor } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds manager/pathchirp.
    #[test]
    fn each_gap_is_shorter_by_the_factor_and_the_last_has_the_highest_rate() {
        let range = Range::new(&Options::default());
        let train = range.chirp();
        let gaps: Vec<f64> = train
            .probes
            .iter()
            .skip(1)
            .map(|probe| probe.gap.as_secs_f64())
            .collect();
        assert!((gaps[0] - 8_000.0 / 10e6).abs() < 1e-9);
        assert!((gaps.last().unwrap() - 8_000.0 / 200e6).abs() < 1e-9);
        let ratios = gaps.windows(2).map(|pair| pair[0] / pair[1]);
        assert!(
            ratios
                .take(gaps.len() - 2)
                .all(|ratio| (ratio - 1.2).abs() < 1e-3)
        );
        assert_eq!(
            gaps.len(),
            18,
            "10 Mbit/s times 1.2 to the 17th is 222 Mbit/s"
        );
    }

    #[test]
    fn the_range_moves_after_three_estimates_near_an_edge_and_no_further_than_it_can() {
        let mut range = Range::new(&Options::default());
        assert!(!range.moves(14e6) && !range.moves(14e6) && range.moves(14e6));
        assert!((range.high - 70e6).abs() < 1.0 && (range.low - 10e6 / 7.0).abs() < 1.0);
        for _ in 0..100 {
            range.moves(0.0);
        }
        assert!(range.is_lowest());
        for _ in 0..100 {
            range.moves(1e12);
        }
        assert!((range.high - 800e6).abs() < 1.0, "1,000 octets in 10 us");
    }
}
