//! Plots of distributions: which share of the values is at most how much.

use super::catalogue::Spec;
use super::points::points;
use super::{Look, axis_label, scale, series};
use crate::import::Source;
use plots::{Axis, Mark, Panel, Shape, Side};

/// Flent rounds the ends of the axis to tens, far ones to hundreds.
const TEN: f64 = 10.0;
const HUNDRED: f64 = 100.0;

pub(super) fn panel(sources: &[&Source], spec: &Spec, look: Look) -> Option<Panel> {
    let series = series(sources, spec);
    let mut marks = Vec::new();
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for one in &series {
        let points = points(one.source, one.name, spec.only_loaded, one.pick.smoothing);
        let mut values: Vec<f64> = points
            .iter()
            .map(|p| p.1)
            .filter(|v| v.is_finite())
            .collect();
        values.sort_unstable_by(f64::total_cmp);
        let (Some(low), Some(high)) = (values.first(), values.last()) else {
            continue;
        };
        (least, most) = (least.min(*low), most.max(*high));
        marks.push(Mark {
            shape: Shape::Line(shares(&values)),
            stroke: one.stroke.clone(),
            side: Side::Left,
            label: Some(one.legend(sources.len())),
        });
    }
    if marks.is_empty() {
        return None;
    }
    let label = axis_label(spec, &series, Side::Left);
    Some(Panel {
        x: Axis::numbers(label, ends(least, most, look.from_zero)),
        left: Axis::numbers("Cumulative probability", (0.0, 1.0)),
        right: None,
        marks,
        legend_title: spec.legend_title.to_owned(),
        groups: Vec::new(),
    })
}

/// Each value with the share of values that are at most as large.
fn shares(sorted: &[f64]) -> Vec<(f64, f64)> {
    let count = sorted.len() as f64;
    let share = |(at, value): (usize, &f64)| (*value, (at + 1) as f64 / count);
    sorted.iter().enumerate().map(share).collect()
}

fn ends(least: f64, most: f64, from_zero: bool) -> (f64, f64) {
    let (mut left, mut right) = scale::with_margins(least, most);
    if most > TEN {
        right = right.max(most + TEN - most % TEN);
    }
    if from_zero {
        left = 0.0;
    } else if least > HUNDRED {
        left = left.min(least - least % HUNDRED);
    } else if least > TEN {
        left = left.min(least - least % TEN);
    }
    (left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_its_share() {
        assert_eq!(
            shares(&[1.0, 1.0, 4.0, 9.0]),
            [(1.0, 0.25), (1.0, 0.5), (4.0, 0.75), (9.0, 1.0)]
        );
    }

    #[test]
    fn the_axis_ends_at_tens_and_hundreds() {
        assert_eq!(ends(24.0, 287.0, false), (10.85, 300.15));
        assert_eq!(ends(247.0, 281.0, false), (200.0, 290.0));
        assert!(ends(24.0, 287.0, true).0.abs() < 1e-9);
    }
}
