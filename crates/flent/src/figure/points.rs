//! The points of a series: raw values where the file has some, else those of the time line.

use crate::import::{Source, Values};

/// Moments (seconds) and values in their order; no value is a gap, NaN.
pub(super) fn points(
    source: &Source,
    name: &str,
    only_loaded: bool,
    smoothing: usize,
) -> Vec<(f64, f64)> {
    let values = Values::of(source, name);
    let mut points = if values.are_raw {
        values.timed
    } else {
        steps(source, name)
    };
    if let Some([start, end]) = source.times.load.filter(|_| only_loaded) {
        points.retain(|(t, _)| (start..=end).contains(t));
    }
    if smoothing > 0 {
        smoothed(&points, smoothing)
    } else {
        points
    }
}

fn steps(source: &Source, name: &str) -> Vec<(f64, f64)> {
    let values = source.file.results.get(name).into_iter().flatten();
    let steps = source.file.x_values.iter().zip(values);
    steps
        .map(|(t, value)| (*t, value.unwrap_or(f64::NAN)))
        .collect()
}

/// The mean of the values around each, `window` of them and an odd number; gaps stay.
fn smoothed(points: &[(f64, f64)], window: usize) -> Vec<(f64, f64)> {
    let half = window / 2;
    let mean = |(at, &(t, value)): (usize, &(f64, f64))| {
        if value.is_nan() {
            return (t, value);
        }
        let around = &points[at.saturating_sub(half)..(at + half + 1).min(points.len())];
        let known = around.iter().map(|(_, v)| *v).filter(|v| !v.is_nan());
        (t, known.clone().sum::<f64>() / known.count() as f64)
    };
    points.iter().enumerate().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_takes_the_mean_of_what_is_there() {
        let values = [1.0, 2.0, 6.0, f64::NAN, 4.0];
        let points: Vec<(f64, f64)> = values.iter().map(|v| (0.5, *v)).collect();
        let smooth: Vec<f64> = smoothed(&points, 3).into_iter().map(|(_, v)| v).collect();
        assert_eq!(smooth[..3], [1.5, 3.0, 4.0]);
        assert!(smooth[3].is_nan());
        assert!((smooth[4] - 4.0).abs() < 1e-9);
    }
}
