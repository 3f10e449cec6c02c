//! A delay that differs from packet to packet.

use super::DelayModel;
use crate::random::Dice;
use rand_distr::{Distribution as _, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;
use units::{FlowId, Instant};

/// How single delays scatter, given the two parameters `delay` and `jitter`. What falls below zero
/// counts as zero.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Evenly over `delay - jitter` to `delay + jitter`.
    #[default]
    Uniform,
    /// Normal, with mean `delay` and standard deviation `jitter`.
    Normal,
    /// `delay` is the least; on top comes a heavy tail with mean `jitter`: a Pareto distribution of
    /// shape 3 moved to begin at zero (Lomax), whose median is 0.52 `jitter` and whose 99th
    /// percentile is 7.3 `jitter`.
    Pareto,
}

impl fmt::Display for Distribution {
    /// As it is written in a topology.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uniform => "uniform",
            Self::Normal => "normal",
            Self::Pareto => "pareto",
        })
    }
}

/// The shape of the Pareto tail: the variance is finite, higher moments are not.
const SHAPE: f64 = 3.0;

/// Delays each packet independently of the others.
///
/// A packet that would overtake leaves together with the one before it, so order is kept, at the
/// price of a mean delay above the distribution's where packets are closer than their delays
/// differ; with `reorder` each packet leaves after its own delay.
#[derive(Clone, Debug)]
pub struct Jitter {
    place: Duration,
    width: Duration,
    distribution: Distribution,
    reorder: bool,
    /// The latest departure so far.
    last: Instant,
    dice: Dice,
}

impl Jitter {
    /// Jitter with the parameters that `distribution` explains.
    pub fn new(
        delay: Duration,
        jitter: Duration,
        distribution: Distribution,
        reorder: bool,
        seed: u64,
    ) -> Self {
        Self {
            place: delay,
            width: jitter,
            distribution,
            reorder,
            last: Instant::ZERO,
            dice: Dice::new(seed),
        }
    }

    fn draw(&mut self) -> Duration {
        let (delay, jitter) = (self.place.as_secs_f64(), self.width.as_secs_f64());
        let seconds = match self.distribution {
            Distribution::Uniform => delay + jitter * (2.0 * self.dice.unit() - 1.0),
            Distribution::Normal => {
                let z: f64 = StandardNormal.sample(&mut self.dice.0);
                delay + jitter * z
            }
            Distribution::Pareto => {
                let scale = jitter * (SHAPE - 1.0);
                delay + scale * ((1.0 - self.dice.unit()).powf(-1.0 / SHAPE) - 1.0)
            }
        };
        Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
    }
}

impl DelayModel for Jitter {
    fn departure(&mut self, _: FlowId, at: Instant) -> Instant {
        let own = at + self.draw();
        if self.reorder {
            return own;
        }
        self.last = self.last.max(own);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorted delays in ms of packets so far apart that order never matters.
    fn delays(distribution: Distribution) -> Vec<f64> {
        let ms = Duration::from_millis;
        let mut model = Jitter::new(ms(50), ms(10), distribution, false, 11);
        let mut delays: Vec<f64> = (0..100_000)
            .map(|i| {
                let at = Instant::from_millis(i * 60_000);
                model.departure(FlowId(0), at).since(at).as_secs_f64() * 1e3
            })
            .collect();
        delays.sort_by(f64::total_cmp);
        delays
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn uniform_jitter_fills_its_range() {
        let delays = delays(Distribution::Uniform);
        assert!((mean(&delays) - 50.0).abs() < 0.1);
        assert!(delays[0] >= 40.0 && delays[0] < 40.01);
        assert!(delays[99_999] <= 60.0 && delays[99_999] > 59.99);
    }

    #[test]
    fn normal_jitter_has_its_mean_and_deviation() {
        let delays = delays(Distribution::Normal);
        assert!((mean(&delays) - 50.0).abs() < 0.2);
        assert!((delays[15_866] - 40.0).abs() < 0.3, "one sigma below");
        assert!((delays[97_725] - 70.0).abs() < 0.6, "two sigma above");
    }

    #[test]
    fn pareto_jitter_has_its_mean_median_and_tail() {
        let delays = delays(Distribution::Pareto);
        assert!((mean(&delays) - 60.0).abs() < 0.3);
        assert!(delays[0] >= 50.0);
        // Quantiles of the Lomax distribution: 20 ms ((1 - q)^(-1/3) - 1).
        assert!((delays[50_000] - 55.198).abs() < 0.15);
        assert!((delays[99_000] - 122.83).abs() < 4.0);
    }
}
