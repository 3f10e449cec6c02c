//! Local modes of a distribution, and what is left of samples without their extremes.

use super::Capacity;

/// A bin with fewer than this share of all samples is noise (the tool: 15 of 1,000).
const NOISE: f64 = 0.015;
/// A bin with that share of all samples more than the one before is another mode's (the tool: 5 of 1,000).
const RISE: f64 = 0.005;
/// Of the interquartile range, a bin's width; and of the median, the least one (the tool takes an eighth of what lies between
/// the tenth and the ninetieth percentile).
const WIDTH: f64 = 0.1;
const LEAST_WIDTH: f64 = 0.01;

/// A rate that pairs told often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The lowest rate in its bin, in bit/s.
    pub low_bps: f64,
    /// The highest one.
    pub high_bps: f64,
    /// Share of all pairs that is in its bin.
    pub strength: f64,
    /// That, times the kurtosis of its bell (the tool's measure of narrowness), times the number of pairs in it.
    pub merit: f64,
}

impl Mode {
    pub(super) fn middle_bps(&self) -> f64 {
        f64::midpoint(self.low_bps, self.high_bps)
    }

    pub(super) const fn capacity(&self) -> Capacity {
        Capacity {
            value_bps: f64::midpoint(self.low_bps, self.high_bps),
            low_bps: self.low_bps,
            high_bps: self.high_bps,
        }
    }
}

/// Samples in ascending order, and the width of a bin, whose place is free.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    sorted: Vec<f64>,
    width: f64,
}

impl Histogram {
    pub(super) fn new(mut samples: Vec<f64>, width: f64) -> Self {
        samples.sort_unstable_by(f64::total_cmp);
        Self {
            sorted: samples,
            width,
        }
    }

    /// How wide its bins are to be.
    pub(super) fn width(mut samples: Vec<f64>) -> f64 {
        samples.sort_unstable_by(f64::total_cmp);
        let quantile = |q| stats::quantile(&samples, q).unwrap_or(0.0);
        let range = quantile(0.75) - quantile(0.25);
        (WIDTH * range).max(LEAST_WIDTH * quantile(0.5))
    }

    /// The local modes, the strongest first. Bins are where most samples are; each mode takes its bell away, and the next is
    /// sought on both sides of it.
    pub(super) fn modes(&self) -> Vec<Mode> {
        let mut modes = Vec::new();
        let mut parts = vec![self.sorted.as_slice()];
        while let Some(part) = parts.pop() {
            let bin = self.fullest(part);
            let count = bin[1] - bin[0];
            if (count as f64) < self.share(NOISE).max(2.0) {
                continue;
            }
            let bell = self.bell(part, bin);
            modes.extend(self.mode(part, bin, bell));
            parts.extend(part.get(..bell[0]));
            parts.extend(part.get(bell[1]..));
        }
        modes.sort_by(|one, other| other.strength.total_cmp(&one.strength));
        modes
    }

    fn share(&self, share: f64) -> f64 {
        share * self.sorted.len() as f64
    }

    /// The bin of most samples: from the first of them to after the last.
    fn fullest(&self, part: &[f64]) -> [usize; 2] {
        let (mut best, mut to) = ([0, 0], 0);
        for (from, low) in part.iter().enumerate() {
            let more = part.get(to..).unwrap_or_default();
            to += more.partition_point(|rate| *rate <= low + self.width);
            if to - from > best[1] - best[0] {
                best = [from, to];
            }
        }
        best
    }

    /// The bin and its neighbours as long as there are fewer and fewer samples in them.
    fn bell(&self, part: &[f64], [mut from, mut to]: [usize; 2]) -> [usize; 2] {
        let mut before = to - from;
        while let Some(low) = from.checked_sub(1).and_then(|last| part.get(last)) {
            let left = part.get(..from).unwrap_or_default();
            let start = left.partition_point(|rate| *rate < low - self.width);
            if !self.falls(&mut before, from - start) || self.is_apart(part, from) {
                break;
            }
            from = start;
        }
        before = to - from;
        while let Some(high) = part.get(to) {
            let right = part.get(to..).unwrap_or_default();
            let count = right.partition_point(|rate| *rate <= high + self.width);
            if !self.falls(&mut before, count) || self.is_apart(part, to) {
                break;
            }
            to += count;
        }
        [from, to]
    }

    /// Whether an empty bin lies before this sample.
    fn is_apart(&self, part: &[f64], at: usize) -> bool {
        let pair = at
            .checked_sub(1)
            .and_then(|last| part.get(last))
            .zip(part.get(at));
        pair.is_some_and(|(one, next)| next - one > self.width)
    }

    /// Whether a bin with `count` samples belongs to the same bell as the one before it.
    fn falls(&self, before: &mut usize, count: usize) -> bool {
        let most = *before as f64 + self.share(RISE);
        *before = count;
        count as f64 <= most
    }

