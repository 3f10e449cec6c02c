//! Where an axis has ticks, and what they are called.
//!
//! Ticks are a step apart that is 1, 2, 2.5 or 5 times a power of ten: the smallest of these with no more ticks than there is
//! room for. All labels of an axis have as many decimals as its step.

use crate::figure::{Axis, Ticks};

/// Multiples of a power of ten that are round.
const ROUND: [f64; 5] = [1.0, 2.0, 2.5, 5.0, 10.0];

/// The ticks of an axis with room for `most`: values and what they are called.
pub(crate) fn of(axis: &Axis, most: usize) -> Vec<(f64, String)> {
    match &axis.ticks {
        Ticks::Names(names) => names.clone(),
        Ticks::Numbers => numbers(axis.bounds, most),
    }
}

fn numbers((first, last): (f64, f64), most: usize) -> Vec<(f64, String)> {
    let (low, high) = (first.min(last), first.max(last));
    let Some(step) = step(high - low, most) else {
        return Vec::new();
    };
    let decimals = decimals(step);
    let mut ticks = Vec::new();
    let mut at = (low / step).ceil();
    while at * step <= high && ticks.len() <= most {
        // Without the sign of a negative zero.
        let value = at * step + 0.0;
        ticks.push((value, format!("{value:.decimals$}")));
        at += 1.0;
    }
    ticks
}

/// The smallest round step that cuts `span` into at most `most` pieces.
fn step(span: f64, most: usize) -> Option<f64> {
    let least = span / most.max(1) as f64;
    if !(least.is_finite() && least > 0.0) {
        return None;
    }
    let power = 10f64.powf(least.log10().floor());
    let round = ROUND.into_iter().map(|round| round * power);
    // The largest is more than any `least` of this power, but for the error of the logarithm.
    round
        .into_iter()
        .find(|step| *step >= least * (1.0 - 1e-12))
        .filter(|step| step.is_normal())
}

/// Decimals that tell multiples of `step` from each other.
fn decimals(step: f64) -> usize {
    let is_whole = |power: usize| {
        let scaled = step * 10f64.powi(i32::try_from(power).unwrap_or(0));
        (scaled - scaled.round()).abs() < 1e-6 * scaled
    };
    (0..12).find(|power| is_whole(*power)).unwrap_or(12)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(bounds: (f64, f64), most: usize) -> Vec<String> {
        let axis = Axis::numbers("", bounds);
        of(&axis, most)
            .into_iter()
            .map(|(_, label)| label)
            .collect()
    }

    #[test]
    fn ticks_are_round_and_as_many_as_fit() {
        assert_eq!(
            labels((0.0, 70.0), 8),
            ["0", "10", "20", "30", "40", "50", "60", "70"]
        );
        assert_eq!(labels((0.0, 70.0), 5), ["0", "20", "40", "60"]);
        assert_eq!(labels((4.9, 10.1), 6), ["5", "6", "7", "8", "9", "10"]);
        assert_eq!(
            labels((0.0, 1.0), 5),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(
            labels((-0.3, 0.9), 5),
            ["-0.25", "0.00", "0.25", "0.50", "0.75"]
        );
        assert_eq!(
            labels((1.0, -1.0), 4),
            ["-1.0", "-0.5", "0.0", "0.5", "1.0"]
        );
    }

    #[test]
    fn an_axis_of_no_length_or_of_no_numbers_has_no_ticks() {
        for bounds in [
            (3.0, 3.0),
            (0.0, f64::NAN),
            (0.0, f64::INFINITY),
            (0.0, 1e-310),
        ] {
            assert_eq!(labels(bounds, 5), Vec::<String>::new(), "{bounds:?}");
        }
    }
}
