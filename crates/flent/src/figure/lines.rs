//! Plots over time.

use super::catalogue::Spec;
use super::points::points;
use super::{Look, axis_label, scale, series};
use crate::import::Source;
use plots::{Axis, Mark, Panel, Shape, Side};

pub(super) fn panel(sources: &[&Source], spec: &Spec, look: Look) -> Option<Panel> {
    let series = series(sources, spec);
    let mut marks = Vec::new();
    for one in &series {
        let line = points(one.source, one.name, spec.only_loaded, one.pick.smoothing);
        if line.iter().any(|(_, value)| value.is_finite()) {
            marks.push(Mark {
                shape: Shape::Line(line),
                stroke: one.stroke.clone(),
                side: one.pick.side,
                label: Some(one.legend(sources.len())),
            });
        }
    }
    let times = values(&marks, None).map(|(t, _)| t);
    let first = times.clone().fold(f64::INFINITY, f64::min);
    let last = times.fold(f64::NEG_INFINITY, f64::max);
    if first > last {
        return None;
    }
    let total = sources
        .iter()
        .map(|source| source.times.total)
        .fold(0.0, f64::max);
    let axis = |side: Side| {
        let values = values(&marks, Some(side)).map(|(_, value)| value);
        let bounds = scale::bounds(values, spec.scaling, look.from_zero);
        Axis::numbers(axis_label(spec, &series, side), bounds)
    };
    let has_right = marks.iter().any(|mark| mark.side == Side::Right);
    Some(Panel {
        x: Axis::numbers("Time (s)", scale::time(first, last, total)),
        left: axis(Side::Left),
        right: has_right.then(|| axis(Side::Right)),
        legend_title: spec.legend_title.to_owned(),
        groups: Vec::new(),
        marks,
    })
}

/// The points of lines on one axis of y, or on both.
fn values(marks: &[Mark], side: Option<Side>) -> impl Iterator<Item = (f64, f64)> + Clone {
    let of_side = marks
        .iter()
        .filter(move |mark| side.is_none_or(|side| mark.side == side));
    of_side.flat_map(|mark| match &mark.shape {
        Shape::Line(points) => points.iter().copied(),
        Shape::Box { .. } => [].iter().copied(),
    })
}

/// Panels above each other show the same time; only the last says that it is one.
pub(super) fn share_time(panels: &mut [Panel]) {
    let ends = panels.iter().map(|panel| panel.x.bounds);
    let (first, last) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |all, one| {
        (all.0.min(one.0), all.1.max(one.1))
    });
    let count = panels.len();
    for (index, panel) in panels.iter_mut().enumerate() {
        panel.x.bounds = (first, last);
        if index + 1 < count {
            panel.x.label.clear();
        }
    }
}