    fn mode(&self, part: &[f64], bin: [usize; 2], bell: [usize; 2]) -> Option<Mode> {
        let count = (bin[1] - bin[0]) as f64;
        let bell = part.get(bell[0]..bell[1])?;
        let strength = count / self.sorted.len().max(1) as f64;
        Some(Mode {
            low_bps: *part.get(bin[0])?,
            high_bps: *part.get(bin[1].checked_sub(1)?)?,
            strength,
            merit: kurtosis(bell) * bell.len() as f64 * strength,
        })
    }
}

/// The fourth central moment over the square of the second: large for a narrow peak with a wide foot. 1, the least that
/// there is, when all samples are the same.
fn kurtosis(samples: &[f64]) -> f64 {
    let count = samples.len().max(1) as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let moment = |power| {
        let powers = samples.iter().map(|rate| (rate / mean - 1.0).powi(power));
        powers.sum::<f64>() / count
    };
    let kurtosis: f64 = moment(4) / moment(2).powi(2);
    if kurtosis.is_finite() {
        kurtosis.max(1.0)
    } else {
        1.0
    }
}

/// Mean and standard deviation of samples without the five smallest and the five largest, if there are more than thirty
/// (the tool); none without samples.
pub(super) fn trimmed(mut samples: Vec<f64>) -> Option<(f64, f64)> {
    samples.sort_unstable_by(f64::total_cmp);
    let off = if samples.len() > 30 { 5 } else { 0 };
    let kept = samples.get(off..samples.len() - off)?;
    let count = kept.len() as f64;
    if kept.is_empty() {
        return None;
    }
    let mean = kept.iter().sum::<f64>() / count;
    let squares = kept.iter().map(|rate| (rate - mean).powi(2));
    Some((mean, (squares.sum::<f64>() / (count - 1.0).max(1.0)).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_peak_with_a_wide_foot_has_more_merit_than_a_flat_mode_of_the_same_size() {
        let peak = (0..200).map(|number| 100.0 + f64::from(number) / 200.0);
        let foot = (0..40).map(|number| 92.0 + f64::from(number) / 5.0);
        let flat = (0..200).map(|number| 30.0 + f64::from(number) / 100.0);
        let rare = [300.0; 5];
        let samples: Vec<f64> = peak.chain(foot).chain(flat).chain(rare).collect();
        let modes = Histogram::new(samples, 2.0).modes();
        assert_eq!(modes.len(), 2, "{modes:?}");
        let peak = modes.iter().find(|mode| mode.low_bps > 90.0).unwrap();
        let flat = modes.iter().find(|mode| mode.low_bps < 90.0).unwrap();
        assert!(peak.merit > 2.0 * flat.merit, "{modes:?}");
        assert!((flat.strength - 200.0 / 445.0).abs() < 1e-9);
    }

    #[test]
    fn kurtosis_has_its_closed_forms() {
        let even: Vec<f64> = (1..=1_001).map(f64::from).collect();
        assert!(
            (kurtosis(&even) - 1.8).abs() < 1e-3,
            "a uniform distribution"
        );
        assert!((kurtosis(&[1.0, 3.0, 3.0, 1.0]) - 1.0).abs() < 1e-9);
        assert!((kurtosis(&[7.0; 5]) - 1.0).abs() < 1e-9);
        assert!((kurtosis(&[]) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn two_modes_are_told_apart_by_the_dip_between_them() {
        let peak = |at: f64| {
            (-20..=20).flat_map(move |step: i32| {
                let count = usize::try_from(21 - step.abs()).unwrap();
                vec![at + f64::from(step) / 4.0; count]
            })
        };
        let samples: Vec<f64> = peak(50.0).chain(peak(58.0)).collect();
        let middles: Vec<f64> = Histogram::new(samples, 1.0)
            .modes()
            .iter()
            .map(Mode::middle_bps)
            .collect();
        assert!(
            middles.iter().any(|at| (at - 50.0).abs() < 1.0),
            "{middles:?}"
        );
        assert!(
            middles.iter().any(|at| (at - 58.0).abs() < 1.0),
            "{middles:?}"
        );
    }

    #[test]
    fn extremes_are_left_out_of_many_samples() {
        let mut samples = vec![5.0; 31];
        samples[0] = 1e9;
        assert_eq!(trimmed(samples), Some((5.0, 0.0)));
        assert_eq!(trimmed(vec![]), None);
        assert_eq!(trimmed(vec![4.0]), Some((4.0, 0.0)));
    }

    proptest! {
        #[test]
        fn modes_are_found_in_whatever_there_is(
            samples in prop::collection::vec(0_u32..1_000, 0..300),
            width in 0.0_f64..500.0,
        ) {
            let samples: Vec<f64> = samples.into_iter().map(f64::from).collect();
            let modes = Histogram::new(samples, width).modes();
            let all: f64 = modes.iter().map(|mode| mode.strength).sum();
            prop_assert!(all <= 1.000_001);
            for mode in modes {
                prop_assert!(mode.high_bps - mode.low_bps <= width);
                prop_assert!(mode.merit.is_finite() && mode.merit >= mode.strength);
            }
        }
    }
}
