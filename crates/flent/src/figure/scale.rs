//! How long an axis is.
//!
//! Flent's rule for y: from one percentile of all values on the axis to another, and 1 % of that beyond at both ends. The
//! *scaled* plots go from the 5th to the 95th percentile, the others from the least to the most. Where both are the same the
//! axis has 5 % of room at both ends, as matplotlib gives it.

use stats::quantile;

/// From which quantile to which an axis goes.
pub(super) type Quantiles = (f64, f64);

/// All values.
pub(super) const ALL: Quantiles = (0.0, 1.0);
/// Without outliers.
pub(super) const SCALED: Quantiles = (0.05, 0.95);
/// Room beyond the quantiles, and room where there is no rule.
const SPACE: f64 = 0.01;
const MARGIN: f64 = 0.05;

/// The ends of an axis of y with those values; those that are not finite do not count.
pub(super) fn bounds(
    values: impl Iterator<Item = f64>,
    (low, high): Quantiles,
    from_zero: bool,
) -> (f64, f64) {
    let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (Some(bottom), Some(top)) = (quantile(&sorted, low), quantile(&sorted, high)) else {
        return (0.0, 1.0);
    };
    if from_zero && top > 0.0 {
        return (0.0, top * (1.0 + SPACE));
    }
    if bottom < top {
        let space = (top - bottom) * SPACE;
        return (bottom - space, top + space);
    }
    match (sorted.first(), sorted.last()) {
        (Some(least), Some(most)) => with_margins(*least, *most),
        _ => (0.0, 1.0),
    }
}

/// The ends of an axis of x that shows times from `first` to `last` of a run of `total` seconds.
pub(super) fn time(first: f64, last: f64, total: f64) -> (f64, f64) {
    let (left, right) = with_margins(first, last);
    (if left > 0.0 { left } else { first }, right.max(total))
}

/// A twentieth more at both ends; a single value gets an axis of its own size.
pub(super) fn with_margins(least: f64, most: f64) -> (f64, f64) {
    let length = most - least;
    let room = match (length > 0.0, least.abs() > 0.0) {
        (true, _) => length * MARGIN,
        (false, true) => least.abs() * MARGIN,
        (false, false) => MARGIN,
    };
    (least - room, most + room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_near((a, b): (f64, f64), (c, d): (f64, f64)) {
        assert!(
            (a - c).abs() < 1e-9 && (b - d).abs() < 1e-9,
            "{a} to {b}, not {c} to {d}"
        );
    }

    /// Beside Flent 2.1.1: `axis.get_ylim()` after its `_do_scaling` of these numbers.
    #[test]
    fn axes_are_scaled_as_flent_scales_them() {
        let values = || {
            (0..=200)
                .map(|v: i32| f64::from(v * v) / 100.0)
                .chain([f64::NAN])
        };
        assert_near(bounds(values(), SCALED, false), (-2.6, 364.6));
        assert_near(bounds(values(), ALL, false), (-4.0, 404.0));
        assert_near(bounds(values(), SCALED, true), (0.0, 364.61));
    }

    #[test]
    fn values_that_are_all_the_same_have_some_room() {
        assert_near(bounds([20.0; 9].into_iter(), SCALED, false), (19.0, 21.0));
        assert_near(bounds([0.0; 9].into_iter(), ALL, true), (-0.05, 0.05));
        assert_near(bounds([].into_iter(), ALL, false), (0.0, 1.0));
        // All quantiles are the same, but not all values.
        let spike = [vec![1.0; 99], vec![5.0]].concat();
        assert_near(bounds(spike.into_iter(), SCALED, false), (0.8, 5.2));
    }

    #[test]
    fn time_begins_with_the_data_and_ends_with_the_run() {
        assert_near(time(0.2, 69.0, 70.0), (0.2, 72.44));
        assert_near(time(20.0, 30.0, 70.0), (19.5, 70.0));
    }
}
